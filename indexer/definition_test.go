package indexer

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/internal/kafkaclient"
	"vitrine/internal/opensearch"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store"
	"vitrine/store/indexstate"
)

// trials is a second index: of the rows of a table that only tests have.
type trials struct {
	*env
	def *Definition
}

// trial is a row, and its document.
type trial struct {
	Tenant  library.TenantID `json:"tenant_id"`
	ID      string           `json:"trial_id"`
	Version int64            `json:"doc_version"`
	Deleted bool             `json:"deleted"`
	Name    string           `json:"name"`
	Size    int64            `json:"size,omitempty"`
	Problem string           `json:"problem,omitempty"`
}

// Whole implements Content.
func (r trial) Whole(dst []byte, version int64) (doc []byte, text string) {
	r.Version = version
	b, _ := json.Marshal(r) // strings and numbers
	return append(dst, b...), r.Name
}

// Partial implements Content: an index may refuse the size.
func (r trial) Partial(dst []byte, version int64, reason string) []byte {
	r.Size, r.Problem = 0, reason
	doc, _ := r.Whole(dst, version)
	return doc
}

// Named implements Content.
func (r trial) Named(dst []byte, version int64, reason string) []byte {
	return r.Partial(dst, version, reason)
}

// newTrials makes the table in an env's database and gives the env's indexers the index.
func newTrials(e *env) *trials {
	e.t.Helper()
	e.exec(`CREATE TABLE trials (tenant_id uuid NOT NULL, trial_id text COLLATE "C" NOT NULL, name text NOT NULL, size bigint NOT NULL DEFAULT 0,
		doc_version bigint NOT NULL DEFAULT 1, updated_at timestamptz NOT NULL DEFAULT now(), deleted_at timestamptz, PRIMARY KEY (tenant_id, trial_id))`)
	e.exec(`SELECT tenant_table('trials')`)
	table := e.store.Documents.Table("trials", "trials", "trial_id")
	keyword := mappings.Mapping{Type: "keyword"}
	r := &trials{env: e}
	r.def = Definition{
		Index: mappings.NewIndex("trials", 1, "trial_id", map[string]mappings.Mapping{"name": {Type: "text", Analyzer: "prompt"}, "size": {Type: "integer"}, "problem": keyword}),
		Read: func(ctx context.Context, keys []indexstate.DocumentKey) ([]Row, []indexstate.Generation, error) {
			found := make([]trial, len(keys))
			heads, generations, err := table.Read(ctx, keys, indexstate.DocumentPart{
				SQL: `SELECT k.ord, d.name, d.size FROM ` + indexstate.DocumentKeysSQL + ` JOIN trials d ON d.tenant_id = k.tenant_id AND d.trial_id = k.key`,
				Scan: func(row pgx.Rows) error {
					var ord int
					var t trial
					if err := row.Scan(&ord, &t.Name, &t.Size); err != nil {
						return err
					}
					found[ord-1] = t
					return nil
				}})
			rows := make([]Row, len(heads))
			for i, h := range heads {
				found[i].Tenant, found[i].ID = h.Tenant, h.Key
				rows[i] = Row{h, found[i]}
			}
			return rows, generations, err
		},
	}.Table(table)
	e.cfg.definitions = []*Definition{r.def}
	return r
}

// put inserts or changes a row, and tells the index of it.
func (r *trials) put(id, name string, size int64) {
	r.t.Helper()
	r.exec(`WITH put AS (INSERT INTO trials (tenant_id, trial_id, name, size) VALUES ($1, $2, $3, $4)
		ON CONFLICT (tenant_id, trial_id) DO UPDATE SET name = excluded.name, size = excluded.size, deleted_at = NULL, doc_version = trials.doc_version + 1, updated_at = now()
		RETURNING tenant_id, trial_id, doc_version)
		INSERT INTO outbox (tenant_id, key, doc_version, reason, index_name) SELECT tenant_id, trial_id, doc_version, 'put', 'trials' FROM put`,
		string(r.actor.Tenant), id, name, size)
}

func (r *trials) delete(id string) {
	r.t.Helper()
	r.exec(`WITH gone AS (UPDATE trials SET deleted_at = now(), doc_version = doc_version + 1, updated_at = now() WHERE tenant_id = $1 AND trial_id = $2
		RETURNING tenant_id, trial_id, doc_version)
		INSERT INTO outbox (tenant_id, key, doc_version, reason, index_name) SELECT tenant_id, trial_id, doc_version, 'deleted', 'trials' FROM gone`, string(r.actor.Tenant), id)
}

