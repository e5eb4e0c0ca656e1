package library

import (
	"encoding/json"
	"testing"
)

// TestRun_FileCountsAndClaimsFillGaps compares claims with what a file says.
func TestRun_FileCountsAndClaimsFillGaps(t *testing.T) {
	seed, other, steps, cfg, sampler, prompt := uint64(1<<63+1), uint64(1<<63), 20, 7.0, "euler", "a  Red\nfox"
	file := Lineage{Positive: &prompt, Parameters: &GenerationParameters{Seed: &seed, Steps: &steps, CFGScale: &cfg, Sampler: &sampler}, Models: []ModelUse{{Type: "vae", Name: "v.pt"}, {Type: "checkpoint", Name: "sdxl/Base_1.0.safetensors"}}}
	same, model := "a red fox", "base_1.0"
	r := Run{Lineage: file, Claim: RunClaim{Seed: &other, Prompt: &same, Model: &model, ConditionID: "a", Params: map[string]any{"CFG Scale": json.Number("7.0"), "sampler_name": "Euler", "steps": 25.0, "eta": 0.5}}}
	values, differences := r.Values()
	if len(differences) != 2 || differences[0].Field != "seed" || differences[1].Field != "steps" {
		t.Errorf("differences: %+v", differences)
	}
	for name, want := range map[string]RunValue{"seed": {seed, true}, "steps": {20.0, true}, "eta": {0.5, false}, "model": {"sdxl/Base_1.0.safetensors", true}, "condition": {"a", false}} {
		if values[name] != want {
			t.Errorf("%s is %+v, want %+v", name, values[name], want)
		}
	}
	bare := Run{Claim: r.Claim}
	if values, differences := bare.Values(); len(differences) != 0 || values["seed"] != (RunValue{other, false}) || RunText(values["cfg_scale"].Value) != "7.0" {
		t.Errorf("of a file that says nothing: %+v %+v", values, differences)
	}
}

// TestWorkflowNodeID_IsWhatItWas holds identifiers that are stored.
func TestWorkflowNodeID_IsWhatItWas(t *testing.T) {
	const asset = AssetHash("da39a3ee5e6b4b0d3255bfef95601890afd80709")
	if got := WorkflowNodeID(asset, "3"); got != "da39a3ee5e6b4b0d3255"+"a17b0aa425b399afcab9" {
		t.Errorf("node 3 is %s", got)
	}
	if WorkflowNodeID(asset, "3") == WorkflowNodeID(asset, "30") || WorkflowNodeID(asset, "3")[:20] != string(asset[:20]) {
		t.Error("nodes are not told apart")
	}
}
