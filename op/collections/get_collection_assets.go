package collections

import (
	"context"
	"time"

	"vitrine/library"
	"vitrine/op"
	"vitrine/op/assets"
	"vitrine/store"
)

type itemsInput struct {
	op.TenantInput
	AtPath
	op.FormatInput
	Nested  bool   `json:"include_nested,omitempty" default:"false" doc:"With collections below it."`
	Limit   int    `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"50"`
	Offset  int    `json:"offset,omitempty" minimum:"0" maximum:"10000000" default:"0"`
	OrderBy string `json:"order_by,omitempty" enum:"position,added_at" default:"position" doc:"added_at: newest first."`
}

// Item is an asset or a text card in a collection.
type Item struct {
	Type     string             `json:"type" enum:"asset,text_card"`
	Position int                `json:"position" doc:"0-based, among assets and text cards of its collection."`
	Path     string             `json:"collection_path,omitempty" doc:"With include_nested: the collection it is in."`
	Role     library.MemberRole `json:"role,omitempty"`
	AddedAt  *time.Time         `json:"added_at,omitempty" doc:"Absent in smart collections."`
	AddedBy  string             `json:"added_by,omitempty"`
	Asset    *assets.Summary    `json:"asset,omitempty"`
	CardH    string             `json:"card_h,omitempty"`
	Card     *library.TextCard  `json:"card,omitempty"`
}

type itemsOutput struct {
	Hash        library.CollectionHash `json:"collection_h"`
	Path        string                 `json:"collection_path"`
	DisplayName string                 `json:"display_name"`
	Data        []Item                 `json:"data" doc:"Assets and text cards in one order."`
	Total       int                    `json:"total" doc:"Assets and text cards."`
}

func (s *Service) getCollectionAssets() op.Operation {
	return op.Define(op.Meta{
		Name: "GetCollectionAssets", Title: "Get a collection's assets", Domain: op.Collections,
		Doc:    "Returns the assets and text cards of a collection in order, with position, role and when they were added.",
		Method: "GET", Path: "/api/v1/collections/{collection_path}/assets", Permission: library.PermRead, ReadOnly: true, Idempotent: true,
		Example: map[string]any{"collection_path": exampleCollection, "limit": 10},
	}, s.items)
}

func (s *Service) items(ctx context.Context, actor library.Actor, in itemsInput) (itemsOutput, error) {
	c, list, total, err := s.Store.Collections.Items(ctx, actor, in.Path, store.ItemsQuery{Nested: in.Nested, ByAdded: in.OrderBy == "added_at", Limit: in.Limit, Offset: in.Offset})
	if err == nil && c.Smart() && !in.Nested {
		list, total, err = s.found(ctx, actor, c, in.Limit, in.Offset)
	}
	out := itemsOutput{Hash: c.Hash, Path: c.Path, DisplayName: c.DisplayName, Data: []Item{}, Total: total}
	if err != nil {
		return out, err
	}
	links := s.Links.For(actor).In(in.FormatInput)
	for _, i := range list {
		shown := Item{Type: "asset", Position: i.Position, Role: i.Role, AddedBy: i.AddedBy, Card: i.Card}
		if in.Nested {
			shown.Path = i.Path
		}
		if !i.AddedAt.IsZero() {
			at := i.AddedAt.UTC()
			shown.AddedAt = &at
		}
		if i.Card != nil {
			shown.Type, shown.CardH = "text_card", i.ID
		} else {
			summary := links.Summary(*i.Asset)
			shown.Asset = &summary
		}
		out.Data = append(out.Data, shown)
	}
	return out, nil
}
