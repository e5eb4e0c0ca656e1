package indexer

import (
	"context"
	"errors"
	"slices"

	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store/indexstate"
)

// An Indexer looks after several indices, each of which may be one that tenants share
// and those of the tenants that have one of their own. What is done to one of them — making it,
// guarding it, rebuilding it, comparing it with the library — is done by a view of the Indexer
// upon its definition and scope: the same servers, other names, and the rows of its tenants alone.
// An Indexer itself is the view upon the index of assets that tenants share.

// of returns the view upon the shared index of a definition.
func (x *Indexer) of(def *Definition) *Indexer {
	view := *x
	view.def, view.shared = def, def.Index.Names(x.cfg.Prefix)
	return view.scoped("")
}

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
func (x *Indexer) generations(ctx context.Context) ([]indexstate.Generation, error) {
	list, err := x.store.Generations.List(ctx)
	return slices.DeleteFunc(list, func(g indexstate.Generation) bool { return g.Index != x.def.name() || g.Scope != x.scope }), err
}

// owners lists the tenants that have a live index of their own, and of these those
// whose documents are in it alone.
func (x *Indexer) owners(ctx context.Context) (all []library.TenantID, alone map[library.TenantID]bool, err error) {
	list, err := x.store.Generations.List(ctx)
	alone = map[library.TenantID]bool{}
	for _, g := range list {
		if g.Index == x.def.name() && g.Scope != "" && g.State == indexstate.GenerationLive {
			all = append(all, g.Scope)
			if g.Alone {
				alone[g.Scope] = true
			}
		}
	}
	slices.Sort(all)
	return all, alone, err
}

// filterScope leaves those of some tenants whose documents belong into the scope's index.
func (x *Indexer) filterScope(ctx context.Context, list []library.TenantID) ([]library.TenantID, error) {
	if x.scope != "" {
		return slices.DeleteFunc(list, func(t library.TenantID) bool { return t != x.scope }), nil
	}
	_, alone, err := x.owners(ctx)
	return slices.DeleteFunc(list, func(t library.TenantID) bool { return alone[t] }), err
}

// countRows counts the rows of every tenant of the scope that has some.
func (x *Indexer) countRows(ctx context.Context) ([]indexstate.TenantDocuments, error) {
	list, err := x.def.Count(ctx)
	if err != nil {
		return nil, err
	}
	return x.filterCounts(ctx, list)
}

// filterCounts leaves the counts of tenants whose documents belong into the scope's index.
func (x *Indexer) filterCounts(ctx context.Context, list []indexstate.TenantDocuments) ([]indexstate.TenantDocuments, error) {
	tenants := make([]library.TenantID, len(list))
	for i, t := range list {
		tenants[i] = t.Tenant
	}
	kept := map[library.TenantID]bool{}
	tenants, err := x.filterScope(ctx, tenants)
	for _, t := range tenants {
		kept[t] = true
	}
	return slices.DeleteFunc(list, func(t indexstate.TenantDocuments) bool { return !kept[t.Tenant] }), err
}

// eachShared does something to the shared index of every definition.
func (x *Indexer) eachShared(_ context.Context, do func(*Indexer) error) error {
	var errs []error
	for _, d := range x.definitions {
		errs = append(errs, do(x.of(d)))
	}
	return errors.Join(errs...)
}

// eachIndex does something to every index.
func (x *Indexer) eachIndex(ctx context.Context, do func(*Indexer) error) error {
	return x.eachShared(ctx, func(x *Indexer) error { return x.each(ctx, do) })
}

// each does something to the shared index of the definition and to every tenant's own.
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
	if x.scope != "" || x.def.Outgrown == nil {
		return m, nil
	}
	owners, _, err := x.owners(ctx)
	m.Own = owners
	return m, err
}
