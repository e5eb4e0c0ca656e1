package indexer

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store"
	"vitrine/store/indexstate"
)

const testTenant = library.TenantID("11111111-2222-3333-4444-555555555555")

// rowOf is the row of an asset that the store would read for it.
func rowOf(n store.NewAsset) *indexstate.DocumentRow {
	doc, err := json.Marshal(n.Lineage)
	if err != nil {
		panic(err)
	}
	r := &indexstate.DocumentRow{
		AssetKey: library.AssetKey{Tenant: testTenant, Hash: n.Asset.Hash}, State: indexstate.DocumentLive, Version: 7,
		Asset: n.Asset, LineageSource: library.LineageExtracted, Document: mappings.Document{Tool: n.Lineage.Tool}, Lineage: doc, Root: n.Asset.Hash,
	}
	for _, m := range n.Lineage.Models {
		r.Models = append(r.Models, indexstate.DocumentModel{Name: m.Name, NodeID: m.NodeID, Weight: m.Strength,
			KnownModel: &indexstate.KnownModel{Hash: library.NewModelHash(m.Type, m.Name), Type: m.Type, DisplayName: m.Name}})
	}
	return r
}

func typicalDocument() mappings.Document { return Build(rowOf(typicalAsset("a.png"))) }

func TestBuild_OfATypicalAsset(t *testing.T) {
	t.Parallel()
	n := typicalAsset("a.png")
	n.Asset.Title, n.Asset.Tags, n.Asset.Status = "Cat", []string{"Red_Hair", "red hair", "Portrait"}, library.StatusApproved
	n.Asset.StoredAt = time.Date(2025, 1, 2, 3, 4, 5, 678901, time.FixedZone("", 3600))
	h := string(n.Asset.Hash)
	checkpoint, lora := string(library.NewModelHash("checkpoint", "juggernaut")), string(library.NewModelHash("lora", "detail"))
	want := mappings.Document{
		TenantID: testTenant, AssetH: n.Asset.Hash, DocVersion: 7,
		SHA256: n.Asset.SHA256, BLAKE3: n.Asset.BLAKE3, Title: "Cat", Filename: "a.png", Status: library.StatusApproved,
		Tags: []string{"Red_Hair", "red hair", "Portrait"}, TagsNorm: []string{"red hair", "portrait"}, TagCount: 3,
		MIMEType: "image/png", MediaType: "image", SizeBytes: 5, Width: 1024, Height: 768, Dimensions: "1024x768",
		Aspect: new(1.3333), Megapixels: new(0.7864),
		Created: new(time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)), Stored: new(time.Date(2025, 1, 2, 2, 4, 5, 0, time.UTC)),
		LineageSource: "extracted", AI: true, Tool: "comfyui", Prompt: "a red cat", NegativePrompt: "blurry", PromptHash: promptHash("a red cat"),
		Params: []string{"seed=18446744073709551615", "18446744073709551615", "steps=30", "30", "cfg_scale=7", "7", "cfg=7",
			"sampler=euler", "euler", "scheduler=karras", "karras"},
		Seed: new(uint64(math.MaxUint64)), Steps: new(30), CFG: new(7.0), Sampler: "euler", Scheduler: "karras",
		ModelNames: []string{"juggernaut", "detail"}, ModelHashes: []string{checkpoint, lora}, ModelTypes: []string{"checkpoint", "lora"},
		ModelWeights: []float64{0.8}, ModelWeightPairs: []string{"detail=0.80"}, CheckpointNames: []string{"juggernaut"}, LoraNames: []string{"detail"},
		GTNodes:     []string{"KSampler", "CheckpointLoaderSimple"},
		GTNodeProps: []string{"KSampler.cfg=7", "KSampler.sampler_name=euler", "CheckpointLoaderSimple.ckpt_name=XL/juggernaut.safetensors"},
		GTNodeCount: 2, GTModels: []string{"juggernaut", "detail"}, GTModelTypes: []string{"checkpoint", "lora"}, GTModelHashes: []string{checkpoint, lora},
		HasPrompt: true, HasNegativePrompt: true, HasWorkflow: true, HasModels: true, HasLineage: true,
	}
	if diff := cmp.Diff(want, Build(rowOf(n))); diff != "" {
		t.Errorf("document of %s (-want +got):\n%s", h, diff)
	}
}

func TestBuild(t *testing.T) {
	t.Parallel()
	for _, tt := range builtDocuments {
		t.Run(tt.promise, func(t *testing.T) {
			n := typicalAsset("a.png")
			r := rowOf(n)
			l := n.Lineage
			r.Lineage = nil
			tt.edit(r, &l)
			if r.Lineage == nil {
				r.Lineage, _ = json.Marshal(l)
			}
			if d := Build(r); !tt.check(d) {
				t.Errorf("document = %s", appendDocument(nil, &d))
			}
		})
	}
}

