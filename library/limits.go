package library

import "time"

// Limits are what one tenant may use. Unlimited lifts any of them.
type Limits struct {
	StorageBytes      int64         `json:"storage_bytes"`       // sizes of all assets, the trash included
	ExportAssets      int64         `json:"export_assets"`       // assets of one export
	EgressBytesHourly int64         `json:"egress_bytes_hourly"` // bytes of exports in an hour
	RunTime           time.Duration `json:"run_time"`            // of one pipeline run
	SearchesPerMinute int64         `json:"searches_per_minute"` // over all keys of the tenant; each key has a limit of its own
	Outreach          bool          `json:"outreach"`            // the tenant has the tools of outreach
}

// Unlimited in a field of Limits lifts that limit.
const Unlimited = -1

// DefaultLimits hold for a tenant that none were set for. Whoever runs a library for
// themselves needs no quota; what leaves it in one go is bounded all the same.
var DefaultLimits = Limits{
	StorageBytes:      Unlimited,
	ExportAssets:      1000,
	EgressBytesHourly: 50 << 30,
	RunTime:           time.Hour,
	SearchesPerMinute: Unlimited,
	Outreach:          true,
}

// MaxSearchesPerMinute is the largest rate that a tenant can be limited to.
const MaxSearchesPerMinute = 10_000
