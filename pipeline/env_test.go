package pipeline_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/pipeline"
	"vitrine/query"
	"vitrine/store"
	"vitrine/store/storetest"
)

// env is a library without an index, and an engine that runs pipelines on it.
type env struct {
	t      testing.TB
	store  *store.Store
	db     *pgx.Conn // as the owner of the tables
	engine *pipeline.Engine
	admin  library.Actor
	all    []library.AssetHash
}

func newEnv(t testing.TB) *env {
	t.Helper()
	s, url := storetest.Open(t)
	e := &env{t: t, store: s, db: storetest.Owner(t, url), engine: pipeline.New(s)}
	e.engine.Compile = func(context.Context, library.Actor, string, query.Request) (*query.Search, error) {
		return &query.Search{}, nil
	}
	e.engine.Scan = e.scan
	tenant, err := s.Tenants.Create(t.Context(), library.Actor{Kind: library.ActorSystem, ID: "test"}, "Pipelines")
	if err != nil {
		t.Fatal(err)
	}
	e.admin = library.Actor{Kind: library.ActorKey, ID: "key_admin", Tenant: tenant.ID, Permissions: library.Permissions}
	return e
}

// scan stands where the index does in the product: it finds everything, in order of hashes.
func (e *env) scan(ctx context.Context, tenant library.TenantID, _ *query.Search, limit int64, each func([]library.AssetHash) error) (int64, error) {
	list := e.all
	if limit > 0 {
		list = list[:min(int(limit), len(list))]
	}
	for at := 0; at < len(list); at += 700 {
		if err := each(append([]library.AssetHash{}, list[at:min(at+700, len(list))]...)); err != nil {
			return 0, err
		}
	}
	return int64(len(e.all)), nil
}

func (e *env) exec(sql string, args ...any) {
	e.t.Helper()
	if _, err := e.db.Exec(e.t.Context(), sql, args...); err != nil {
		e.t.Fatal(err)
	}
}

// fill stores assets whose fields have few values, some of them missing.
func (e *env) fill(r *rand.Rand, n int) {
	e.t.Helper()
	pick := func(values ...string) string { return values[r.IntN(len(values))] }
	for i := range n {
		h := library.AssetHash(fmt.Sprintf("%08x%032x", r.Uint32(), i))
		e.all = append(e.all, h)
		tags := []string{}
		for _, tag := range []string{"fox", "Best", "wip-1", "wip-2"} {
			if r.IntN(3) == 0 {
				tags = append(tags, tag)
			}
		}
		metadata := map[string]any{}
		if r.IntN(2) == 0 {
			metadata["project"] = pick("spring", "autumn")
		}
		if r.IntN(3) == 0 {
			metadata["score"] = r.IntN(5)
		}
		raw, _ := json.Marshal(metadata)
		e.exec(`INSERT INTO assets (tenant_id, asset_h, sha256, blake3, title, filename, mime_type, size, width, height, status, tags, rating, favorite, metadata, created_at, created_by, doc_version)
			VALUES ($1, $2, '', '', $3, $4, 'image/png', $5, $6, $7, $8, $9, $10, $11, $12, '2026-01-01'::timestamptz + make_interval(days => $13), 'test', 1)`,
			string(e.admin.Tenant), string(h), pick("", "Red Fox", "blue fox", "IMG_12", "Castle"), fmt.Sprintf("%d.png", i), 100+r.IntN(5), r.IntN(4)*512, 512, pick("Draft", "Approved", "Rejected"),
			tags, r.IntN(6), r.IntN(2) == 0, string(raw), r.IntN(20))
		if r.IntN(4) > 0 {
			doc := map[string]any{"models": []any{}, "positive": pick("a red fox", "A  red FOX", "castle"), "parameters": map[string]any{"steps": 10 + 10*r.IntN(4), "seed": uint64(1)<<63 + uint64(r.IntN(3)), "cfg_scale": float64(r.IntN(20)) / 2}}
			raw, _ := json.Marshal(doc)
			e.exec(`INSERT INTO lineage (tenant_id, asset_h, source, parser_version, tool, doc) VALUES ($1, $2, 'extracted', 1, $3, $4)`, string(e.admin.Tenant), string(h), pick("comfyui", "sd-webui"), string(raw))
		}
	}
}

// run runs stages to their end.
func (e *env) run(stages []library.PipelineStage, dry bool) library.PipelineRun {
	e.t.Helper()
	r, err := e.engine.Start(e.t.Context(), e.admin, pipeline.Request{Stages: stages, DryRun: dry, Tool: "ExecutePipeline"})
	if err != nil {
		e.t.Fatalf("starting %s: %v", pipeline.Text(stages), err)
	}
	if err := e.engine.Work(e.t.Context(), e.admin.Tenant, r.ID); err != nil {
		e.t.Fatalf("running %s: %v", pipeline.Text(stages), err)
	}
	return e.get(r.ID)
}

func (e *env) get(id string) library.PipelineRun {
	e.t.Helper()
	r, err := e.store.PipelineRuns.Get(e.t.Context(), e.admin.Tenant, id)
	if err != nil {
		e.t.Fatal(err)
	}
	return r
}

// text runs the text form of a pipeline.
func (e *env) text(text string, dry bool) library.PipelineRun {
	e.t.Helper()
	stages, err := pipeline.ParseText(text)
	if err != nil {
		e.t.Fatal(err)
	}
	return e.run(stages, dry)
}

// set returns the last set of a run.
func (e *env) set(r library.PipelineRun) []library.AssetHash {
	e.t.Helper()
	list, _, err := e.store.PipelineRuns.SetPage(e.t.Context(), e.admin, r.ID, 100_000, 0)
	if err != nil {
		e.t.Fatal(err)
	}
	return list
}

// dump returns all that stages may change of the library, as text.
func (e *env) dump() string {
	e.t.Helper()
	var out string
	if err := e.db.QueryRow(e.t.Context(), `SELECT coalesce(string_agg(row::text, E'\n' ORDER BY row::text), '') FROM (
			SELECT ROW(asset_h, title, description, status, tags, rating, favorite, coalesce(metadata, '{}'), owner, visibility, trashed_at IS NOT NULL) AS row FROM assets
			UNION ALL SELECT ROW(i.asset_h, c.path, i.role) FROM collection_items i JOIN collections c USING (tenant_id, collection_h) WHERE c.deleted_at IS NULL) x`).Scan(&out); err != nil {
		e.t.Fatal(err)
	}
	return out
}
