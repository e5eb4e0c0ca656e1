package indexer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"vitrine/internal/engine"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store"
)

// Ensured tells what EnsureIndex found or did.
type Ensured struct {
	Index   string // the live index
	Created bool   // it was made just now, empty: a library with assets needs Reconcile
}

// EnsureIndex makes sure that a live index stands behind the alias. On a fresh
// deployment it makes the first one. Where the live index was deleted by hand it
// makes an empty one under a new name, so that searches answer and changes are
// indexed again; Reconcile then brings the rest back. Any number of processes
// may call it at once.
func (x *Indexer) EnsureIndex(ctx context.Context) (Ensured, error) {
	var out Ensured
	err := x.locked(ctx, func(func(context.Context) bool) error {
		generations, err := x.store.Generations(ctx)
		if err != nil {
			return err
		}
		present, err := x.indices(ctx)
		if err != nil {
			return err
		}
		for _, g := range generations {
			if g.State != store.GenerationLive {
				continue
			}
			if _, ok := present[g.Name]; ok {
				out.Index = g.Name
				return x.ensureAlias(ctx, g.Name, generations, present)
			}
			x.log.Error("the live index is gone; making an empty one", "index", g.Name)
			if err := x.store.DropGeneration(ctx, g.Name); err != nil {
				return err
			}
		}
		out.Index, out.Created = x.nextName(generations, present), true
		if err := x.createIndex(ctx, out.Index); err != nil {
			return err
		}
		if err := x.pointAlias(ctx, out.Index, present); err != nil {
			return err
		}
		return x.store.SetGeneration(ctx, out.Index, store.GenerationLive, x.vectors.configuration())
	})
	return out, err
}

// locked runs fn as the only changer of generations, waiting for another one.
func (x *Indexer) locked(ctx context.Context, fn func(held func(context.Context) bool) error) error {
	wait := outage()
	for {
		err := x.store.LockGenerations(ctx, fn)
		if !errors.Is(err, store.ErrGenerationsBusy) {
			return err
		}
		if err := wait.wait(ctx); err != nil {
			return err
		}
	}
}

// ensureAlias points the alias at the live index unless it points there, or at
// the index being built: then a rebuild was interrupted between the swap and its
// record, and the next rebuild completes it.
func (x *Indexer) ensureAlias(ctx context.Context, live string, generations []store.Generation, present map[string]bool) error {
	for _, name := range written(generations) {
		if present[name] {
			return nil
		}
	}
	return x.pointAlias(ctx, live, present)
}

// indices lists the indices of this prefix, each with whether the alias points at it.
func (x *Indexer) indices(ctx context.Context) (map[string]bool, error) {
	var found map[string]struct {
		Aliases map[string]json.RawMessage `json:"aliases"`
	}
	if err := engine.Call(ctx, x.search, http.MethodGet, "/"+x.names.Pattern()+"/_alias", nil, &found); err != nil {
		return nil, fmt.Errorf("listing the indices: %w", err)
	}
	present := make(map[string]bool, len(found))
	for name, f := range found {
		if _, _, ours := x.names.Parse(name); ours {
			_, present[name] = f.Aliases[x.names.Alias()]
		}
	}
	return present, nil
}

// nextName gives the name after every one that is known or was ever used, as far
// as either server remembers.
func (x *Indexer) nextName(generations []store.Generation, present map[string]bool) string {
	last := 0
	seen := func(name string) {
		if _, n, ok := x.names.Parse(name); ok {
			last = max(last, n)
		}
	}
	for _, g := range generations {
		seen(g.Name)
	}
	for name := range present {
		seen(name)
	}
	return x.names.Index(last + 1)
}

// createIndex makes an index of the present mapping version; one that is there
// already is taken as it is.
func (x *Indexer) createIndex(ctx context.Context, name string) error {
	body, err := mappings.WithVectors(x.vectors.fields()...)
	if err != nil {
		return err
	}
	err = engine.Call(ctx, x.search, http.MethodPut, "/"+name, body, nil)
	if engine.IsRefusal(err, "resource_already_exists_exception") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("creating the index %s: %w", name, err)
	}
	return nil
}

func (x *Indexer) deleteIndex(ctx context.Context, name string) error {
	err := engine.Call(ctx, x.search, http.MethodDelete, "/"+name+"?ignore_unavailable=true", nil, nil)
	if err != nil {
		return fmt.Errorf("deleting the index %s: %w", name, err)
	}
	return nil
}

// pointAlias makes the alias point at one index and at no other, in one step: a
// search sees the old index or the new one, never neither.
func (x *Indexer) pointAlias(ctx context.Context, to string, present map[string]bool) error {
	type action map[string]map[string]any
	actions := []action{{"add": {"index": to, "alias": x.names.Alias(), "is_write_index": false}}}
	for name, aliased := range present {
		if aliased && name != to {
			actions = append(actions, action{"remove": {"index": name, "alias": x.names.Alias()}})
		}
	}
	if err := engine.Call(ctx, x.search, http.MethodPost, "/_aliases", map[string]any{"actions": actions}, nil); err != nil {
		return fmt.Errorf("pointing the alias at %s: %w", to, err)
	}
	return nil
}

func (x *Indexer) refresh(ctx context.Context, index string) error {
	return engine.Call(ctx, x.search, http.MethodPost, "/"+index+"/_refresh", nil, nil)
}

// setIndex changes dynamic settings of an index.
func (x *Indexer) setIndex(ctx context.Context, index string, settings map[string]any) error {
	return engine.Call(ctx, x.search, http.MethodPut, "/"+index+"/_settings", map[string]any{"index": settings}, nil)
}

// liveIndex names the index that searches read.
func (x *Indexer) liveIndex(ctx context.Context) (string, error) {
	generations, err := x.store.Generations(ctx)
	if err != nil {
		return "", err
	}
	for _, g := range generations {
		if g.State == store.GenerationLive {
			return g.Name, nil
		}
	}
	return "", library.NewFault(library.KindUnavailable, library.CodeIndexUnavailable, "There is no live index yet. Start the indexer, which makes one.")
}
