package collections

import (
	"context"
	"time"

	"vitrine/library"
	"vitrine/op"
)

type getInput struct {
	op.TenantInput
	InCollection
}

type getOutput struct {
	Listed
	Frozen    bool      `json:"frozen" doc:"Its assets and cards cannot be changed."`
	CreatedAt time.Time `json:"created_at"`
	CreatedBy string    `json:"created_by"`
	UpdatedAt time.Time `json:"updated_at"`
}

// ResourceVersion implements op.Versioned.
func (o getOutput) ResourceVersion() int64 { return o.UpdatedAt.UnixMicro() }

func (s *Service) getCollection() op.Operation {
	return op.Define(op.Meta{
		Name: "GetCollection", Title: "Get a collection", Domain: op.Collections,
		Doc:    "Returns one collection with its counts.",
		Method: "GET", Path: "/api/v1/collections/{collection_h}", Permission: library.PermRead, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"collection_h": exampleCollection},
	}, func(ctx context.Context, actor library.Actor, in getInput) (getOutput, error) {
		e, err := s.Store.Collections.Get(ctx, actor, in.CollectionH, true)
		if err != nil {
			return getOutput{}, err
		}
		l, err := s.describeEntry(ctx, actor, e, true)
		return getOutput{Listed: l, Frozen: e.Frozen, CreatedAt: e.CreatedAt.UTC(), CreatedBy: e.CreatedBy, UpdatedAt: e.UpdatedAt.UTC()}, err
	})
}
