package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// visibleTo returns the condition under which a caller sees an asset: the one filter
// of every statement that reads assets for somebody. row is the table of assets or
// its alias, caller the parameter that holds viewer of the actor.
func visibleTo(row, caller string) string {
	return `(` + row + `.visibility <> 'private' OR ` + row + `.owner = ` + caller + ` OR ` + caller + ` = '*')`
}

// viewer returns what visibleTo compares an actor by: its id, or * where it sees all.
func viewer(a library.Actor) string {
	switch {
	case a.SeesAll():
		return "*"
	case a.ID == "":
		return "-" // no owner is called so; the empty owner is nobody
	}
	return a.ID
}

// visibleParent returns the query for the parent that a row of asset_parents or of
// assets names, unless the caller does not see it. A parent that is not in the library
// is named as before.
func visibleParent(row, caller string) string {
	return `SELECT ` + row + `.parent_asset_h WHERE NOT EXISTS (SELECT FROM assets hidden
		WHERE hidden.tenant_id = ` + row + `.tenant_id AND hidden.asset_h = ` + row + `.parent_asset_h AND NOT ` + visibleTo("hidden", caller) + `)`
}

// Unseen returns those of some assets that the tenant holds, also in the trash, and that
// the actor does not see.
func (as *Assets) Unseen(ctx context.Context, actor library.Actor, hashes []library.AssetHash) (list []library.AssetHash, err error) {
	if len(hashes) == 0 || actor.SeesAll() {
		return nil, nil
	}
	err = as.s.readTenant(ctx, actor.Tenant, `SELECT asset_h FROM assets WHERE tenant_id = $1 AND asset_h = ANY($2) AND NOT `+visibleTo("assets", "$3"),
		[]any{actor.Tenant, hashes, viewer(actor)}, func(rows pgx.Rows) (err error) {
			list, err = pgx.CollectRows(rows, pgx.RowTo[library.AssetHash])
			return err
		})
	return list, err
}
