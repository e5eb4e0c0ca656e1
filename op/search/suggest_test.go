package search_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vitrine/internal/sample/draw"
	"vitrine/internal/sample/scene"
	"vitrine/mappings"
	"vitrine/query"
)

type suggested struct {
	Suggestions []struct {
		Query, Kind, Field, Value string
		Count                     *int
	}
}

func (x *index) suggest(text string) (out suggested) {
	x.t.Helper()
	if f := x.try("SuggestQuery", map[string]any{"query": text, "limit": 50}, &out); f != nil {
		x.t.Fatalf("completing %q: %v", text, f)
	}
	return out
}

func (s suggested) queries() string {
	var list []string
	for _, x := range s.Suggestions {
		q := x.Query
		if x.Count != nil {
			q += fmt.Sprintf("=%d", *x.Count)
		}
		list = append(list, q)
	}
	return strings.Join(list, " | ")
}

// completions are what somebody types, and how it is completed.
var completions = map[string]string{
	"fox tag:por":         `fox tag:portrait=12 | fox tag:"port town"=4`,
	"fox tag:":            `fox tag:portrait=12 | fox tag:"port town"=4`,
	"-TAGS:port":          `-tag:portrait=12 | -tag:"port town"=4`,
	"fox por":             `fox tag:portrait=12 | fox tag:"port town"=4`,
	"lora:tweak":          `lora:"styles/detail tweaker (v1.2)\"x\".safetensors"=4`,
	"lora:(v1":            ``,
	"lora:weak":           ``,
	"status:ap":           `status:Approved`,
	"status:dr":           `status:Draft=12`,
	"ai:":                 `ai:true | ai:false`,
	"checkp":              `checkpoint:`,
	"fox metadata.cl":     `fox metadata.client: | fox metadata.clip: | fox metadata.clip.take:`,
	"has:metadata.cli":    `has:metadata.client=5 | has:metadata.clip=5 | has:metadata.clip.take=5`,
	"metadata.Client:":    `metadata.client:acme=3 | metadata.client:"acme labs"=2`,
	"meta.client:\"acme ": `metadata.client:"acme labs"=2`,
	"fox ":                "",
	"seed:1":              ``,
	"(fox)":               ``,
	"tool:.*":             ``,
	`tool:[a-z]@#&<>~`:    ``,
}

func TestSuggest_WhatIsTypedIsCompleted(t *testing.T) {
	t.Parallel()
	x := newIndex(t, nil)
	var docs []mappings.Document
	for i := range 12 {
		d := doc(i, "a fox")
		d.Tags, d.Tool = []string{"portrait"}, "comfyui"
		if i < 4 {
			d.Tags = []string{"portrait", "Port Town"}
			d.LoraNames = []string{`styles/Detail Tweaker (v1.2)"x".safetensors`}
			d.ModelNames = d.LoraNames
		}
		docs = append(docs, d)
	}
	theirs, private := doc(90, "x"), doc(91, "x")
	theirs.TenantID, theirs.Tags = tenantB, []string{"portfolio"}
	private.Visibility, private.Owner, private.Tags = "private", "somebody else", []string{"porting"}
	for i := range 5 {
		withMetadata(&docs[i], map[string]any{"Client": []string{"Acme", "Acme Labs"}[i%2], "clip": map[string]any{"take": i}})
	}
	withMetadata(&theirs, map[string]any{"client secret": "x"})
	x.load(append(docs, theirs, private)...)
	for typed, want := range completions {
		got := x.suggest(typed)
		if typed == "fox " {
			if len(got.Suggestions) < 20 || got.Suggestions[0].Kind != "field" {
				t.Errorf("after a blank come the fields, not %s", got.queries())
			}
			continue
		}
		if got.queries() != want {
			t.Errorf("%q completes to %s, want %s", typed, got.queries(), want)
		}
		for _, s := range got.Suggestions {
			if s.Count == nil {
				continue
			}
			if f := x.search(map[string]any{"query": s.Query[max(0, strings.LastIndex(s.Query, s.Field+":")):]}); f.Total != *s.Count {
				t.Errorf("%s promises %d, finds %d", s.Query, *s.Count, f.Total)
			}
		}
	}
}

