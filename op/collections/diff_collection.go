package collections

import (
	"context"

	"vitrine/library"
	"vitrine/op"
	"vitrine/op/assets"
	"vitrine/store"
)

type diffInput struct {
	op.TenantInput
	InCollection
	op.FormatInput
	Against string `json:"against,omitempty" id:"collection" maxLength:"600" doc:"Path or collection_h. Default: the collection that it is a branch of."`
	Limit   int    `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"100"`
	Offset  int    `json:"offset,omitempty" minimum:"0" maximum:"1000000" default:"0"`
}

// Difference is one way in which an item of a collection differs.
type Difference struct {
	Kind        store.DifferenceKind `json:"kind" enum:"added,removed,moved,role_changed,card_changed"`
	Type        string               `json:"type" enum:"asset,text_card"`
	ID          string               `json:"item" doc:"The asset_h, or the card_h of a text card."`
	Position    *int                 `json:"position,omitempty" doc:"0-based. Absent if it was removed."`
	OldPosition *int                 `json:"old_position,omitempty" doc:"In the other collection. Absent if it was added."`
	Role        library.MemberRole   `json:"role,omitempty"`
	OldRole     library.MemberRole   `json:"old_role,omitempty"`
	Card        *library.TextCard    `json:"card,omitempty"`
	OldCard     *library.TextCard    `json:"old_card,omitempty"`
	Since       bool                 `json:"added_since,omitempty" doc:"Of kind removed: it was added to the other collection after the branch was made, so this one never had it."`
	Asset       *assets.Summary      `json:"asset,omitempty"`
}

// DifferenceCounts counts differences by kind.
type DifferenceCounts struct {
	Added       int `json:"added"`
	Removed     int `json:"removed"`
	Moved       int `json:"moved"`
	RoleChanged int `json:"role_changed"`
	CardChanged int `json:"card_changed"`
}

func countDifferences(list []store.Difference) (c DifferenceCounts) {
	by := map[store.DifferenceKind]*int{store.ItemAdded: &c.Added, store.ItemRemoved: &c.Removed, store.ItemMoved: &c.Moved,
		store.RoleChanged: &c.RoleChanged, store.CardChanged: &c.CardChanged}
	for _, d := range list {
		*by[d.Kind]++
	}
	return c
}

type diffOutput struct {
	Collection Collection       `json:"collection"`
	Against    Collection       `json:"against"`
	Counts     DifferenceCounts `json:"counts"`
	Data       []Difference     `json:"data" doc:"In the collection's order, then what it does not have."`
	Total      int              `json:"total"`
}

func (s *Service) diffCollection() op.Operation {
	return op.Define(op.Meta{
		Name: "DiffCollection", Title: "Compare a branch with its source", Domain: op.Collections,
		Doc: "Returns how the assets and text cards of a collection differ from those of the collection it is a branch of, or of any other: added, removed, moved, with another role or text. " +
			"As few are moved as can be.",
		Method: "GET", Path: "/api/v1/collections/{collection_h}/diff", Permission: library.PermRead, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"collection_h": exampleCollection, "limit": 50},
	}, func(ctx context.Context, actor library.Actor, in diffInput) (diffOutput, error) {
		members, err := s.smartMembers(ctx, actor, in.CollectionH, in.Against)
		if err != nil {
			return diffOutput{}, err
		}
		c, err := s.Store.Collections.Compare(ctx, actor, in.CollectionH, in.Against, members)
		if err != nil {
			return diffOutput{}, err
		}
		out := diffOutput{Collection: describe(c.Collection), Against: describe(c.With), Counts: countDifferences(c.Differences), Total: len(c.Differences)}
		from := min(in.Offset, out.Total)
		out.Data, err = s.describeDifferences(ctx, actor, in.FormatInput, c.Differences[from:min(from+in.Limit, out.Total)])
		return out, err
	})
}

// smartMembers returns what those of two collections hold that are smart; an empty second
// is the source of the first.
func (s *Service) smartMembers(ctx context.Context, actor library.Actor, ref, with string) (map[library.CollectionHash][]library.AssetHash, error) {
	members := map[library.CollectionHash][]library.AssetHash{}
	for range 2 {
		c, err := s.Store.Collections.Get(ctx, actor, ref, false)
		if err != nil {
			return nil, err
		}
		if c.Smart() {
			if members[c.Hash], err = s.allFound(ctx, actor, c.Collection); err != nil {
				return nil, err
			}
		}
		if with == "" {
			with = string(c.Source)
		}
		if ref = with; ref == "" {
			break // Compare says what is missing
		}
	}
	return members, nil
}

// describeDifferences renders differences with their assets.
func (s *Service) describeDifferences(ctx context.Context, actor library.Actor, format op.FormatInput, list []store.Difference) ([]Difference, error) {
	out := make([]Difference, len(list))
	var hashes []library.AssetHash
	for i, d := range list {
		out[i] = Difference{Kind: d.Kind, Type: "asset", ID: d.ID, Since: d.Since}
		for _, side := range []struct {
			item     *store.ItemState
			position **int
			role     *library.MemberRole
			card     **library.TextCard
		}{{d.Is, &out[i].Position, &out[i].Role, &out[i].Card}, {d.Was, &out[i].OldPosition, &out[i].OldRole, &out[i].OldCard}} {
			if side.item != nil {
				*side.position, *side.role, *side.card = &side.item.Position, side.item.Role, side.item.Card
			}
		}
		if out[i].Card != nil || out[i].OldCard != nil {
			out[i].Type = "text_card"
		} else {
			hashes = append(hashes, library.AssetHash(d.ID))
		}
	}
	have, err := s.Store.Assets.List(ctx, actor, hashes)
	links := s.Links.For(actor).In(format)
	for i, d := range out {
		if a, ok := have[library.AssetHash(d.ID)]; ok && d.Type == "asset" {
			summary := links.Summary(a)
			out[i].Asset = &summary
		}
	}
	return out, err
}
