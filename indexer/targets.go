package indexer

import (
	"vitrine/library"
	"vitrine/store/indexstate"
)

// targetIndices are the indices that the documents of a tenant go to: its own first, so that
// what the shared one shows is never missing there when searches move over.
type targetIndices struct {
	names []string                    // of all
	own   map[string]library.TenantID // by index: the one tenant whose documents it takes
	alone map[library.TenantID]bool   // tenants that the shared index takes nothing of
}

// targetsOf reads from the generations where the documents of an index go. ok is false
// where some tenant's have nowhere to go.
func targetsOf(index string, generations []indexstate.Generation) (a targetIndices, ok bool) {
	a = targetIndices{own: map[string]library.TenantID{}, alone: map[library.TenantID]bool{}}
	var shared []string
	for _, state := range []indexstate.GenerationState{indexstate.GenerationLive, indexstate.GenerationBuilding} {
		for _, g := range generations {
			switch {
			case g.State != state || g.Index != index:
			case g.Scope == "":
				shared, ok = append(shared, g.Name), true
			default:
				a.names = append(a.names, g.Name)
				a.own[g.Name] = g.Scope
				if g.Alone {
					a.alone[g.Scope] = true
				}
			}
		}
	}
	a.names = append(a.names, shared...)
	return a, ok
}

// accepts reports whether an index takes the documents of a tenant.
func (a targetIndices) accepts(index string, tenant library.TenantID) bool {
	if only, own := a.own[index]; own {
		return only == tenant
	}
	return !a.alone[tenant]
}

// setTargets directs a batch to the indices of its tenants. It reports whether there is one
// for each.
func (b *batch) setTargets(generations []indexstate.Generation) bool {
	a, ok := targetsOf(b.def.name(), generations)
	b.targets, b.accepts = a.names, a.accepts
	return ok
}

// itemsFor returns copies of the items that an index takes, and where in the batch each is.
func (b *batch) itemsFor(index string) (items []item, at []int) {
	for i := range b.items {
		if b.accepts == nil || b.accepts(index, b.items[i].row.Tenant) {
			items, at = append(items, b.items[i]), append(at, i)
		}
	}
	return items, at
}
