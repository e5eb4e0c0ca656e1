package collections

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type getCardInput struct {
	op.TenantInput
	InCard
}

type getCardOutput struct {
	CardH    string                 `json:"card_h"`
	Hash     library.CollectionHash `json:"collection_h"`
	Position int                    `json:"position" doc:"0-based, among assets and text cards."`
	Card     library.TextCard       `json:"card"`
	version  int64
}

// ResourceVersion implements op.Versioned.
func (o getCardOutput) ResourceVersion() int64 { return o.version }

func (s *Service) getTextCard() op.Operation {
	return op.Define(op.Meta{
		Name: "GetTextCard", Title: "Get a text card", Domain: op.Collections,
		Doc:    "Returns a text card of a collection. Its ETag is for changing it with If-Match.",
		Method: "GET", Path: "/api/v1/collections/{collection_h}/cards/{card_h}", Permission: library.PermRead, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"collection_h": exampleCollection, "card_h": exampleCard},
	}, func(ctx context.Context, actor library.Actor, in getCardInput) (getCardOutput, error) {
		c, err := s.Store.Collections.Card(ctx, actor, in.CollectionH, in.CardH)
		return getCardOutput{CardH: c.ID, Hash: c.Collection.Hash, Position: c.Position, Card: c.Card, version: c.Version}, err
	})
}
