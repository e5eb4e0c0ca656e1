package indexstate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"vitrine/store/indexstate"
	"vitrine/store/storetest"
)

// node is a node of a plan as EXPLAIN shows it.
type node struct {
	Rows    float64 `json:"Actual Rows"`
	Loops   float64 `json:"Actual Loops"`
	Removed float64 `json:"Rows Removed by Filter"`
	Joined  float64 `json:"Rows Removed by Join Filter"`
	Plans   []node
}

// touched is how many rows the node and all below it made or looked at.
func (n node) touched() float64 {
	sum := (n.Rows + n.Removed + n.Joined) * max(n.Loops, 1)
	for _, p := range n.Plans {
		sum += p.touched()
	}
	return sum
}

// plansLibrary are assets of which every third has a model and the asset before it as its parent.
const plansLibrary = `
	WITH n AS (SELECT n, $1::text::uuid AS tenant, lpad(to_hex(n), 40, '0') AS h, lpad(to_hex(n - 1), 40, '0') AS parent FROM generate_series($2::int, $3::int) n),
	a AS (INSERT INTO assets (tenant_id, asset_h, sha256, blake3, filename, mime_type, size, created_at, created_by, doc_version)
		SELECT tenant, h, '', '', 'file-' || n || '.png', 'image/png', n, now(), 'test', 1 FROM n),
	l AS (INSERT INTO lineage (tenant_id, asset_h, source, parser_version, tool, doc) SELECT tenant, h, 'extracted', 1, 'comfyui', '{}' FROM n),
	p AS (INSERT INTO asset_parents (tenant_id, asset_h, position, kind, name, parent_asset_h) SELECT tenant, h, 0, 'init_image', 'file-' || n, parent FROM n WHERE n % 3 = 0 AND n > 1)
	INSERT INTO asset_models (tenant_id, asset_h, sequence, model_hash, node_id, name, detection_source) SELECT tenant, h, 0, repeat('a', 40), '', 'm', 'extracted' FROM n WHERE n % 3 = 0`

// TestDocuments_AreReadByTheirKeysInALibraryThatGrewFast fills a library whose statements were planned
// when it was nearly empty, as those of the indexer are during a first import. Once its grown
// tables were analyzed, reading a batch looks at no more rows than the library has.
func TestDocuments_AreReadByTheirKeysInALibraryThatGrewFast(t *testing.T) {
	t.Parallel()
	const small, large, batch = 20, 3_000, 100
	st, url := storetest.Open(t)
	conn := storetest.Owner(t, url)
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatalf("%.200s: %v", sql, err)
		}
	}
	for _, table := range []string{"assets", "lineage", "asset_parents", "asset_models"} {
		exec(`ALTER TABLE ` + table + ` SET (autovacuum_enabled = false)`) // it would hide what this is about
	}
	tenant := uuid.NewString()
	exec(`SET plan_cache_mode = force_generic_plan`)
	exec(`INSERT INTO tenants (tenant_id, name) VALUES ($1, 'plans')`, tenant)
	exec(`INSERT INTO models (tenant_id, model_hash, type, name, display_name) VALUES ($1, repeat('a', 40), 'checkpoint', 'm', 'm')`, tenant)
	exec(plansLibrary, tenant, 1, small)
	var tenants, keys []string
	for i := range batch {
		tenants, keys = append(tenants, tenant), append(keys, fmt.Sprintf("%040x", i*large/batch+1))
	}
	quote := func(list []string) string { return "ARRAY['" + strings.Join(list, "','") + "']" }
	for i, sql := range indexstate.DocumentStatements() {
		exec(fmt.Sprintf(`PREPARE part%d(text[], text[]) AS %s`, i, sql))
		exec(fmt.Sprintf(`EXPLAIN EXECUTE part%d(%s, %s)`, i, quote(tenants), quote(keys)))
	}
	exec(`SELECT pg_stat_force_next_flush()`)
	exec(plansLibrary, tenant, small+1, large)
	if n, err := st.IndexState.AnalyzeGrownTables(t.Context()); n < 4 || err != nil {
		t.Fatalf("%d tables were analyzed, error %v", n, err)
	}
	if n, err := st.IndexState.AnalyzeGrownTables(t.Context()); n != 0 || err != nil {
		t.Errorf("at once again %d tables were analyzed, error %v", n, err)
	}
	for i, sql := range indexstate.DocumentStatements() {
		if n := explained(t, conn, fmt.Sprintf(`part%d(%s, %s)`, i, quote(tenants), quote(keys))); n > 3*large {
			t.Errorf("%.0f rows were looked at for %d documents of %d by\n%s", n, batch, large, sql)
		}
	}
}

// explained executes a prepared statement and returns how many rows it touched.
func explained(t *testing.T, conn *pgx.Conn, call string) float64 {
	t.Helper()
	var raw []byte
	if err := conn.QueryRow(t.Context(), `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE `+call).Scan(&raw); err != nil {
		t.Fatal(err)
	}
	var plans []struct{ Plan node }
	if err := json.Unmarshal(raw, &plans); err != nil || len(plans) != 1 {
		t.Fatalf("%s: %v", raw, err)
	}
	return plans[0].Plan.touched()
}
