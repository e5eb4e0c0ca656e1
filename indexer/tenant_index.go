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

// DefaultOwnAt is how many assets a tenant has when it gets an index of its own.
// docs/design/layout.md has the measurements.
const DefaultOwnAt = 10_000

// tenantMover gives tenants that outgrow the shared index one of their own, while searches
// and writes go on:
//
//  1. The new index is announced and filled like that of a rebuild; every change is
//     written to it and to the shared one.
//  2. The shared index says of itself that the tenant is to be searched elsewhere.
//     Searchers read that within mappings.OwnTTL.
//  3. When none can be behind, the shared index is no longer written for the tenant,
//     and its documents there are deleted.
//
// Whatever is interrupted is taken up at the next look. Any number may run.
type tenantMover struct {
	x     *Indexer
	since map[library.TenantID]time.Time // since when searchers can know of each
}

// moveInterval is how often a mover looks.
const moveInterval = 15 * time.Second

// searcherGracePeriod is how long searches may still read the shared index for a tenant after it
// was declared elsewhere: those that began before, and those of a searcher that has
// not heard of it.
const searcherGracePeriod = mappings.OwnTTL + 7*time.Second

func (m *tenantMover) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := m.moveTenants(ctx); err != nil && ctx.Err() == nil {
			if library.AsError(err).Code != library.CodeConflict { // another process is at it
				m.x.log.Warn("tenants could not be moved to their own indices; trying again", "error", err)
			}
		}
		if retry.Sleep(ctx, m.x.cfg.moveEvery) != nil {
			return
		}
	}
}

// moveTenants moves who has to be moved and completes moves that were begun.
func (m *tenantMover) moveTenants(ctx context.Context) error {
	waiting, err := m.x.outgrownTenants(ctx)
	if err != nil {
		return err
	}
	for _, t := range waiting {
		m.x.log.Info("a tenant has outgrown the shared index; making its own", "tenant", t)
		if _, err := m.x.scoped(t).rebuild(ctx, nil); err != nil {
			return err
		}
		m.x.log.Info("a tenant has its own index", "tenant", t)
	}
	return m.finishMoves(ctx)
}

// outgrownTenants lists the tenants that have too many assets for the shared index, and
// those whose move was begun.
func (x *Indexer) outgrownTenants(ctx context.Context) ([]library.TenantID, error) {
	if x.def.Outgrown == nil {
		return nil, nil
	}
	owners, _, err := x.owners(ctx)
	if err != nil {
		return nil, err
	}
	return x.def.Outgrown(ctx, owners, x.cfg.OwnAt)
}

// finishMoves ends the double life of tenants that searchers have found in their own index
// for long enough.
func (m *tenantMover) finishMoves(ctx context.Context) error {
	owners, alone, err := m.x.owners(ctx)
	if err != nil || len(owners) == 0 {
		return err
	}
	announced, err := m.x.announceOwners(ctx, owners)
	if err != nil {
		return err
	}
	for _, t := range owners {
		since, known := m.since[t]
		switch {
		case !announced || !known:
			m.since[t] = time.Now()
		case !alone[t] && time.Since(since) > searcherGracePeriod:
			err = errors.Join(err, m.x.store.Generations.SetAlone(ctx, m.x.def.name(), t), m.x.evict(ctx, t))
		case alone[t] && time.Since(since) < evictionPeriod: // batches that were under way may have come later
			err = errors.Join(err, m.x.evict(ctx, t))
		}
	}
	return err
}

// evictionPeriod is for how long documents of a tenant that moved are looked for in the
// shared index; after that a comparison finds them.
const evictionPeriod = 5 * time.Minute

// announceOwners makes the shared index say who is searched elsewhere, and reports whether
// it said so already.
func (x *Indexer) announceOwners(ctx context.Context, owners []library.TenantID) (already bool, err error) {
	generations, v, err := x.scoped("").surveyIndices(ctx)
	if err != nil {
		return false, err
	}
	live := nameOf(generations, indexstate.GenerationLive)
	if slices.Equal(v.indices[live].meta.Own, owners) {
		return true, nil
	}
	return false, x.scoped("").setMeta(ctx, live, v.indices[live].meta)
}

// evict deletes a tenant's documents from the shared index.
func (x *Indexer) evict(ctx context.Context, tenant library.TenantID) error {
	live, err := x.scoped("").liveIndex(ctx)
	if err != nil {
		return err
	}
	var done struct {
		Deleted int64 `json:"deleted"`
	}
	path := fmt.Sprintf("/%s/_delete_by_query?conflicts=proceed&refresh=true&routing=%s", live, mappings.Routing(tenant))
	err = opensearch.Call(ctx, x.search, http.MethodPost, path, map[string]any{"query": map[string]any{"term": map[string]any{"tenant_id": tenant}}}, &done)
	if err == nil && done.Deleted > 0 {
		x.log.Info("took the documents of a tenant with its own index out of the shared one", "tenant", tenant, "documents", done.Deleted)
	}
	return err
}

// rebuildAll rebuilds every index of the definition: first those of tenants that need their own, so that
// the shared one is not filled with what it would have to give up.
func (x *Indexer) rebuildAll(ctx context.Context, progress func(Progress)) (RebuildResult, error) {
	var all RebuildResult
	report := func(p Progress) {
		if progress != nil && p.Phase != PhaseDone {
			progress(p)
		}
	}
	add := func(x *Indexer) error {
		one, err := x.rebuild(ctx, report)
		all = all.plus(one)
		return err
	}
	owners, _, err := x.owners(ctx)
	if err != nil {
		return all, err
	}
	moved, err := x.outgrownTenants(ctx)
	if err != nil {
		return all, err
	}
	for _, t := range slices.Concat(moved, owners) {
		if err := add(x.scoped(t)); err != nil {
			return all, err
		}
	}
	if len(moved) > 0 {
		if err := x.leaveSharedIndex(ctx, moved); err != nil {
			return all, err
		}
	}
	if err := add(x.scoped("")); err != nil {
		return all, err
	}
	if progress != nil {
		progress(Progress{PhaseDone, all.Index, all.Count, all.Count})
	}
	return all, nil
}

// leaveSharedIndex waits until searchers know of tenants that moved and has the shared index no
// longer written for them.
func (x *Indexer) leaveSharedIndex(ctx context.Context, moved []library.TenantID) error {
	if err := retry.Sleep(ctx, searcherGracePeriod); err != nil {
		return err
	}
	for _, t := range moved {
		if err := x.store.Generations.SetAlone(ctx, x.def.name(), t); err != nil {
			return err
		}
	}
	return nil
}
