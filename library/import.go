package library

import "time"

// ImportState is how far an import is.
type ImportState string

// The states of imports. Watching goes on until it is cancelled.
const (
	ImportQueued    ImportState = "queued"
	ImportRunning   ImportState = "running"
	ImportWatching  ImportState = "watching"
	ImportCompleted ImportState = "completed"
	ImportFailed    ImportState = "failed"
	ImportCancelled ImportState = "cancelled"
)

// Open reports whether the import goes on, or will.
func (s ImportState) Open() bool {
	return s == ImportQueued || s == ImportRunning || s == ImportWatching
}

// ImportOptions are what an import does with what it finds.
type ImportOptions struct {
	Tags          []string `json:"tags,omitempty"`
	Collection    string   `json:"collection,omitempty"`
	Restore       bool     `json:"restore,omitempty"`        // brings back what was taken out of the library
	Watch         bool     `json:"watch,omitempty"`          // goes on with what changes
	AcceptMissing bool     `json:"accept_missing,omitempty"` // marks files as missing although all of their disk are gone
	Preset        string   `json:"preset,omitempty"`         // instead of what the folder looks like
	Setting       bool     `json:"setting,omitempty"`        // a setting of the service asked for it
}

// ImportCounts is what an import has done.
type ImportCounts struct {
	Found     int   `json:"found"` // media files, those that had not changed included
	Stored    int   `json:"stored"`
	Already   int   `json:"already_stored"`
	Unchanged int   `json:"unchanged"` // known here and not changed: not read again
	Moved     int   `json:"moved"`
	Changed   int   `json:"changed"` // other bytes in the place of an original
	Missing   int   `json:"missing"` // originals that are not there any more
	Back      int   `json:"back"`    // originals that are there again
	Away      int   `json:"away"`    // not looked for, because their disk seems not to be mounted
	Absent    int   `json:"absent"`  // of assets in the trash or purged
	Paired    int   `json:"paired"`  // sidecars and first frames, which belong to another file
	Skipped   int   `json:"skipped"`
	Failed    int   `json:"failed"`
	Waiting   int   `json:"waiting"` // being written: looked at again
	Bytes     int64 `json:"bytes"`   // of the stored ones
	Read      int64 `json:"bytes_read"`
	Listed    int   `json:"listed"` // files of any kind
	Searching bool  `json:"searching"`
	// Seconds is how long the import has worked; of watching, only the first pass.
	Seconds   float64        `json:"seconds"`
	Rate      float64        `json:"files_per_second"`
	NoLineage map[string]int `json:"no_lineage,omitempty"` // why stored files tell nothing of their making
}

// Done counts the media files that were processed, whatever came of them.
func (c ImportCounts) Done() int {
	return c.Stored + c.Already + c.Unchanged + c.Moved + c.Absent + c.Failed
}

// Import is one run and its report.
type Import struct {
	Tenant     TenantID
	ID         string
	Root       string
	Folder     string // below the root; any bytes
	State      ImportState
	Options    ImportOptions
	Counts     ImportCounts
	Preset     string
	Warnings   []string
	Error      string
	ActorKind  ActorKind
	Actor      string
	CreatedAt  time.Time
	StartedAt  *time.Time
	UpdatedAt  time.Time
	FinishedAt *time.Time
	Cancel     bool
}

// ImportFile is what became of a file of an import.
type ImportFile struct {
	Path   string // below the root; any bytes
	Result string
	Reason string
	Asset  AssetHash
	At     time.Time
}
