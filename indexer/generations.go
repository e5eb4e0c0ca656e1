package indexer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"vitrine/internal/opensearch"
	"vitrine/internal/retry"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store/indexstate"
)

// EnsureResult is what EnsureIndex found or did.
type EnsureResult struct {
	Index   string // the live index
	Created bool   // it was made just now, empty: a library with assets needs Reconcile
	Problem string // what was wrong, or ""
}

// EnsureIndex makes sure that a live index of assets with our mapping stands behind the alias,
// can be written, and is what the database takes for the live one. On a fresh
// deployment it makes the first one. Where the live index is gone or was replaced it
// makes an empty one under a new name, or takes the one that the alias points at, so
// that searches answer and changes are indexed again; such an index says of itself
// that it is incomplete until it is filled. Any number of processes may call it at
// once. A closed index is left alone: somebody is working on it.
func (x *Indexer) EnsureIndex(ctx context.Context) (EnsureResult, error) {
	generations, v, err := x.surveyIndices(ctx)
	if err != nil {
		return EnsureResult{}, err
	}
	if v.problem(generations) == "" {
		return EnsureResult{Index: nameOf(generations, indexstate.GenerationLive)}, nil
	}
	var out EnsureResult
	err = x.locked(ctx, func(func(context.Context) bool) error {
		generations, v, err := x.surveyIndices(ctx)
		if err == nil {
			out, err = x.repairIndex(ctx, generations, v)
		}
		return err
	})
	return out, err
}

// surveyIndices reads what the database and OpenSearch say of the indices.
func (x *Indexer) surveyIndices(ctx context.Context) ([]indexstate.Generation, survey, error) {
	generations, err := x.generations(ctx)
	if err != nil {
		return nil, survey{}, err
	}
	v, err := x.survey(ctx)
	return generations, v, err
}

// repairIndex does what a survey asks for. The caller holds the lock of generations.
func (x *Indexer) repairIndex(ctx context.Context, generations []indexstate.Generation, v survey) (EnsureResult, error) {
	live := nameOf(generations, indexstate.GenerationLive)
	out := EnsureResult{Index: live, Problem: v.problem(generations)}
	i, present := v.indices[live]
	switch {
	case out.Problem == "":
		return out, nil
	case i.closed:
		return out, closed(live)
	case present && i.mismatch == "":
		return out, x.repairLive(ctx, live, generations, v)
	}
	restored, err := x.restored(ctx, live)
	if err != nil {
		return out, err
	}
	if out.Index = v.searched(); out.Index != "" && !restored {
		return out, x.takeOver(ctx, live, out.Index, v.indices[out.Index])
	}
	if live != "" {
		x.log.Error("creating a new index", "why", out.Problem)
	}
	out.Index, out.Created = x.nextName(generations, v.aliased()), true
	return out, x.replace(ctx, live, out.Index, generations, v)
}

// closed is the error of an index that somebody closed.
func closed(index string) error {
	return library.NewError(library.KindUnavailable, library.CodeIndexUnavailable,
		"The index %s is closed. Open it (POST /%s/_open), or delete it and it will be rebuilt.", index, index)
}

// repairLive repairs what is around a live index that is there: the alias that it is
// written by, the fields of a later release, the alias that searches read.
func (x *Indexer) repairLive(ctx context.Context, live string, generations []indexstate.Generation, v survey) error {
	if err := x.upgradeMapping(ctx, live, v.indices[live]); err != nil {
		return err
	}
	// An alias at the index being built is a rebuild that was interrupted between the
	// swap and its record; the next rebuild completes it.
	if searched := v.searched(); searched != "" && (searched == live || searched == nameOf(generations, indexstate.GenerationBuilding)) {
		return nil
	}
	return x.pointAlias(ctx, live, generations, v)
}

// upgradeMapping adds to an index of an earlier release what this one expects.
func (x *Indexer) upgradeMapping(ctx context.Context, name string, i surveyedIndex) error {
	if !i.writer {
		if err := opensearch.Call(ctx, x.search, http.MethodPut, "/"+name+"/_alias/"+mappings.Writer(name), nil, nil); err != nil {
			return fmt.Errorf("naming the writers' alias of %s: %w", name, err)
		}
	}
	if len(i.missingFields) > 0 {
		if err := opensearch.Call(ctx, x.search, http.MethodPut, "/"+name+"/_mapping", map[string]any{"properties": i.missingFields}, nil); err != nil {
			return fmt.Errorf("adding fields to the index %s: %w", name, err)
		}
		x.log.Warn("the index lacked fields of this release; run vitrine rebuild to fill them", "index", name, "fields", len(i.missingFields))
	}
	return nil
}

