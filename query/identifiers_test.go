package query_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/mappings"
	"vitrine/query"
)

var everyMode = []query.Mode{query.Smart, query.Exact, query.Partial, query.Fuzzy, query.FullText, query.Boolean}

func TestIdentifiers_AWordWithInnerMarksIsFoundInsideAPhrase(t *testing.T) {
	t.Parallel()
	s := shelf(t,
		mappings.Document{Prompt: "1girl, red_hair, blue_eyes, night", Filename: "photo_2026-11-10_09-44-46.jpg"},
		mappings.Document{Title: "the o'brien cat's v1.5 study", Prompt: "girl (red:1.2) best_quality smiling"},
	)
	for _, c := range []struct {
		text string
		want []int
	}{
		{`"1girl red_hair blue_eyes night"`, []int{0}},
		{`"1girl red hair blue_eyes night"`, []int{0}},
		{`prompt:"1girl red_hair blue_eyes night"`, []int{0}},
		{"photo_2026-11-10_09-44-46.jpg", []int{0}},
		{"2026-11-10_09-44", []int{0}},
		{`"the o'brien cat's v1.5 study"`, []int{1}},
		{`"girl (red:1.2) best_quality smiling"`, []int{1}},
		{`"night red_hair 1girl"`, []int{}},
	} {
		for _, mode := range []query.Mode{query.FullText, query.Boolean, query.Smart} {
			if diff := cmp.Diff(c.want, s.find(c.text, query.Request{Mode: mode})); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", mode, c.text, diff)
			}
		}
	}
}

func TestIdentifiers_ABlankInANameIsWhateverJoinsItsWords(t *testing.T) {
	t.Parallel()
	s := shelf(t,
		mappings.Document{LoraNames: []string{"detail_weaver_xl"}, Filename: "my-first fox.png"},
		mappings.Document{LoraNames: []string{"detail-weaver"}},
		mappings.Document{LoraNames: []string{"detailweaver"}, Filename: "my first.png"},
	)
	for text, want := range map[string][]int{
		`lora:"Detail Weaver"`: {0, 1}, `lora:detail_weaver`: {0, 1}, `lora:"l w"`: {0, 1}, `filename:"my first"`: {0, 2}, `-lora:"detail weaver"`: {2},
	} {
		if diff := cmp.Diff(want, s.find(text, query.Request{Mode: query.Boolean})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestIdentifiers_APastedNameFindsItsAsset(t *testing.T) {
	t.Parallel()
	seed := uint64(2481123746)
	s := shelf(t,
		mappings.Document{Prompt: "fox"},
		mappings.Document{Prompt: "fox", Seed: &seed},
		mappings.Document{Filename: "ComfyUI_00090_.png"},
		mappings.Document{Filename: "other.png", ModelNames: []string{"sd_xl_base_1.0"}},
	)
	for _, c := range []struct {
		text string
		want []int
	}{
		{string(hash(2)), []int{2}},
		{"0000000000000000000000000000000000000", []int{0, 1, 2, 3}},
		{"00000000000000000000000000000000000001", []int{}},
		{"2481123746", []int{1}},
		{"24811", []int{}},
		{"/home/me/output/ComfyUI_00090_.png", []int{2}},
		{`C:\Users\me\output\ComfyUI_00090_.png`, []int{2}},
		{`filename:C:\Users\me\output\ComfyUI_00090_.png`, []int{2}},
		{"sd_xl_base_1.0.safetensors", []int{3}},
		{"models/checkpoints/SD_XL_base_1.0.safetensors", []int{3}},
		{"fox -2481123746", []int{0}},
	} {
		for _, mode := range everyMode {
			if c.text == "fox -2481123746" && (mode == query.Smart || mode == query.Partial) {
				continue // smart excludes by title, tags and prompt alone; partial looks into names, not prompts
			}
			got := s.find(c.text, query.Request{Mode: mode, Sort: []query.Sort{{By: "filename"}}})
			if diff := cmp.Diff(len(c.want), len(got)); diff != "" || len(got) == 1 && got[0] != c.want[0] {
				t.Errorf("%s %s finds %v, want %v", mode, c.text, got, c.want)
			}
		}
	}
}

func TestIdentifiers_WhatSeparatesTheWordsOfAPromptIsNotLookedFor(t *testing.T) {
	t.Parallel()
	s := shelf(t,
		mappings.Document{Tags: []string{"red hair", "portrait"}, Title: "portrait, red hair"},
		mappings.Document{Tags: []string{"portrait"}},
	)
	for text, want := range map[string][]int{
		"red_hair, portrait":                {0},
		"(red_hair:1.2), portrait,":         {0},
		"red_hair; portrait":                {0},
		`tag:"red hair", tag:portrait`:      {0},
		"tag:red_hair , tag:portrait":       {0},
		"(tag:portrait), (tag:portrait),":   {0, 1},
		`-tag:"red hair", tag:portrait`:     {1},
		`tag:portrait & tag:"red hair"`:     {0},
		`tag:portrait | NOT tag:"red hair"`: {1},
		",":                                 {},
	} {
		for _, mode := range everyMode {
			if mode == query.Smart && !strings.Contains(text, "tag:") || mode == query.Partial && strings.ContainsAny(text, "&|") {
				continue // one word is enough for smart; partial looks for every character but these
			}
			got := s.find(text, query.Request{Mode: mode, Sort: []query.Sort{{By: "asset_h"}}})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", mode, text, diff)
			}
		}
	}
}
