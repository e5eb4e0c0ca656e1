package indexer

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"vitrine/internal/opensearch"
	"vitrine/library"
	"vitrine/store/indexstate"
)

// pointAlias makes the alias point at one index and at no other, in one step: a
// search sees the old index or the new one, never neither.
func (x *Indexer) pointAlias(ctx context.Context, to string, generations []indexstate.Generation, v survey) error {
	type action map[string]map[string]any
	var actions []action
	if v.taken {
		if err := x.moveAside(ctx, generations); err != nil {
			return err
		}
		actions = append(actions, action{"remove_index": {"index": x.names.Alias()}})
	}
	actions = append(actions, action{"add": {"index": to, "alias": x.names.Alias(), "is_write_index": false}})
	for name := range v.holders {
		if name != to {
			actions = append(actions, action{"remove": {"index": name, "alias": x.names.Alias()}})
		}
	}
	if err := opensearch.Call(ctx, x.search, http.MethodPost, "/_aliases", map[string]any{"actions": actions}, nil); err != nil {
		return fmt.Errorf("pointing the alias at %s: %w", to, err)
	}
	return nil
}

// moveAside keeps, under another name, the documents of an index that somebody made
// under the name of the alias: it has to go for searches to work, and it is not ours
// to delete. Where this deployment never had that name, it belongs to somebody else.
func (x *Indexer) moveAside(ctx context.Context, generations []indexstate.Generation) error {
	taken := x.names.Alias()
	if len(generations) == 0 {
		return library.NewError(library.KindConflict, library.CodeConflict,
			"OpenSearch has an index named %s that is none of ours, and that name is needed for an alias. Set VITRINE_PREFIX to use other names, or rename that index.", taken)
	}
	var found struct {
		Count int64 `json:"count"`
	}
	if err := opensearch.Call(ctx, x.search, http.MethodGet, "/"+taken+"/_count", nil, &found); err != nil {
		return fmt.Errorf("counting what the index %s holds: %w", taken, err)
	}
	if found.Count == 0 {
		return nil
	}
	aside := x.names.Displaced(time.Now())
	if err := x.setIndex(ctx, taken, map[string]any{"blocks.write": true}); err != nil {
		return fmt.Errorf("setting aside the index %s: %w", taken, err)
	}
	err := opensearch.Call(ctx, x.search, http.MethodPost, "/"+taken+"/_clone/"+aside, map[string]any{"settings": map[string]any{"index.blocks.write": nil}}, nil)
	if err != nil {
		return fmt.Errorf("setting aside the index %s: %w", taken, err)
	}
	x.log.Error("an index had the name of the alias; its documents were moved to another index, which can be deleted when nobody needs it", "index", taken, "kept", aside, "documents", found.Count)
	return nil
}
