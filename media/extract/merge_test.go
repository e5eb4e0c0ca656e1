package extract

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/library"
	"vitrine/media/extract/formats"
)

func ptr[T any](v T) *T { return &v }

// graphRecord is what a node graph says.
func graphRecord() formats.Record {
	return formats.Record{Rule: "comfyui", Place: "png:tEXt:prompt", Graph: true, Lineage: library.Lineage{
		Tool: "comfyui", Positive: ptr("a fox"),
		Parameters: &library.GenerationParameters{Seed: ptr(uint64(42)), Steps: ptr(20)},
		Models:     []library.ModelUse{{Type: "checkpoint", Name: "dir/fox.safetensors", NodeID: "4"}},
		Evidence:   []library.Evidence{{Field: "positive", Place: "png:tEXt:prompt", Node: "6", Rule: "text"}},
	}}
}

// textRecord is what a saver node's text says.
func textRecord(l library.Lineage) formats.Record {
	return formats.Record{Rule: "infotext", Place: "png:tEXt:parameters", Lineage: l}
}

func TestMerge_TextFillsWhatTheGraphLacks(t *testing.T) {
	l := merge([]formats.Record{graphRecord(), textRecord(library.Lineage{Tool: "sd-webui", Positive: ptr("a fox"), Negative: ptr("ugly"),
		Parameters: &library.GenerationParameters{Seed: ptr(uint64(42)), Steps: ptr(20), ModelName: ptr("fox")},
		Models:     []library.ModelUse{{Type: "checkpoint", Name: "fox", Hash: "aa"}, {Type: "lora", Name: "other"}}})})
	if l.Tool != "comfyui" || *l.Negative != "ugly" || *l.Parameters.ModelName != "fox" {
		t.Errorf("merged to %+v", l)
	}
	want := []library.ModelUse{{Type: "checkpoint", Name: "dir/fox.safetensors", NodeID: "4", Hash: "aa"}}
	if d := cmp.Diff(want, l.Models); d != "" {
		t.Errorf("the graph's list stands, with the hash added: %s", d)
	}
	if len(l.Conflicts) > 0 {
		t.Errorf("equal values are no conflicts: %v", l.Conflicts)
	}
}

func TestMerge_StaleTextBesideAGraphFillsNothing(t *testing.T) {
	for name, flat := range map[string]library.Lineage{
		"unknown":      {Positive: ptr("unknown"), Negative: ptr("unknown"), Parameters: &library.GenerationParameters{CFGScale: ptr(8.0)}},
		"another seed": {Positive: ptr("a fox"), Negative: ptr("ugly"), Parameters: &library.GenerationParameters{Seed: ptr(uint64(0)), CFGScale: ptr(8.0)}},
	} {
		l := merge([]formats.Record{graphRecord(), textRecord(flat)})
		if l.Negative != nil || l.Parameters.CFGScale != nil {
			t.Errorf("%s: filled %v, %v", name, l.Negative, l.Parameters.CFGScale)
		}
		if len(l.Conflicts) == 0 {
			t.Errorf("%s: the contradiction is not recorded", name)
		}
	}
}

func TestMerge_StaleTextAloneIsWhatTheFileSays(t *testing.T) {
	l := merge([]formats.Record{textRecord(library.Lineage{Positive: ptr("unknown"), Parameters: &library.GenerationParameters{Seed: ptr(uint64(0))}})})
	if l.Positive == nil || l.Parameters.Seed == nil {
		t.Error("without a graph the text is all there is")
	}
}

func TestMerge_SummaryBeforeItsGraphKeepsThePromptAndTakesTheModels(t *testing.T) {
	swarm := formats.Record{Rule: "swarmui", Place: "png:tEXt:parameters", Lineage: library.Lineage{Tool: "swarmui", Positive: ptr("a fox, typed"),
		Parameters: &library.GenerationParameters{ModelName: ptr("fox")}, Models: []library.ModelUse{{Type: "checkpoint", Name: "fox", Hash: "0xaa"}}}}
	l := merge([]formats.Record{swarm, graphRecord()})
	if l.Tool != "swarmui" || *l.Positive != "a fox, typed" || *l.Parameters.ModelName != "fox" || *l.Parameters.Seed != 42 {
		t.Errorf("merged to %+v", l)
	}
	want := []library.ModelUse{{Type: "checkpoint", Name: "dir/fox.safetensors", NodeID: "4", Hash: "0xaa"}}
	if d := cmp.Diff(want, l.Models); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]library.Conflict{{Field: "positive", Taken: "png:tEXt:parameters", Other: "png:tEXt:prompt"}}, l.Conflicts); d != "" {
		t.Error(d)
	}
}

func TestMerge_EveryFieldTellsWhereItWasRead(t *testing.T) {
	l := merge([]formats.Record{graphRecord(), textRecord(library.Lineage{Negative: ptr("ugly")})})
	got := map[string]string{}
	for _, e := range l.Evidence {
		got[e.Field] = e.Place + " " + e.Node + " " + e.Rule
	}
	want := map[string]string{"positive": "png:tEXt:prompt 6 text", "seed": "png:tEXt:prompt  comfyui", "steps": "png:tEXt:prompt  comfyui",
		"models": "png:tEXt:prompt  comfyui", "negative": "png:tEXt:parameters  infotext"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestMerge_NothingFoundIsAnEmptyLineage(t *testing.T) {
	l := merge(nil)
	if l.Models == nil || len(l.Models) != 0 || l.HasGenerationData() {
		t.Errorf("%+v", l)
	}
}

func TestMerge_SamplersAreComparedWithoutSpelling(t *testing.T) {
	for _, same := range [][2]string{{"euler_ancestral", "Euler a"}, {"dpmpp_2m", "DPM++ 2M Karras"}, {"k_euler", "Euler"}, {"euler", "euler_simple"}} {
		if foldSampler(same[0]) != foldSampler(same[1]) {
			t.Errorf("%s and %s are one sampler", same[0], same[1])
		}
	}
	for _, other := range [][2]string{{"euler", "Euler a"}, {"dpmpp_2m", "DPM++ 2M SDE"}, {"ddim", "plms"}} {
		if foldSampler(other[0]) == foldSampler(other[1]) {
			t.Errorf("%s and %s are two samplers", other[0], other[1])
		}
	}
}
