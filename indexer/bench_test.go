package indexer

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/store"
)

var words = strings.Fields(`portrait castle meadow river golden misty dramatic studio soft vivid ancient forest neon city cathedral
	dragon harbour winter autumn lantern violin marble copper velvet silver storm sunrise valley canyon orchard glacier lighthouse
	masterpiece detailed cinematic volumetric painterly matte bokeh wide angle macro aerial isometric watercolour charcoal gouache`)

// fillLibrary puts n assets of the usual size straight into the tables: 35 words
// of prompt, 8 tags, 3 models, 14 nodes with 50 inputs.
func (e *env) fillLibrary(n int) {
	e.t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(count int) string {
		list := make([]string, count)
		for i := range list {
			list[i] = words[r.IntN(len(words))]
		}
		return strings.Join(list, " ")
	}
	names := []string{"XL/juggernaut_v9.safetensors", "detail_tweaker.safetensors", "vae-ft-mse.safetensors"}
	types := []string{"checkpoint", "lora", "vae"}
	for i := range names {
		e.exec(`INSERT INTO models (tenant_id, model_hash, type, name, display_name, base_model) VALUES ($1, $2, $3, $4, $4, 'SDXL')`,
			string(e.actor.Tenant), string(library.NewModelHash(types[i], names[i])), types[i], names[i])
	}
	var assets, lineages, models [][]any
	for i := range n {
		a := newAsset(fmt.Sprintf("file-%d.png", i)).Asset
		l := library.Lineage{Tool: "comfyui", Positive: new(pick(35)), Negative: new(pick(10)),
			Parameters: &library.GenerationParameters{Seed: new(r.Uint64()), Steps: new(20 + r.IntN(30)), CFGScale: new(float64(r.IntN(12))), Sampler: new("euler"), Scheduler: new("karras")},
			Workflow:   &library.Workflow{ToolName: "comfyui", NodeCount: 14, Source: "extracted"}}
		for j := range 14 {
			node := library.NodeUse{ID: strconv.Itoa(j), Class: "Node" + words[(j*7+i)%len(words)], Inputs: map[string]string{}}
			for k := range 3 + j%2 {
				node.Inputs["input_"+words[k]] = words[r.IntN(len(words))] + strconv.Itoa(r.IntN(100))
			}
			l.Workflow.Nodes = append(l.Workflow.Nodes, node)
		}
		for j, f := range []string{"positive", "negative", "seed", "steps", "cfg_scale", "sampler", "models"} {
			l.Evidence = append(l.Evidence, library.Evidence{Field: f, Place: "png:tEXt:prompt", Node: strconv.Itoa(j), Rule: "comfyui.sampler"})
		}
		doc, err := json.Marshal(l)
		if err != nil {
			e.t.Fatal(err)
		}
		assets = append(assets, []any{string(e.actor.Tenant), string(a.Hash), a.SHA256, a.BLAKE3, pick(4), a.Filename, a.MIMEType, a.Size, 1024, 768,
			strings.Fields(pick(8)), a.CreatedAt.Add(-time.Duration(i) * time.Minute), "test", int64(1)})
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

// TestIndexerSpeed measures the indexer against raw bulk requests of the same
// documents. It needs quiet cores, so it runs only when asked for:
// VITRINE_INDEX_BENCH=20000 go test -run TestIndexerSpeed.
func TestIndexerSpeed(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("VITRINE_INDEX_BENCH"))
	if n == 0 {
		t.Skip("set VITRINE_INDEX_BENCH to a number of documents to measure the indexer's speed")
	}
	e := newEnv(t)
	e.fillLibrary(n)
	x := e.indexer()
	for i := range 3 {
		raw, err := x.MeasureRaw(e.ctx, n)
		if err != nil {
			t.Fatal(err)
		}
		stream, err := x.MeasureStream(e.ctx, e.relay(), n)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("run %d: raw %.0f documents/s (%d bytes each), relay and indexer %.0f documents/s, ratio %.2f",
			i+1, raw.PerSecond(), raw.Bytes/raw.Documents, stream.PerSecond(), stream.PerSecond()/raw.PerSecond())
	}
	_ = store.AssetGone
}
