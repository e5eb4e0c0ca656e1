package indexer

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	opensearchgo "github.com/opensearch-project/opensearch-go/v4"

	"vitrine/internal/opensearch"
	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store"
	"vitrine/store/indexstate"
	"vitrine/store/storetest"
)

// env is one library of its own on the real servers.
type env struct {
	t         testing.TB
	ctx       context.Context
	url       string // of the database, as its owner
	searchURL string
	store     *store.Store
	search    *opensearch.Client
	cfg       Config
	actor     library.Actor
	gated     http.RoundTripper // how the indexer reaches OpenSearch; nil means directly
	owner     *pgx.Conn
	ownMu     sync.Mutex
}

func newEnv(t testing.TB) *env {
	t.Helper()
	url := storetest.Database(t)
	brokers, prefix := testenv.Kafka(t)
	searchURL, _ := testenv.OpenSearch(t)
	return newEnvAt(t, url, searchURL, Config{Prefix: prefix, Brokers: brokers, Partitions: 3, eventsOnly: true, Log: slog.New(slog.NewTextHandler(testLog{t}, nil))})
}

func newEnvAt(t testing.TB, url, searchURL string, cfg Config) *env {
	t.Helper()
	ctx := t.Context()
	st, err := store.Open(ctx, store.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Close)
	owner := storetest.Owner(t, url)
	client := newClient(t, searchURL, &http.Transport{MaxIdleConnsPerHost: 8})
	e := &env{t: t, ctx: ctx, url: url, searchURL: searchURL, store: st, search: client, cfg: cfg, owner: owner}
	e.actor = library.Actor{Kind: library.ActorSystem, ID: "test", Tenant: library.TenantID(uuid.NewString())}
	e.exec(`INSERT INTO tenants (tenant_id, name) VALUES ($1, 'test')`, string(e.actor.Tenant))
	return e
}

func newClient(t testing.TB, url string, transport http.RoundTripper) *opensearch.Client {
	t.Helper()
	client, err := opensearchgo.NewClient(opensearchgo.Config{Addresses: []string{url}, DisableRetry: true, Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); (&http.Client{Transport: transport}).CloseIdleConnections() })
	return client
}

// testLog writes the services' log into the test's.
type testLog struct{ t testing.TB }

func (l testLog) Write(b []byte) (int, error) {
	if l.t.Context().Err() == nil {
		l.t.Logf("%s", b[:len(b)-1])
	}
	return len(b), nil
}

func (e *env) exec(sql string, args ...any) {
	e.t.Helper()
	e.ownMu.Lock()
	defer e.ownMu.Unlock()
	if _, err := e.owner.Exec(e.ctx, sql, args...); err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) relay() *Relay {
	e.t.Helper()
	r, err := NewRelay(e.store, e.cfg, NewMetrics())
	if err != nil {
		e.t.Fatal(err)
	}
	return r
}

func (e *env) indexer() *Indexer {
	e.t.Helper()
	client := e.search
	if e.gated != nil {
		client = newClient(e.t, e.searchURL, e.gated)
	}
	x, err := New(e.store, client, e.cfg, NewMetrics())
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(x.Close)
	return x
}

// service is what serve runs.
type service interface{ Run(context.Context) error }

type serviceFunc func(context.Context) error

func (f serviceFunc) Run(ctx context.Context) error { return f(ctx) }

// run starts services and returns what stops them; they are stopped with the test at the
// latest. The index is there before and says that it is complete, so an indexer that finds
// none and fills it cannot hide that events do not arrive.
func (e *env) run(services ...service) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for _, s := range services {
		if x, ok := s.(*Indexer); ok {
			ensured, err := x.EnsureIndex(e.ctx)
			if err == nil && ensured.Created {
				err = e.setComplete(x, ensured.Index)
			}
			if err != nil {
				e.t.Fatal(err)
			}
		}
		wg.Go(func() {
			if err := s.Run(ctx); err != nil {
				e.t.Errorf("%T ended with %v", s, err)
			}
		})
	}
	stop = sync.OnceFunc(func() { cancel(); wg.Wait() })
	e.t.Cleanup(stop)
	return stop
}

// setComplete makes an index say that it is complete, in the present epoch.
func (e *env) setComplete(x *Indexer, index string) error {
	now, err := e.store.IndexState.Epoch(e.ctx)
	if err != nil {
		return err
	}
	return x.setMeta(e.ctx, index, mappings.Meta{Epoch: now.ID, WAL: now.WAL})
}

// newAsset is a small asset whose bytes are its name.
func newAsset(name string) store.NewAsset {
	one, two := sha1.Sum([]byte(name)), sha256.Sum256([]byte(name))
	return store.NewAsset{
		Asset: library.Asset{
			Hash: library.AssetHash(hex.EncodeToString(one[:])), SHA256: hex.EncodeToString(two[:]), BLAKE3: hex.EncodeToString(two[:]),
			Filename: name, MIMEType: "image/png", Size: int64(len(name)), Width: 1024, Height: 768,
			CreatedAt: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC),
		},
		ParserVersion: 1,
	}
}