func (r *trials) alias() string { return r.def.Index.Names(r.cfg.Prefix).Alias() }

// document returns what the index has of a row: its version is 0 where there is nothing.
func (r *trials) document(id string) (t trial, vector []float32) {
	r.t.Helper()
	var found struct {
		Version int64           `json:"_version"`
		Source  json.RawMessage `json:"_source"`
	}
	err := opensearch.Call(r.ctx, r.search, http.MethodGet, fmt.Sprintf("/%s/_doc/%s?routing=%s", r.alias(), mappings.DocumentID(r.actor.Tenant, id), r.actor.Tenant), nil, &found)
	if err != nil || found.Source == nil {
		return trial{}, nil
	}
	var vectors map[string]json.RawMessage
	if err := json.Unmarshal(found.Source, &t); err != nil {
		r.t.Fatal(err)
	}
	_ = json.Unmarshal(found.Source, &vectors)
	for name, raw := range vectors {
		if len(name) > 4 && name[:4] == "vec_" {
			_ = json.Unmarshal(raw, &vector)
		}
	}
	if t.Version != found.Version {
		r.t.Errorf("%s says version %d and is version %d", id, t.Version, found.Version)
	}
	return t, vector
}

// shows waits until the index has a row as it was put last, with its vector where it has an embedder.
func (r *trials) shows(id, name string, version int64) {
	r.t.Helper()
	r.eventually(time.Minute, func() string {
		got, vector := r.document(id)
		if got.Name != name || got.Version != version || got.Deleted || r.cfg.Embedder != nil && len(vector) != 4 {
			return fmt.Sprintf("%s is %+v with a vector of %d; want %q, version %d", id, got, len(vector), name, version)
		}
		return ""
	})
}

