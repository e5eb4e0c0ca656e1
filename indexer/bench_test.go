package indexer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/internal/opensearch"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store"
	"vitrine/store/indexstate"
)

var words = strings.Fields(`portrait castle meadow river golden misty dramatic studio soft vivid ancient forest neon city cathedral
	dragon harbour winter autumn lantern violin marble copper velvet silver storm sunrise valley canyon orchard glacier lighthouse
	masterpiece detailed cinematic volumetric painterly matte bokeh wide angle macro aerial isometric watercolour charcoal gouache`)

// usual makes assets of the usual size: 35 words of prompt, 8 tags, 3 models, 14
// nodes with 50 inputs.
type usual struct{ *rand.Rand }

func (u usual) words(count int) string {
	list := make([]string, count)
	for i := range list {
		list[i] = words[u.IntN(len(words))]
	}
	return strings.Join(list, " ")
}

var (
	usualModels = []string{"XL/juggernaut_v9.safetensors", "detail_tweaker.safetensors", "vae-ft-mse.safetensors"}
	usualTypes  = []string{"checkpoint", "lora", "vae"}
)

func (u usual) asset(i int) store.NewAsset {
	n := newAsset(fmt.Sprintf("file-%d.png", i))
	n.Asset.Title, n.Asset.Tags = u.words(4), strings.Fields(u.words(8))
	n.Asset.CreatedAt = n.Asset.CreatedAt.Add(-time.Duration(i) * time.Minute)
	l := &n.Lineage
	*l = library.Lineage{Tool: "comfyui", Positive: new(u.words(35)), Negative: new(u.words(10)),
		Parameters: &library.GenerationParameters{Seed: new(u.Uint64()), Steps: new(20 + u.IntN(30)), CFGScale: new(float64(u.IntN(12))), Sampler: new("euler"), Scheduler: new("karras")},
		Workflow:   &library.Workflow{ToolName: "comfyui", NodeCount: 14, Source: "extracted"}}
	for j := range 14 {
		node := library.NodeUse{ID: strconv.Itoa(j), Class: "Node" + words[(j*7+i)%len(words)], Inputs: map[string]string{}}
		for k := range 3 + j%2 {
			node.Inputs["input_"+words[k]] = words[u.IntN(len(words))] + strconv.Itoa(u.IntN(100))
		}
		l.Workflow.Nodes = append(l.Workflow.Nodes, node)
	}
	for j, f := range []string{"positive", "negative", "seed", "steps", "cfg_scale", "sampler", "models"} {
		l.Evidence = append(l.Evidence, library.Evidence{Field: f, Place: "png:tEXt:prompt", Node: strconv.Itoa(j), Rule: "comfyui.sampler"})
	}
	for j, m := range usualModels {
		l.Models = append(l.Models, library.ModelUse{Sequence: j, Type: usualTypes[j], Name: m, NodeID: strconv.Itoa(j), Strength: new(0.8)})
	}
	return n
}

// fillLibrary puts n usual assets straight into the tables.
func (e *env) fillLibrary(n int) {
	e.t.Helper()
	u := usual{rand.New(rand.NewPCG(1, 2))}
	names, types := usualModels, usualTypes
	for i := range names {
		e.exec(`INSERT INTO models (tenant_id, model_hash, type, name, display_name, base_model) VALUES ($1, $2, $3, $4, $4, 'SDXL')`,
			string(e.actor.Tenant), string(library.NewModelHash(types[i], names[i])), types[i], names[i])
	}
	var assets, lineages, models [][]any
	for i := range n {
		asset := u.asset(i)
		a := asset.Asset
		doc, err := json.Marshal(asset.Lineage)
		if err != nil {
			e.t.Fatal(err)
		}
		assets = append(assets, []any{string(e.actor.Tenant), string(a.Hash), a.SHA256, a.BLAKE3, a.Title, a.Filename, a.MIMEType, a.Size, 1024, 768,
			a.Tags, a.CreatedAt, "test", int64(1)})
		lineages = append(lineages, []any{string(e.actor.Tenant), string(a.Hash), "extracted", 1, "comfyui", doc})
		for j := range names {
			models = append(models, []any{string(e.actor.Tenant), string(a.Hash), j, string(library.NewModelHash(types[j], names[j])), strconv.Itoa(j), names[j], 0.8, "extracted"})
		}
	}
	e.copyIn("assets", assets, "tenant_id", "asset_h", "sha256", "blake3", "title", "filename", "mime_type", "size", "width", "height", "tags", "created_at", "created_by", "doc_version")
	e.copyIn("lineage", lineages, "tenant_id", "asset_h", "source", "parser_version", "tool", "doc")
	e.copyIn("asset_models", models, "tenant_id", "asset_h", "sequence", "model_hash", "node_id", "name", "weight", "detection_source")
	e.exec(`ANALYZE`)
}

