package assets

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

// usageOutput is the content of vitrine://storage/usage.
type usageOutput struct {
	Assets     int64       `json:"assets"`
	Bytes      int64       `json:"bytes"`
	ByType     []typeUsage `json:"by_type"`
	TrashBytes int64       `json:"trash_bytes"`
	QuotaBytes *int64      `json:"quota_bytes"` // null: storage is not limited
	IndexLag   int64       `json:"index_lag"`   // changes not yet handed to the indexer
}

type typeUsage struct {
	MIMEType string `json:"mime_type"`
	Assets   int64  `json:"assets"`
	Bytes    int64  `json:"bytes"`
}

// Resources lists this package's resources.
func (s *Service) Resources() []op.Resource {
	return []op.Resource{{
		URI: "vitrine://storage/usage", Name: "storage_usage", Title: "Storage usage", MIMEType: "application/json", Permission: library.PermRead,
		Doc:     "How many assets and bytes the tenant stores, by type, the size of the trash, and how many changes are not yet sent to the search index.",
		Example: "vitrine://storage/usage",
		Read: func(ctx context.Context, actor library.Actor, _ map[string]string) (any, error) {
			u, err := s.Store.Assets.Usage(ctx, actor)
			if err != nil {
				return nil, err
			}
			limits, err := s.Store.Limits.Get(ctx, actor.Tenant)
			if err != nil {
				return nil, err
			}
			out := usageOutput{Assets: u.Assets, Bytes: u.Bytes, ByType: []typeUsage{}, TrashBytes: u.TrashBytes, IndexLag: u.OutboxRows}
			for _, t := range u.ByType {
				out.ByType = append(out.ByType, typeUsage(t))
			}
			if limits.StorageBytes != library.Unlimited {
				out.QuotaBytes = &limits.StorageBytes
			}
			return out, nil
		},
	}}
}
