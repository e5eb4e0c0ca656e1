package main

import (
	"testing"

	"vitrine/internal/sample/draw"
	"vitrine/internal/sample/scene"
	"vitrine/prompt"
)

// TestDemoPrompts_AreThoseOfTheSampleLibrary words scenes as the sample library does: each
// version of the first prompt must have renders among them.
func TestDemoPrompts_AreThoseOfTheSampleLibrary(t *testing.T) {
	t.Parallel()
	texts := []string{demoPrompts[0].create.PromptText}
	for _, v := range demoPrompts[0].versions {
		texts = append(texts, *v.PromptText)
	}
	r := draw.NewRand(1)
	renders := make([]int, len(texts))
	for range 10 {
		for _, k := range scene.Kinds() {
			p := prompt.Read(scene.New(k, r).Prompt(scene.Sentence, r))
			for i, text := range texts {
				template, errs := prompt.Parse(text)
				if len(errs) > 0 {
					t.Fatal(errs)
				}
				if template.Matcher().Matches(p) {
					renders[i]++
				}
			}
		}
	}
	for i, n := range renders {
		if n < 10 {
			t.Errorf("%q has %d renders among %d prompts", texts[i], n, 10*len(scene.Kinds()))
		}
	}
	for _, p := range demoPrompts[1:] {
		if _, errs := prompt.Parse(p.create.PromptText); len(errs) > 0 {
			t.Error(errs)
		}
	}
}