func TestSuggest_ACompletionKeepsItsPromise(t *testing.T) {
	t.Parallel()
	x := newIndex(t, nil)
	var docs []mappings.Document
	for i, tags := range [][]string{{"red hair", "-minus"}, {"red_hair", "a:b"}, {"red_hair", `say "hi"`}, {"redhead"}} {
		d := doc(i, "a fox")
		d.Tags, d.MIMEType = tags, "image/webp"
		d.ModelNames = []string{"flux.ae", "ae", "ae-sdxl"}[:1+i%3]
		docs = append(docs, d)
	}
	x.load(docs...)
	for typed, want := range map[string]string{
		"model:ae":                `model:ae=4 | model:flux.ae=4 | model:ae-sdxl=1`,
		"ae":                      `model:ae=4 | model:flux.ae=4 | model:ae-sdxl=1`,
		"tag:red_h":               `tag:red_hair=3`,
		`tag:"red h`:              `tag:red_hair=3`,
		"tag: redh":               `tag:redhead=1`,
		"fox tag: ":               `fox tag:red_hair=3 | fox tag:-minus=1 | fox tag:a:b=1 | fox tag:redhead=1 | fox tag:"say \"hi\""=1`,
		"tag:(redh":               `tag:(redhead=1`,
		"tag:(redhead OR (-red_h": `tag:(redhead OR (-red_hair=3`,
		`tag:(redhead \-m`:        `tag:(redhead "-minus"=1`,
		"tag:(redhead) ae":        `tag:(redhead) model:ae=4 | tag:(redhead) model:flux.ae=4 | tag:(redhead) model:ae-sdxl=1`,
		"mime_type:web":           `mime_type:image/webp=4`,
		"tga:red":                 ``,
		"a:b":                     ``,
		"a:":                      ``,
		"tag:(redhead OR ":        `tag:(redhead OR red_hair=3 | tag:(redhead OR "-minus"=1 | tag:(redhead OR "a:b"=1 | tag:(redhead OR redhead=1 | tag:(redhead OR "say \"hi\""=1`,
	} {
		for range 2 { // the second time from what is remembered
			got := x.suggest(typed)
			values := got.Suggestions[:0:0]
			for _, s := range got.Suggestions {
				if s.Kind == "field" {
					continue
				}
				values = append(values, s)
				var tree struct{ Warnings []struct{ Code string } }
				if f := x.try("ExplainQuery", map[string]any{"query": s.Query}, &tree); f != nil {
					t.Errorf("%s: %v", s.Query, f)
				}
				for _, w := range tree.Warnings {
					if w.Code != "unclosed_paren" {
						t.Errorf("%s is read with the warning %s", s.Query, w.Code)
					}
				}
				if f := x.search(map[string]any{"query": query.ConditionText(query.LookupField(s.Field), s.Value)}); f.Total != *s.Count {
					t.Errorf("%s promises %d, finds %d", s.Query, *s.Count, f.Total)
				}
			}
			got.Suggestions = values
			if got.queries() != want {
				t.Errorf("%q completes to %s, want %s", typed, got.queries(), want)
			}
		}
	}
}

// misspell makes one slip behind the first letter.
func misspell(r *rand.Rand, w string) string {
	i := 1 + r.IntN(len(w)-2)
	letter := string(rune('a' + r.IntN(26)))
	switch r.IntN(4) {
	case 0:
		return w[:i] + w[i+1:]
	case 1:
		return w[:i] + letter + w[i:]
	case 2:
		return w[:i] + letter + w[i+1:]
	}
	return w[:i] + w[i+1:i+2] + w[i:i+1] + w[i+2:]
}

func TestSuggest_MisspelledWordsAreRepaired(t *testing.T) {
	t.Parallel()
	x := newIndex(t, nil)
	r := rand.New(rand.NewPCG(7, 7))
	known := map[string]bool{}
	var docs []mappings.Document
	for i := range 600 {
		prompt := scene.New(scene.Kinds()[i%len(scene.Kinds())], draw.NewRand(uint64(i))).Prompt(scene.Sentence, draw.NewRand(uint64(i)))
		docs = append(docs, doc(i, prompt))
		for _, w := range strings.FieldsFunc(strings.ToLower(prompt), func(c rune) bool { return c < 'a' || c > 'z' }) {
			known[w] = known[w] || len(w) >= 5
		}
	}
	secret := doc(2000, "xylophonequeen")
	secret.TenantID = tenantB
	x.load(append(docs, secret, doc(2001, "zebracorn"))...)
	tried, right, silent := 0, 0, 0
	for _, w := range slices.Sorted(maps.Keys(known)) {
		if !known[w] || tried == 130 {
			continue
		}
		typo := misspell(r, w)
		if _, is := known[typo]; is {
			continue
		}
		f := x.search(map[string]any{"query": typo, "search_mode": "fulltext"})
		if f.Total >= 3 {
			continue
		}
		tried++
		switch {
		case f.DidYouMean == nil:
			silent++
		case f.DidYouMean.Query == w:
			right++
			if again := x.search(map[string]any{"query": w, "search_mode": "fulltext"}); again.Total != f.DidYouMean.Total || again.Total == 0 {
				t.Errorf("%s promises %d, finds %d", w, f.DidYouMean.Total, again.Total)
			}
		}
	}
	t.Logf("%d of %d misspelled words repaired at the first try, %d without a suggestion", right, tried, silent)
	if tried < 100 || float64(right) < 0.85*float64(tried) {
		t.Errorf("%d of %d", right, tried)
	}
	if f := x.search(map[string]any{"query": "xylophonequeeen"}); f.DidYouMean != nil {
		t.Errorf("another tenant's word is suggested: %+v", f.DidYouMean)
	}
	if f := x.search(map[string]any{"query": "zebracornn xylophonequeeen"}); f.DidYouMean == nil || f.DidYouMean.Query != "zebracorn xylophonequeeen" {
		t.Errorf("beside a word of the library's own, another tenant's is suggested: %+v", f.DidYouMean)
	}
	if f := x.search(map[string]any{"query": "xylophonequeen"}); f.Total != 0 || f.DidYouMean != nil {
		t.Errorf("another tenant's word is known: %+v", f)
	}
}
