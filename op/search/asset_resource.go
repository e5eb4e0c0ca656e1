package search

import (
	"context"

	"vitrine/library"
	"vitrine/op"
	"vitrine/query"
)

// Resources lists this package's resources.
func (s *Service) Resources() []op.Resource {
	return []op.Resource{
		{
			URI: "vitrine://assets/{asset_h}", Name: "asset", Title: "An asset", MIMEType: "application/json", Permission: library.PermRead,
			Doc:     "One asset with its generation metadata, as GetAssetDetails returns it.",
			Example: "vitrine://assets/da39a3ee5e6b4b0d3255bfef95601890afd80709",
			Read: func(ctx context.Context, actor library.Actor, vars map[string]string) (any, error) {
				if hash := lowerHash(vars["asset_h"]); hash.Valid() {
					return s.details(ctx, actor, detailsInput{AssetHash: string(hash)})
				}
				return nil, library.NotFound("asset")
			},
		},
		{
			URI: "vitrine://query/language", Name: "query_language", Title: "The query language", MIMEType: "text/markdown", Permission: library.PermSearch,
			Doc:     "Every field, operator and rule of the query language, with examples.",
			Example: "vitrine://query/language",
			Read: func(context.Context, library.Actor, map[string]string) (any, error) {
				return query.Reference(), nil
			},
		},
	}
}