func (e *env) copyIn(table string, rows [][]any, columns ...string) {
	e.t.Helper()
	e.ownMu.Lock()
	defer e.ownMu.Unlock()
	if _, err := e.owner.CopyFrom(e.ctx, pgx.Identifier{table}, columns, pgx.CopyFromRows(rows)); err != nil {
		e.t.Fatal(err)
	}
}

// BenchmarkIndexer measures the indexer against raw bulk requests of the same
// documents, VITRINE_INDEX_BENCH of them or 20,000. It needs quiet cores: `make bench-indexer`.
func BenchmarkIndexer(b *testing.B) {
	n, _ := strconv.Atoi(cmp.Or(os.Getenv("VITRINE_INDEX_BENCH"), "20000"))
	e := newEnv(b)
	e.fillLibrary(n)
	x := e.indexer()
	for b.Loop() {
		raw, err := x.MeasureRaw(e.ctx, n)
		if err != nil {
			b.Fatal(err)
		}
		stream, err := x.MeasureStream(e.ctx, e.relay(), n)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(raw.PerSecond(), "raw_docs/s")
		b.ReportMetric(stream.PerSecond(), "docs/s")
		b.ReportMetric(stream.PerSecond()/raw.PerSecond(), "ratio")
	}
}

// BenchmarkIndexerLatency measures how long after its commit a change is searchable, for a search
// that waits for it and for one that does not, in milliseconds: of 20 changes one after the other.
func BenchmarkIndexerLatency(b *testing.B) {
	e := newEnv(b)
	a := e.add(typicalAsset("a"))
	e.run(e.relay(), e.indexer())
	e.eventually(time.Minute, func() string { return e.differs(a.Hash) })
	w := NewWaiter(e.search, e.located, NewMetrics())
	for b.Loop() {
		var awaited, shown []float64
		for i := range 20 {
			done, err := e.store.Assets.Change(e.ctx, e.actor, []library.AssetHash{a.Hash}, func(a *library.Asset) { a.Title = fmt.Sprint("title ", b.N, " ", i) })
			if err != nil {
				b.Fatal(err)
			}
			versions, err := e.store.Operations.Versions(e.ctx, e.actor.Tenant, indexstate.AssetIndex, done.OperationID)
			if err != nil || len(versions) != 1 {
				b.Fatalf("%v %v", versions, err)
			}
			began, write := time.Now(), []Write{{versions[0].Key, versions[0].Version}}
			if i%2 == 0 {
				for !w.Await(e.ctx, e.actor.Tenant, write, MaxWait) {
				}
				awaited = append(awaited, time.Since(began).Seconds()*1000)
				continue
			}
			e.eventually(time.Minute, func() string { return e.unshown(versions[0].Version) })
			shown = append(shown, time.Since(began).Seconds()*1000)
		}
		slices.Sort(awaited)
		slices.Sort(shown)
		b.ReportMetric(awaited[len(awaited)/2], "awaited_ms")
		b.ReportMetric(shown[len(shown)/2], "shown_ms")
	}
}

// unshown asks whether a search shows the version of the one asset yet.
func (e *env) unshown(version int64) string {
	var found struct {
		Count int64 `json:"count"`
	}
	err := opensearch.Call(e.ctx, e.search, http.MethodPost, "/"+e.alias()+"/_count", map[string]any{"query": map[string]any{"term": map[string]any{"doc_version": version}}}, &found)
	if err != nil || found.Count != 1 {
		return fmt.Sprintf("version %d is not searchable, error %v", version, err)
	}
	return ""
}

// BenchmarkBatch is the work between PostgreSQL and OpenSearch, per document.
func BenchmarkBatch(b *testing.B) {
	u := usual{rand.New(rand.NewPCG(1, 2))}
	docs := make([]indexstate.DocumentRow, 100)
	for i := range docs {
		docs[i] = *rowOf(u.asset(i))
	}
	rows, assets := assetRows(docs), &Definition{Index: mappings.AssetIndex()}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		newBatch(assets, rows[i%100:i%100+1], nil, nil)
	}
}
