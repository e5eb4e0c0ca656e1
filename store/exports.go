package store

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"vitrine/library"
)

// Exports keeps what left the library in zips. Their quota is exact: exports of a tenant
// begin one after the other.
type Exports struct{ s *Store }

// ExportQueue is the queue of export jobs, which take long and must not hold up others.
const ExportQueue = "exports"

// ExportJob writes the zip of an export.
type ExportJob struct {
	Tenant library.TenantID `json:"tenant_id"`
	Export string           `json:"export_id"`
}

// Kind implements JobArgs.
func (ExportJob) Kind() string { return "export" }

// InsertOpts names the queue.
func (ExportJob) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: ExportQueue, MaxAttempts: 5}
}

const exportColumns = `export_id, actor_kind, actor_id, spec, asset_hs, state, done, files, failed, coalesce(bytes, 0), sha256, staged_id, coalesce(run_id, ''), deck, pages, renderer, renderer_note, duration_ms, created_at, finished_at`

// exportFields are where the columns go; ms takes the duration, which scanExport sets.
func exportFields(e *library.Export, ms *int64) []any {
	return []any{&e.ID, &e.Actor.Kind, &e.Actor.ID, &e.Spec, &e.Assets, &e.State, &e.Done, &e.Files, &e.Failed, &e.Bytes, &e.SHA256, &e.Staged, &e.Run, &e.Deck, &e.Pages, &e.Renderer, &e.Note, ms, &e.CreatedAt, &e.FinishedAt}
}

func scanExport(row pgx.CollectableRow) (e library.Export, err error) {
	var ms int64
	err = row.Scan(exportFields(&e, &ms)...)
	e.Duration = time.Duration(ms) * time.Millisecond
	return e, err
}

// ExportReuse is for how long the same request is the same export.
const ExportReuse = time.Hour

// Start begins an export of assets, whose zip a job writes. The same request of the same
// actor, for assets that did not change, is the export that it began within the last hour.
// Assets that the actor does not see are NOT_FOUND, private ones are ASSET_PRIVATE, more than the tenant may
// export at once are BATCH_LIMIT_EXCEEDED, and more bytes than in an hour EGRESS_QUOTA_EXCEEDED.
func (es *Exports) Start(ctx context.Context, actor library.Actor, spec library.ExportSpec, assets []library.AssetHash, stagedID string) (library.Export, error) {
	return es.start(ctx, actor, spec, assets, nil, stagedID)
}

// StartDeck begins an export of a collection as a PDF, under the rules of Start.
func (es *Exports) StartDeck(ctx context.Context, actor library.Actor, spec library.ExportSpec, deck library.ExportDeck, stagedID string) (library.Export, error) {
	return es.start(ctx, actor, spec, deck.Assets(), &deck, stagedID)
}

func (es *Exports) start(ctx context.Context, actor library.Actor, spec library.ExportSpec, assets []library.AssetHash, deck *library.ExportDeck, stagedID string) (out library.Export, err error) {
	_, err = es.s.Write(ctx, actor, func(t *Tx) error {
		size, request, err := t.exportable(ctx, spec, assets, deck)
		if err != nil {
			return err
		}
		rows, err := t.Query(ctx, `SELECT `+exportColumns+` FROM exports WHERE tenant_id = $1 AND actor_id = $2 AND request = $3 AND state <> 'failed'
			AND coalesce(finished_at, now()) > now() - $4::interval ORDER BY created_at DESC LIMIT 1`, t.tenant(), actor.ID, request, ExportReuse)
		if err != nil {
			return err
		}
		if out, err = pgx.CollectExactlyOneRow(rows, scanExport); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		out, err = t.insertExport(ctx, library.Export{Actor: actor, Spec: spec, Assets: assets, Staged: stagedID, Deck: deck}, request, size)
		return err
	})
	return out, err
}

// StartExport begins an export as a part of a larger write: of a stage of a pipeline's run, which
// e.Run names. Its actor is that of the write. Unlike Exports.Start it is always a new export. The
// assets are refused as there.
func (t *Tx) StartExport(ctx context.Context, e library.Export) (library.Export, error) {
	size, request, err := t.exportable(ctx, e.Spec, e.Assets, nil)
	if err != nil {
		return library.Export{}, err
	}
	sum := sha256.Sum256(append(request, e.Run...)) // another run's is another export
	e.Actor = t.actor
	return t.insertExport(ctx, e, sum[:], size)
}

// insertExport keeps a new export with its audit trail and the job that writes its zip, unless
// the tenant may not take so much out.
func (t *Tx) insertExport(ctx context.Context, e library.Export, request []byte, size int64) (out library.Export, err error) {
	if err := t.egress(ctx, len(e.Assets), size); err != nil {
		return out, err
	}
	rows, err := t.Query(ctx, `INSERT INTO exports (tenant_id, export_id, actor_kind, actor_id, request, spec, asset_hs, reserved, staged_id, run_id, deck)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, nullif($10, ''), $11) RETURNING `+exportColumns,
		t.tenant(), newID(), e.Actor.Kind, e.Actor.ID, request, e.Spec, e.Assets, size, e.Staged, e.Run, e.Deck)
	if err != nil {
		return out, err
	}
	if out, err = pgx.CollectExactlyOneRow(rows, scanExport); err != nil {
		return out, err
	}
	for _, h := range e.Assets {
		if err := t.Audit(ctx, "asset.exported", string(h), map[string]any{"export_id": out.ID, "preset": e.Spec.Preset}); err != nil {
			return out, err
		}
	}
	return out, t.Enqueue(ctx, ExportJob{t.tenant(), out.ID})
}

