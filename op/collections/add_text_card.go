package collections

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type addCardInput struct {
	op.TenantInput
	InCollection
	Heading     string   `json:"heading,omitempty" maxLength:"200"`
	HeadingSize string   `json:"heading_size,omitempty" enum:"xl,lg,md" default:"lg"`
	Body        string   `json:"body,omitempty" maxLength:"5000"`
	Bullets     []string `json:"bullets,omitempty" maxItems:"20"`
	AccentText  string   `json:"accent_text,omitempty" maxLength:"200"`
	Background  string   `json:"background,omitempty" enum:"dark,gradient,light" default:"dark"`
	AccentColor string   `json:"accent_color,omitempty" pattern:"^#[0-9a-fA-F]{6}$" patternDescription:"a color such as #1e90ff" doc:"Such as #1e90ff."`
	Layout      string   `json:"layout,omitempty" enum:"centered,left-aligned" default:"centered"`
	Position    *int     `json:"position,omitempty" minimum:"0" maximum:"10000000" doc:"0-based. Default: at the end."`
}

func (in *addCardInput) card() library.TextCard {
	return library.TextCard{Heading: in.Heading, HeadingSize: in.HeadingSize, Body: in.Body, Bullets: in.Bullets, AccentText: in.AccentText,
		Background: in.Background, AccentColor: in.AccentColor, Layout: in.Layout}
}

// Validate implements op.Validator.
func (in *addCardInput) Validate() []library.FieldError { return emptyCard(in.card()) }

func (s *Service) addTextCard() op.Operation {
	return op.Define(op.Meta{
		Name: "AddTextCardToCollection", Title: "Add a text card", Domain: op.Collections,
		Doc:    "Adds a text card between a collection's assets; PDF exports show it as a slide.",
		Method: "POST", Path: "/api/v1/collections/{collection_h}/cards", Permission: library.PermWrite, Status: 201, Chained: true,
		Example: map[string]any{"collection_h": exampleCollection, "heading": "Chapter one", "body": "Streets at night.", "position": 0},
	}, func(ctx context.Context, actor library.Actor, in addCardInput) (cardOutput, error) {
		done, err := s.Store.Collections.AddCard(ctx, actor, in.CollectionH, in.card(), in.Position)
		return describeCard(done), err
	})
}
