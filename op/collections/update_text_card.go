package collections

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

// InCard is embedded by inputs that name a text card of a collection.
type InCard struct {
	InCollection
	CardH string `json:"card_h" id:"text_card" minLength:"1" maxLength:"64" doc:"The text card, from GetCollectionAssets."`
}

type updateCardInput struct {
	op.TenantInput
	InCard
	Heading     *string   `json:"heading,omitempty" maxLength:"200"`
	HeadingSize *string   `json:"heading_size,omitempty" enum:"xl,lg,md"`
	Body        *string   `json:"body,omitempty" maxLength:"5000"`
	Bullets     *[]string `json:"bullets,omitempty" maxItems:"20" doc:"Replaces all."`
	AccentText  *string   `json:"accent_text,omitempty" maxLength:"200"`
	Background  *string   `json:"background,omitempty" enum:"dark,gradient,light"`
	AccentColor *string   `json:"accent_color,omitempty" pattern:"^(#[0-9a-fA-F]{6})?$" patternDescription:"a color such as #1e90ff, or empty" doc:"Such as #1e90ff; empty for none."`
	Layout      *string   `json:"layout,omitempty" enum:"centered,left-aligned"`
	Position    *int      `json:"position,omitempty" minimum:"0" maximum:"10000000" doc:"0-based. Moves the card."`
}

func (in *updateCardInput) apply(c *library.TextCard) error {
	for _, f := range []struct{ to, sent *string }{{&c.Heading, in.Heading}, {&c.HeadingSize, in.HeadingSize}, {&c.Body, in.Body}, {&c.AccentText, in.AccentText},
		{&c.Background, in.Background}, {&c.AccentColor, in.AccentColor}, {&c.Layout, in.Layout}} {
		if f.sent != nil {
			*f.to = *f.sent
		}
	}
	if in.Bullets != nil {
		c.Bullets = *in.Bullets
	}
	if errs := emptyCard(*c); len(errs) > 0 {
		return library.Invalid(errs...)
	}
	return nil
}

func (s *Service) updateTextCard() op.Operation {
	return op.Define(op.Meta{
		Name: "UpdateTextCard", Title: "Change a text card", Domain: op.Collections,
		Doc:    "Changes the fields of a text card that are sent, and its position.",
		Method: "PATCH", Path: "/api/v1/collections/{collection_h}/cards/{card_h}", Permission: library.PermWrite, Idempotent: true, RESTOnly: true, Conditional: true,
		Example: map[string]any{"collection_h": exampleCollection, "card_h": exampleCard, "heading": "Chapter two"},
	}, func(ctx context.Context, actor library.Actor, in updateCardInput) (cardOutput, error) {
		done, err := s.Store.Collections.ChangeCard(ctx, actor, in.CollectionH, in.CardH, in.Position, in.apply)
		return describeCard(done), err
	})
}
