package collections

import (
	"context"

	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

type listInput struct {
	op.TenantInput
	ParentPath string `json:"parent_path,omitempty" id:"collection" maxLength:"600" doc:"Lists what is below it. Absent: all."`
	Counts     bool   `json:"include_asset_counts,omitempty" default:"true"`
	MaxDepth   int    `json:"max_depth,omitempty" minimum:"1" maximum:"5" default:"5" doc:"Levels below parent_path."`
	Limit      int    `json:"limit,omitempty" minimum:"1" maximum:"5000" default:"500"`
	Offset     int    `json:"offset,omitempty" minimum:"0" maximum:"100000" default:"0"`
}

// Listed is a collection in a list. Outputs embed it.
type Listed struct {
	Collection
	Assets *int64 `json:"asset_count,omitempty" doc:"Assets in it, without those below it."`
	Cards  *int64 `json:"card_count,omitempty" doc:"Text cards in it."`
}

type listOutput struct {
	Data  []Listed `json:"data" doc:"Each parent before what is below it, by path."`
	Total int      `json:"total"`
}

func (s *Service) listCollections() op.Operation {
	return op.Define(op.Meta{
		Name: "ListCollections", Title: "List collections", Domain: op.Collections,
		Doc:    "Lists the tree of collections, parents first, with paths and asset counts. SearchAssets with collection:path finds assets in one and below it.",
		Method: "GET", Path: "/api/v1/collections", Permission: library.PermRead, ReadOnly: true, Idempotent: true,
		Example: map[string]any{"max_depth": 2},
	}, s.list)
}

func (s *Service) list(ctx context.Context, actor library.Actor, in listInput) (listOutput, error) {
	out := listOutput{Data: []Listed{}}
	list, total, err := s.Store.Collections.List(ctx, actor, in.ParentPath, in.MaxDepth, in.Counts, in.Limit, in.Offset)
	if err != nil {
		return out, err
	}
	out.Total = total
	smart := 0
	for _, e := range list {
		counts := in.Counts
		if e.Smart() {
			smart++
			counts = counts && smart <= maxSmartCounts
		}
		l, err := s.describeEntry(ctx, actor, e, counts)
		if err != nil {
			return out, err
		}
		out.Data = append(out.Data, l)
	}
	return out, nil
}

// maxSmartCounts is how many smart collections a list counts; each is a search.
const maxSmartCounts = 50

// describeEntry renders a collection with its counts. What a smart one holds is counted
// by its search; where that cannot be run the count is absent.
func (s *Service) describeEntry(ctx context.Context, actor library.Actor, e store.CollectionEntry, counts bool) (Listed, error) {
	l := Listed{Collection: describe(e.Collection)}
	switch {
	case !counts:
	case !e.Smart():
		l.Assets, l.Cards = &e.Assets, &e.Cards
	case s.FindSaved != nil:
		_, total, err := s.FindSaved(ctx, actor, e.SavedSearch, 1, 0)
		if err == nil {
			n := int64(total)
			l.Assets = &n
		} else if ctx.Err() != nil {
			return l, err
		}
	}
	return l, nil
}