// takeOver makes the index that the alias points at the live one. The database does
// not know it as that, as after restoring an older one: so they are compared.
func (x *Indexer) takeOver(ctx context.Context, old, name string, i surveyedIndex) error {
	if i.closed {
		return closed(name)
	}
	embedding := ""
	if configuration := x.vectors.configuration(); slices.Contains(i.vectors, configuration) {
		embedding = configuration
	} else if len(i.vectors) > 0 {
		embedding = i.vectors[0]
	}
	x.log.Warn("the alias points at an index that is not the live generation; adopting it", "index", name)
	meta := i.meta
	meta.Incomplete = true
	if meta.Epoch == "" {
		meta.Epoch = "unknown" // no epoch of the database is called so
	}
	if err := errors.Join(x.upgradeMapping(ctx, name, i), x.setMeta(ctx, name, meta)); err != nil {
		return err
	}
	return x.store.Generations.ReplaceLive(ctx, x.def.name(), x.scope, old, name, embedding)
}

// replace makes an empty index the live one, instead of an old one if there was any.
func (x *Indexer) replace(ctx context.Context, old, name string, generations []indexstate.Generation, v survey) error {
	tenants, err := x.countRows(ctx)
	if err != nil {
		return err
	}
	epoch, err := x.store.IndexState.Epoch(ctx)
	if err != nil {
		return err
	}
	if err := x.createIndex(ctx, name, mappings.Meta{Incomplete: len(tenants) > 0, Epoch: epoch.ID, WAL: epoch.WAL}); err != nil {
		return err
	}
	if len(tenants) > 0 { // no searcher may take it for the one that was there
		if err := retry.Sleep(ctx, mappings.MetaTTL+mappings.MetaTTL/4); err != nil {
			return err
		}
	}
	if err := x.pointAlias(ctx, name, generations, v); err != nil {
		return err
	}
	if err := x.store.Generations.ReplaceLive(ctx, x.def.name(), x.scope, old, name, x.vectors.configuration()); err != nil || len(tenants) > 0 {
		return err
	}
	if err := x.recordLiveUUID(ctx, name); err != nil {
		return err
	}
	return x.restoreIndexed(ctx)
}

// setMeta makes an index say something of itself.
func (x *Indexer) setMeta(ctx context.Context, name string, m mappings.Meta) error {
	m, err := x.withOwners(ctx, m)
	if err != nil {
		return err
	}
	if err := opensearch.Call(ctx, x.search, http.MethodPut, "/"+name+"/_mapping", mappings.MetaBody(m), nil); err != nil {
		return fmt.Errorf("noting the state of the index %s: %w", name, err)
	}
	return nil
}

// lockedFor is how long EnsureIndex waits for another changer of generations: one
// that makes an index is done in a moment, a rebuild is not.
const lockedFor = 10 * time.Second

// locked runs fn as the only changer of generations, waiting for another one.
func (x *Indexer) locked(ctx context.Context, fn func(held func(context.Context) bool) error) error {
	wait := retry.Outage()
	for began := time.Now(); ; {
		err := x.store.Generations.Lock(ctx, x.def.name(), fn)
		if !errors.Is(err, indexstate.ErrGenerationsBusy) {
			return err
		}
		if time.Since(began) > lockedFor {
			return busy(err)
		}
		if err := wait.Wait(ctx); err != nil {
			return err
		}
	}
}

// nextName returns the name after every one that is known or was ever used, as far
// as either server remembers.
func (x *Indexer) nextName(generations []indexstate.Generation, present map[string]bool) string {
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
func (x *Indexer) createIndex(ctx context.Context, name string, m mappings.Meta) error {
	m, err := x.withOwners(ctx, m)
	if err != nil {
		return err
	}
	body, err := x.def.Index.Create(name, m, x.vectors.fields()...)
	if err != nil {
		return err
	}
	err = opensearch.Call(ctx, x.search, http.MethodPut, "/"+name, body, nil)
	if opensearch.IsResponseError(err, "resource_already_exists_exception") {
		return x.upgradeMapping(ctx, name, surveyedIndex{})
	}
	if err != nil {
		return fmt.Errorf("creating the index %s: %w", name, err)
	}
	return nil
}

func (x *Indexer) deleteIndex(ctx context.Context, name string) error {
	err := opensearch.Call(ctx, x.search, http.MethodDelete, "/"+name+"?ignore_unavailable=true", nil, nil)
	if err != nil {
		return fmt.Errorf("deleting the index %s: %w", name, err)
	}
	return nil
}

func (x *Indexer) refresh(ctx context.Context, index string) error {
	return opensearch.Call(ctx, x.search, http.MethodPost, "/"+index+"/_refresh", nil, nil)
}

// setIndex changes dynamic settings of an index.
func (x *Indexer) setIndex(ctx context.Context, index string, settings map[string]any) error {
	return opensearch.Call(ctx, x.search, http.MethodPut, "/"+index+"/_settings", map[string]any{"index": settings}, nil)
}

// liveIndex names the index that searches read.
func (x *Indexer) liveIndex(ctx context.Context) (string, error) {
	generations, err := x.generations(ctx)
	if err != nil {
		return "", err
	}
	if live := nameOf(generations, indexstate.GenerationLive); live != "" {
		return live, nil
	}
	return "", library.NewError(library.KindUnavailable, library.CodeIndexUnavailable, "There is no live index yet. Start the indexer, which creates one.")
}
