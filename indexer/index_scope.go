package indexer

import (
	"context"
	"errors"
	"slices"

	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store"
)

// An Indexer looks after the index that tenants share and after those of the tenants
// that have one of their own. What is done to one index — making it, guarding it,
// rebuilding it, comparing it with the library — is done by a view of the Indexer
// upon its scope: the same servers, other names, and the assets of its tenants alone.

// scoped returns the view upon a tenant's own index, or upon the shared one for "".
func (x *Indexer) scoped(scope library.TenantID) *Indexer {
	view := *x
	view.scope = scope
	view.names = x.shared
	if scope != "" {
		view.names = x.shared.Own(scope)
	}
	return &view
}

// generations lists the generations of the scope.
func (x *Indexer) generations(ctx context.Context) ([]store.Generation, error) {
	list, err := x.store.Generations.List(ctx)
	return slices.DeleteFunc(list, func(g store.Generation) bool { return g.Scope != x.scope }), err
}

// owners lists the tenants that have a live index of their own, and of these those
// whose assets are in it alone.
func (x *Indexer) owners(ctx context.Context) (all []library.TenantID, alone map[library.TenantID]bool, err error) {
	list, err := x.store.Generations.List(ctx)
	alone = map[library.TenantID]bool{}
	for _, g := range list {
		if g.Scope != "" && g.State == store.GenerationLive {
			all = append(all, g.Scope)
			if g.Alone {
				alone[g.Scope] = true
			}
		}
	}
	slices.Sort(all)
	return all, alone, err
}

// filterScope leaves those of some tenants whose assets belong into the scope's index.
func (x *Indexer) filterScope(ctx context.Context, list []library.TenantID) ([]library.TenantID, error) {
	if x.scope != "" {
		return slices.DeleteFunc(list, func(t library.TenantID) bool { return t != x.scope }), nil
	}
	_, alone, err := x.owners(ctx)
	return slices.DeleteFunc(list, func(t library.TenantID) bool { return alone[t] }), err
}

// countAssets counts the assets of every tenant of the scope that has some.
func (x *Indexer) countAssets(ctx context.Context) ([]store.TenantAssets, error) {
	list, err := x.store.Documents.Count(ctx)
	if err != nil {
		return nil, err
	}
	return x.filterCounts(ctx, list)
}

// filterCounts leaves the counts of tenants whose assets belong into the scope's index.
func (x *Indexer) filterCounts(ctx context.Context, list []store.TenantAssets) ([]store.TenantAssets, error) {
	tenants := make([]library.TenantID, len(list))
	for i, t := range list {
		tenants[i] = t.Tenant
	}
	kept := map[library.TenantID]bool{}
	tenants, err := x.filterScope(ctx, tenants)
	for _, t := range tenants {
		kept[t] = true
	}
	return slices.DeleteFunc(list, func(t store.TenantAssets) bool { return !kept[t.Tenant] }), err
}

// each does something to the shared index and to every tenant's own.
func (x *Indexer) each(ctx context.Context, do func(*Indexer) error) error {
	owners, _, err := x.owners(ctx)
	if err != nil {
		return err
	}
	errs := []error{do(x.scoped(""))}
	for _, t := range owners {
		errs = append(errs, do(x.scoped(t)))
	}
	return errors.Join(errs...)
}

// withOwners adds to what the shared index says of itself who is to be searched
// elsewhere.
func (x *Indexer) withOwners(ctx context.Context, m mappings.Meta) (mappings.Meta, error) {
	if x.scope != "" {
		return m, nil
	}
	owners, _, err := x.owners(ctx)
	m.Own = owners
	return m, err
}
