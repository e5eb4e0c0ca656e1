package collections

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type deleteCardInput struct {
	op.TenantInput
	InCard
}

func (s *Service) deleteTextCard() op.Operation {
	return op.Define(op.Meta{
		Name: "DeleteTextCard", Title: "Delete a text card", Domain: op.Collections,
		Doc:    "Removes a text card from a collection. UndoOperation restores it.",
		Method: "DELETE", Path: "/api/v1/collections/{collection_h}/cards/{card_h}", Permission: library.PermWrite, Destructive: true, RESTOnly: true, Conditional: true,
		Example: map[string]any{"collection_h": exampleCollection, "card_h": exampleCard},
	}, func(ctx context.Context, actor library.Actor, in deleteCardInput) (cardOutput, error) {
		done, err := s.Store.Collections.RemoveCard(ctx, actor, in.CollectionH, in.CardH)
		return describeCard(done), err
	})
}
