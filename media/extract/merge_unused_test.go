package extract

import (
	"slices"
	"testing"

	"vitrine/media/extract/container"
)

// A list of hashes names every LoRA of the prompt, those at strength zero as well.
func TestMergeUnused_LoraAtStrengthZeroIsNoModelThroughItsHash(t *testing.T) {
	tests := []struct {
		name, prompt string
		want         []string
	}{
		{"zero", "a fox <lora:x:0>", []string{"base"}},
		{"zero for both", "a fox <lora:x:0:0.0>", []string{"base"}},
		{"zero for the text encoder alone", "a fox <lora:x:0:1>", []string{"base", "x"}},
		{"zero once and used once", "a fox <lora:x:0> <lora:x:0.5>", []string{"base", "x"}},
		{"of another name", "a fox <lora:y:0>", []string{"base", "x"}},
		{"in use", "a fox <lora:x:0.5>", []string{"base", "x"}},
		{"not in the prompt", "a fox", []string{"base", "x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := tt.prompt + "\nSteps: 20, Sampler: Euler, Seed: 1, Model: base, Lora hashes: \"x: 2222bbbb\", Hashes: {\"lora:x\": \"2222bbbb\"}, Version: ComfyUI"
			l, _ := FromChunks(container.File{MIME: "image/png", Chunks: []container.Chunk{{Place: "png:tEXt", Key: "parameters", Text: text}}}, Options{})
			var got []string
			for _, m := range l.Models {
				got = append(got, m.Name)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("models %q, want %q", got, tt.want)
			}
		})
	}
}