// typicalAsset is one with a small graph.
func typicalAsset(name string) store.NewAsset {
	n := newAsset(name)
	n.Lineage = library.Lineage{
		Tool: "comfyui", Positive: new("a red cat"), Negative: new("blurry"),
		Models:     []library.ModelUse{{Type: "checkpoint", Name: "XL/juggernaut.safetensors", NodeID: "4"}, {Sequence: 1, Type: "lora", Name: "detail.safetensors", NodeID: "5", Strength: new(0.8)}},
		Parameters: &library.GenerationParameters{Seed: new(uint64(1<<64 - 1)), Steps: new(30), CFGScale: new(7.0), Sampler: new("euler"), Scheduler: new("karras")},
		Workflow: &library.Workflow{ToolName: "comfyui", NodeCount: 2, Source: "extracted", Nodes: []library.NodeUse{
			{ID: "3", Class: "KSampler", Inputs: map[string]string{"cfg": "7.0", "sampler_name": "euler"}},
			{ID: "4", Class: "CheckpointLoaderSimple", Inputs: map[string]string{"ckpt_name": "XL/juggernaut.safetensors"}},
		}},
	}
	return n
}

func (e *env) add(n store.NewAsset) library.Asset {
	e.t.Helper()
	done, err := e.store.Assets.Add(e.ctx, e.actor, n)
	if err != nil {
		e.t.Fatal(err)
	}
	return done.Asset
}

func (e *env) key(h library.AssetHash) indexstate.DocumentKey {
	return indexstate.DocumentKey{Tenant: e.actor.Tenant, Key: string(h)}
}

// stored is what an index has under an asset's identifier.
type stored struct {
	Found   bool              `json:"found"`
	Version int64             `json:"_version"`
	Source  mappings.Document `json:"_source"`
}

func (e *env) get(index string, h library.AssetHash) stored {
	var s stored
	err := opensearch.Call(e.ctx, e.search, http.MethodGet, fmt.Sprintf("/%s/_doc/%s?routing=%s", index, mappings.DocID(e.actor.Tenant, h), e.actor.Tenant), nil, &s)
	if err != nil && statusOf(err) != http.StatusNotFound {
		e.t.Fatal(err)
	}
	return s
}

// located is where the shared index is.
func (e *env) located(context.Context, library.TenantID) (string, bool, error) {
	return e.alias(), true, nil
}

func (e *env) alias() string { return mappings.Names(e.cfg.Prefix).Alias() }

func (e *env) document(h library.AssetHash) mappings.Document { return e.get(e.alias(), h).Source }

// differs compares the index with the rows and says what is wrong, or nothing.
func (e *env) differs(hashes ...library.AssetHash) string { return e.differsIn(e.alias(), hashes...) }

func (e *env) differsIn(index string, hashes ...library.AssetHash) string {
	e.t.Helper()
	keys := make([]indexstate.DocumentKey, len(hashes))
	for i, h := range hashes {
		keys[i] = e.key(h)
	}
	rows, _, err := e.store.Documents.Read(e.ctx, keys)
	if err != nil { // a test may have cut the connection
		return err.Error()
	}
	for i := range rows {
		want := Build(&rows[i])
		have := e.get(index, rows[i].AssetKey.Hash)
		if want.Deleted && !have.Found {
			continue
		}
		if have.Version != want.DocVersion {
			return fmt.Sprintf("%s has version %d in the index, %d in the library", want.AssetH, have.Version, want.DocVersion)
		}
		a, b := asJSON(e.t, want), asJSON(e.t, have.Source)
		if a != b {
			return fmt.Sprintf("%s differs:\nrows:  %s\nindex: %s", want.AssetH, a, b)
		}
	}
	return ""
}

func asJSON(t testing.TB, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// eventually waits until problem has none, and fails with the last one.
func (e *env) eventually(most time.Duration, problem func() string) {
	e.t.Helper()
	end := time.Now().Add(most)
	for {
		p := problem()
		if p == "" {
			return
		}
		if time.Now().After(end) {
			e.t.Fatalf("after %v still: %s; outbox rows %d, %s", most, p, e.backlog(), e.lag())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// throughGate makes the env reach OpenSearch through a gate; its own checks do not.
func (e *env) throughGate(g *gate) {
	e.gated = &http.Transport{MaxIdleConnsPerHost: 8, DialContext: g.dial}
}

// compact is JSON without blanks.
func compact(t testing.TB, doc []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, doc); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// lag returns how far the consumer group is, for a test that failed.
func (e *env) lag() string {
	b := newKafkaClient(e.cfg)
	defer b.Close()
	cfg, err := e.cfg.withDefaults()
	if err != nil {
		return err.Error()
	}
	list, err := b.Offsets(e.ctx, cfg.changesTopic(), cfg.group())
	return fmt.Sprintf("partitions %+v, error %v", list, err)
}