// manyNodes returns a graph with more inputs of nodes than a document lists, some of them long.
func manyNodes() *library.Workflow {
	w := &library.Workflow{}
	for i := range 300 {
		w.Nodes = append(w.Nodes, library.NodeUse{Class: "N", Inputs: map[string]string{
			"a": fmt.Sprint("x", i), "b": fmt.Sprint("y", i), "long": strings.Repeat("z", 200)}})
	}
	return w
}

// builtDocuments are rows of assets, edited, and what their documents must be like.
var builtDocuments = []struct {
	promise string
	edit    func(*indexstate.DocumentRow, *library.Lineage)
	check   func(mappings.Document) bool
}{
	{"an asset without lineage is not AI-made and has no chain", func(r *indexstate.DocumentRow, l *library.Lineage) {
		*l, r.LineageSource, r.Document.Tool, r.Models = library.Lineage{}, library.LineageUnknown, "", nil
	}, func(d mappings.Document) bool {
		return !d.AI && !d.HasLineage && !d.HasPrompt && !d.HasModels && !d.Chain && d.LineageRoot == "" && d.LineageSource == "unknown" && d.Tool == ""
	}},
	{"a claim counts as the source only where the file says nothing", func(r *indexstate.DocumentRow, l *library.Lineage) {
		r.LineageSource, r.Assertion = library.LineageUnknown, []byte("{}")
	}, func(d mappings.Document) bool { return d.LineageSource == library.LineageAsserted }},
	{"extracted wins over a claim", func(r *indexstate.DocumentRow, l *library.Lineage) { r.Assertion = []byte("{}") },
		func(d mappings.Document) bool { return d.LineageSource == library.LineageExtracted }},
	{"unreadable lineage leaves the asset findable and says so", func(r *indexstate.DocumentRow, l *library.Lineage) { r.Lineage = []byte("{") },
		func(d mappings.Document) bool {
			return d.IndexError != "" && d.Filename == "a.png" && d.Tool == "comfyui" && d.HasModels
		}},
	{"parents and children make a chain with its root", func(r *indexstate.DocumentRow, l *library.Lineage) {
		r.Parents = []indexstate.DocumentParent{{Name: "in.png", Asset: "p1"}, {Name: "in.png"}, {Name: "mask.png"}}
		r.Root, r.Children = "root", 2
	}, func(d mappings.Document) bool {
		return d.Chain && d.HasParent && d.HasChild && d.ChildCount == 2 && d.LineageRoot == "root" &&
			cmp.Equal(d.ParentHs, []library.AssetHash{"p1"}) && cmp.Equal(d.ParentNames, []string{"in.png", "mask.png"})
	}},
	{"a named parent that is not in the library makes no chain", func(r *indexstate.DocumentRow, l *library.Lineage) {
		r.Parents = []indexstate.DocumentParent{{Name: "in.png"}}
	}, func(d mappings.Document) bool {
		return !d.Chain && !d.HasParent && len(d.ParentNames) == 1 && d.LineageRoot == ""
	}},
	{"a root that only has children is its own root", func(r *indexstate.DocumentRow, l *library.Lineage) { r.Children = 1 },
		func(d mappings.Document) bool { return d.Chain && d.LineageRoot == d.AssetH && !d.HasParent }},
	{"the parent an uploader names counts as one", func(r *indexstate.DocumentRow, l *library.Lineage) { r.Asset.Parent, r.Root = "up", "up" },
		func(d mappings.Document) bool {
			return d.HasParent && d.LineageRoot == "up" && cmp.Equal(d.ParentHs, []library.AssetHash{"up"})
		}},
	{"the prompts of regions are searched too", func(r *indexstate.DocumentRow, l *library.Lineage) {
		l.Regions = []library.PromptRegion{{Kind: "area", Positive: new("a blue dog")}, {Kind: "area", Positive: new("a red cat")}}
	}, func(d mappings.Document) bool {
		return d.Prompt == "a red cat\na blue dog" && d.PromptHash == promptHash("A  red cat")
	}},
	{"node inputs are capped and long values left out", func(r *indexstate.DocumentRow, l *library.Lineage) { l.Workflow = manyNodes() },
		func(d mappings.Document) bool {
			return len(d.GTNodeProps) == mappings.MaxNodeProps && !strings.Contains(strings.Join(d.GTNodeProps, " "), "zzz") && len(d.GTNodes) == 1
		}},
	{"without a graph there are no graph models", func(r *indexstate.DocumentRow, l *library.Lineage) { l.Workflow = nil },
		func(d mappings.Document) bool {
			return len(d.GTModels) == 0 && len(d.ModelNames) == 2 && !d.HasWorkflow
		}},
	{"a model goes by all its hashes and names", func(r *indexstate.DocumentRow, l *library.Lineage) {
		r.Models[0].DisplayName, r.Models[0].ContentHash, r.Models[0].ContentHashes = "Juggernaut XL", "sha256:abc", []string{"def"}
		r.Models[0].TriggerWords, r.Models[0].BaseModel = []string{"jug"}, "SDXL"
	}, func(d mappings.Document) bool {
		return cmp.Equal(d.ModelNames, []string{"juggernaut", "Juggernaut XL", "detail"}) && cmp.Equal(d.ModelHashes[1:4], []string{"sha256:abc", "abc", "def"}) &&
			cmp.Equal(d.TriggerWords, []string{"jug"}) && cmp.Equal(d.BaseModels, []string{"sdxl"})
	}},
	{"a model used twice is named once, with both weights", func(r *indexstate.DocumentRow, l *library.Lineage) {
		again := r.Models[1]
		again.Weight = new(0.5)
		r.Models = append(r.Models, again)
	}, func(d mappings.Document) bool {
		return len(d.LoraNames) == 1 && cmp.Equal(d.ModelWeights, []float64{0.8, 0.5}) && cmp.Equal(d.ModelWeightPairs, []string{"detail=0.80", "detail=0.50"})
	}},
	{"the image tool's own fields", func(r *indexstate.DocumentRow, l *library.Lineage) {
		l.ImageTool = &library.ImageTool{Command: "imagine", Version: "6.1", JobType: "grid", Author: "ann", Index: new(3), Flags: map[string]string{"ar": "16:9", "stylize": "100"}}
	}, func(d mappings.Document) bool {
		params := strings.Join(d.Params, " ")
		return d.ImageToolCommand == "imagine" && d.ImageToolVersion == "6.1" && d.ImageToolType == "grid" && d.JobType == "grid" && d.Creator == "ann" &&
			*d.ImageToolBatch == 3 && strings.Contains(params, "ar=16:9") && strings.Contains(params, "stylize=100")
	}},
	{"a date outside of what an index holds is left out", func(r *indexstate.DocumentRow, l *library.Lineage) {
		r.Asset.CreatedAt = time.Date(12024, 1, 1, 0, 0, 0, 0, time.UTC)
	}, func(d mappings.Document) bool { return d.Created == nil }},
	{"its own metadata is searched by key and value", func(r *indexstate.DocumentRow, l *library.Lineage) {
		r.Asset.Metadata = map[string]any{"Client": "Acme", "shot": map[string]any{"take": 7.0}}
	}, func(d mappings.Document) bool {
		return cmp.Equal(d.Metadata, []string{"client=Acme", "shot.take=7"}) && cmp.Equal(d.MetadataKeys, []string{"metadata.client", "metadata.shot", "metadata.shot.take"}) &&
			cmp.Equal(d.MetadataValues, []string{"7", "Acme"}) && cmp.Equal(d.MetadataRanks, []string{"shot.take=" + mappings.NumberRank(7)})
	}},
	{"a file without dimensions has no aspect", func(r *indexstate.DocumentRow, l *library.Lineage) { r.Asset.Width, r.Asset.Height = 0, 0 },
		func(d mappings.Document) bool { return d.Aspect == nil && d.Megapixels == nil && d.Dimensions == "" }},
	{"content credentials of a generator make it AI-made", func(r *indexstate.DocumentRow, l *library.Lineage) {
		*l = library.Lineage{C2PA: &library.C2PA{SourceType: "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"}}
	}, func(d mappings.Document) bool { return d.AI && d.HasLineage }},
	{"content credentials of a camera do not", func(r *indexstate.DocumentRow, l *library.Lineage) {
		*l = library.Lineage{C2PA: &library.C2PA{SourceType: "http://cv.iptc.org/newscodes/digitalsourcetype/digitalCapture"}}
	}, func(d mappings.Document) bool { return !d.AI && d.HasLineage }},
}

func TestBuild_WhatIsGoneIsATombstoneAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, state := range []indexstate.DocumentState{indexstate.DocumentGone, indexstate.DocumentTrashed} {
		r := rowOf(typicalAsset("a.png"))
		r.State = state
		want := mappings.Document{TenantID: testTenant, AssetH: r.AssetKey.Hash, DocVersion: 7, Deleted: true}
		if diff := cmp.Diff(want, Build(r)); diff != "" {
			t.Errorf("state %d: %s", state, diff)
		}
	}
}

func TestBuild_ModelStem(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		`SDXL\Juggernaut_XL.safetensors`: "Juggernaut_XL", "a/b/c.ckpt": "c", "v1.5": "v1.5", " Padded.GGUF ": "Padded", "": "", "x/": "",
	} {
		if got := modelStem(name); got != want {
			t.Errorf("modelStem(%q) = %q, want %q", name, got, want)
		}
	}
}