// exportedVersion changes with what an export writes of an asset: what people say of it, what
// its file was read to say and, where $4 holds, its collections. The version of its document
// would not do: jobs raise it while the asset stays as it is.
const exportedVersion = `concat_ws(' ', extract(epoch FROM assets.updated_at), extract(epoch FROM l.extracted_at), CASE WHEN $4::boolean THEN
	(SELECT string_agg(i.collection_h, ',' ORDER BY i.collection_h) FROM collection_items i WHERE i.tenant_id = assets.tenant_id AND i.asset_h = assets.asset_h) END)`

// exportable returns the size of the originals and the hash of the request, unless one of
// the assets may not leave. Other exports of the tenant wait until the transaction ends.
func (t *Tx) exportable(ctx context.Context, spec library.ExportSpec, assets []library.AssetHash, deck *library.ExportDeck) (size int64, request []byte, err error) {
	if _, err := t.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('egress ' || $1::text, 0))`, string(t.tenant())); err != nil {
		return 0, nil, err
	}
	type row struct {
		size    int64
		private bool
		version string
	}
	found := map[library.AssetHash]row{}
	rows, err := t.Query(ctx, `SELECT asset_h, size, visibility = 'private', `+exportedVersion+` FROM assets LEFT JOIN lineage l USING (tenant_id, asset_h)
		WHERE tenant_id = $1 AND asset_h = ANY($2) AND trashed_at IS NULL AND `+visibleTo("assets", "$3"), t.tenant(), assets, viewer(t.actor), spec.Original)
	if err != nil {
		return 0, nil, err
	}
	var h library.AssetHash
	var r row
	if _, err := pgx.ForEachRow(rows, []any{&h, &r.size, &r.private, &r.version}, func() error { found[h] = r; return nil }); err != nil {
		return 0, nil, err
	}
	encoded, err := json.Marshal(struct {
		library.ExportSpec
		Deck *library.ExportDeck `json:",omitempty"`
	}{spec, deck})
	if err != nil {
		return 0, nil, err
	}
	sum := sha256.New()
	sum.Write(encoded)
	var missing, private []string
	for _, h := range assets {
		r, ok := found[h]
		switch {
		case !ok:
			missing = append(missing, string(h))
		case r.private:
			private = append(private, string(h))
		}
		size += r.size
		fmt.Fprintf(sum, " %s %s", h, r.version)
	}
	if err := mayLeave(missing, private, "exported"); err != nil {
		return 0, nil, err
	}
	return size, sum.Sum(nil), nil
}

// mayLeave returns the error of assets that are not to be exported, or shared: they are missing or private.
func mayLeave(missing, private []string, done string) error {
	switch {
	case len(missing) > 0:
		return library.NewError(library.KindNotFound, library.CodeNotFound, "%d of the assets are not in this tenant or in the trash, such as %s. Nothing was %s.", len(missing), some(missing), done)
	case len(private) > 0:
		return library.NewError(library.KindForbidden, library.CodeAssetPrivate, "%d of the assets are private and cannot be %s with an API key, such as %s. Leave them out, or let their owner change their visibility with UpdateAsset.", len(private), done, some(private))
	}
	return nil
}

// some returns the first few of a list, for an error.
func some(list []string) string { return strings.Join(list[:min(len(list), 3)], ", ") }

// egress refuses an export that is more than the tenant may take out.
func (t *Tx) egress(ctx context.Context, assets int, size int64) error {
	limits := library.DefaultLimits
	rows, err := t.Query(ctx, `SELECT `+limitColumns+` FROM tenant_limits WHERE tenant_id = $1`, limitArgs(t.tenant())...)
	if err != nil {
		return err
	}
	if l, err := pgx.CollectExactlyOneRow(rows, scanLimits); err == nil {
		limits = l.Limits
	} else if !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if limits.ExportAssets != library.Unlimited && int64(assets) > limits.ExportAssets {
		return library.NewError(library.KindUnprocessable, library.CodeBatchLimit, "This tenant exports at most %d assets at once, and %d were named. Export them in parts, or let the operator raise the limit (vitrine tenants limits).", limits.ExportAssets, assets)
	}
	if limits.EgressBytesHourly == library.Unlimited {
		return nil
	}
	var used int64
	var wait float64
	err = t.QueryRow(ctx, `SELECT coalesce(sum(coalesce(bytes, reserved)), 0)::bigint, coalesce(extract(epoch FROM min(created_at) + interval '1 hour' - now()), 0)::float8
		FROM exports WHERE tenant_id = $1 AND created_at > now() - interval '1 hour' AND state <> 'failed'`, t.tenant()).Scan(&used, &wait)
	if err != nil || used+size <= limits.EgressBytesHourly {
		return err
	}
	e := library.NewError(library.KindRateLimited, library.CodeEgressQuota, "This tenant exports at most %d bytes in an hour. %d were exported, and this export has up to %d. Export less, wait, or let the operator raise the limit (vitrine tenants limits).", limits.EgressBytesHourly, used, size)
	e.RetryAfter = time.Duration(max(1, wait) * float64(time.Second))
	return e
}

// Get returns an export of a tenant; another actor's is NOT_FOUND. An empty actor id returns anybody's.
func (es *Exports) Get(ctx context.Context, tenant library.TenantID, actorID, id string) (out library.Export, err error) {
	err = es.s.readTenant(ctx, tenant, `SELECT `+exportColumns+` FROM exports WHERE tenant_id = $1 AND export_id = $2 AND ($3 = '' OR actor_id = $3)`,
		[]any{tenant, id, actorID}, func(rows pgx.Rows) error {
			out, err = pgx.CollectExactlyOneRow(rows, scanExport)
			if errors.Is(err, pgx.ErrNoRows) {
				return library.NotFound("export")
			}
			return err
		})
	return out, err
}