// TestDefinition_SecondIndexFollowsItsTableBesideTheAssets: a change, a deletion, a vector
// and a refused document of another noun take the way that those of assets take.
func TestDefinition_SecondIndexFollowsItsTableBesideTheAssets(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	r := newTrials(newMeaningEnv(t, p))
	x := r.indexer()
	r.run(r.relay(), x)
	a := r.add(typicalAsset("a"))
	r.put("one", "a fox in the snow", 1)
	r.put("two", "a lighthouse", 1<<40) // beyond the index's integer
	r.shows("one", "a fox in the snow", 1)
	r.eventually(time.Minute, func() string {
		if two, _ := r.document("two"); two.Name != "a lighthouse" || two.Size != 0 || two.Problem == "" {
			return fmt.Sprintf("the document with a refused part is %+v", two)
		}
		return ""
	})
	r.eventually(time.Minute, func() string { return r.failures(1) })
	r.put("one", "two foxes", 2)
	r.put("two", "a lighthouse", 3)
	r.shows("one", "two foxes", 2)
	r.shows("two", "a lighthouse", 2)
	r.eventually(time.Minute, func() string { return r.failures(0) })
	r.delete("one")
	r.eventually(time.Minute, func() string {
		if one, _ := r.document("one"); !one.Deleted || one.Name != "" {
			return fmt.Sprintf("the deleted row is %+v", one)
		}
		return ""
	})
	r.eventually(time.Minute, func() string {
		if said, _ := r.embedded(r.env.alias(), a.Hash); said != mappings.EmbeddedReady {
			return "the asset has no vector but is " + said
		}
		return ""
	})

	// A message about an index that this release does not have is put aside.
	m, err := newMessage(&store.OutboxRow{Index: "unknown", DocumentKey: indexstate.DocumentKey{Tenant: r.actor.Tenant, Key: "x"}, CreatedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	r.publish(kafkaclient.Message{Key: m.Key, Value: m.Value})
	r.eventually(time.Minute, func() string { return noneBut(r.deadLetters(x), 1) })
}

func (r *trials) failures(want int64) string {
	missing, partial, err := r.store.IndexFailures.Count(r.ctx, "trials")
	assets, _, err2 := r.store.IndexFailures.Count(r.ctx, indexstate.AssetIndex)
	if missing != 0 || partial != want || assets != 0 || err != nil || err2 != nil {
		return fmt.Sprintf("%d missing, %d partial, %d of assets, errors %v %v", missing, partial, assets, err, err2)
	}
	return ""
}

// TestDefinition_SecondIndexIsComparedRebuiltAndMadeAnew: every work on whole indices is
// done to each.
func TestDefinition_SecondIndexIsComparedRebuiltAndMadeAnew(t *testing.T) {
	t.Parallel()
	r := newTrials(newEnv(t))
	r.cfg.eventsOnly = false
	x := r.indexer()
	if err := x.eachShared(r.ctx, func(x *Indexer) error { _, err := x.EnsureIndex(r.ctx); return err }); err != nil {
		t.Fatal(err)
	}
	var hashes []library.AssetHash
	for i := range 3 {
		hashes = append(hashes, r.add(newAsset(fmt.Sprint(i))).Hash)
	}
	for i := range 5 {
		r.put(fmt.Sprint("row", i), fmt.Sprint("name ", i), 1)
	}
	r.delete("row4")
	if found := r.inspect(x); found[0].Missing != 3 || found[1].Missing != 4 || found[1].Rows != 4 || found[1].Index != "trials" {
		t.Errorf("doctor finds %+v", found)
	}
	// Missing, stale and orphaned documents are found and repaired.
	got, err := x.Reconcile(r.ctx, nil)
	if err != nil || got.Missing != 7 || got.Count != 7 || got.Remaining != 0 {
		t.Errorf("first comparison: %+v, error %v", got, err)
	}
	r.shows("row0", "name 0", 1)
	r.exec(`UPDATE trials SET name = 'changed', doc_version = doc_version + 1 WHERE trial_id = 'row0'`)
	r.exec(`UPDATE trials SET deleted_at = now(), doc_version = doc_version + 1 WHERE trial_id = 'row1'`)
	if got, err = x.Reconcile(r.ctx, nil); err != nil || got.Stale != 1 || got.Orphans != 1 || got.Count != 6 || got.Remaining != 0 {
		t.Errorf("second comparison: %+v, error %v", got, err)
	}
	r.shows("row0", "changed", 2)

	r.rebuildsBoth(x)
	names := r.def.Index.Names(r.cfg.Prefix)

	// One that is gone is made anew and filled; that of assets is left alone.
	r.ask(http.MethodDelete, "/"+names.Index(1), nil)
	if got, err = x.Reconcile(r.ctx, nil); err != nil || got.Count != 6 || got.FixedFirst == "" {
		t.Errorf("after the loss: %+v, error %v", got, err)
	}
	r.shows("row0", "changed", 2)
	if problem := r.searchable(x, hashes...); problem != "" {
		t.Error(problem)
	}

	// What went away long ago leaves the index.
	r.exec(`UPDATE trials SET deleted_at = now() - interval '30 days', doc_version = doc_version + 1 WHERE trial_id = 'row2'`)
	r.exec(`INSERT INTO outbox (tenant_id, key, doc_version, reason, index_name) SELECT tenant_id, trial_id, doc_version, 'deleted', 'trials' FROM trials WHERE trial_id = 'row2'`)
	r.run(r.relay(), x)
	r.eventually(time.Minute, func() string { two, _ := r.document("row2"); return noneBut(two.Version, 2) })
	if n, err := x.PurgeTombstones(r.ctx); n != 1 || err != nil {
		t.Errorf("%d tombstones were purged, error %v", n, err)
	}
	if found := r.inspect(x); !found[0].Agrees() || !found[1].Agrees() || found[1].Documents != 2 {
		t.Errorf("in the end doctor finds %+v", found)
	}
}

// rebuildsBoth rebuilds both indices, each behind its alias, and rolls them back.
func (r *trials) rebuildsBoth(x *Indexer) {
	t := r.t
	t.Helper()
	built, err := x.Rebuild(r.ctx, nil)
	if err != nil || built.Count != 6 || built.Index != mappings.Names(r.cfg.Prefix).Index(2) {
		t.Errorf("rebuild: %+v, error %v", built, err)
	}
	names := r.def.Index.Names(r.cfg.Prefix)
	if live, err := x.of(r.def).liveIndex(r.ctx); live != names.Index(2) || err != nil {
		t.Errorf("the live index is %s, error %v", live, err)
	}
	r.shows("row0", "changed", 2)
	if _, err := x.Rollback(r.ctx, nil); err != nil {
		t.Error(err)
	}
	if live, err := x.of(r.def).liveIndex(r.ctx); live != names.Index(1) || err != nil {
		t.Errorf("after the rollback the live index is %s, error %v", live, err)
	}
}

func (r *trials) inspect(x *Indexer) []Inspection {
	r.t.Helper()
	found, err := x.Inspect(r.ctx, time.Minute)
	if err != nil || len(found) != 4 || found[0].Index != indexstate.AssetIndex {
		r.t.Fatalf("%+v, error %v", found, err)
	}
	return []Inspection{found[0], found[3]} // those of prompts and prospects are empty
}
