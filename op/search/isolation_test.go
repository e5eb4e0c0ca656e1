package search_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/mappings"
	"vitrine/op/search"
)

// othersAssets is how many assets another tenant adds: few, or as many as
// VITRINE_ISOLATION says.
func othersAssets(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("VITRINE_ISOLATION"))
	if err != nil {
		return 3000
	}
	return n
}

// own are assets of tenant A. Many tie: variants of a prompt have equal words, dates
// and vectors.
func own(n int) mappings.Document {
	kinds := []string{"red fox in deep snow", "running foxes, winter forest", "a boat on the sea at night", "stained glass window, church", "old lighthouse", "foxglove meadow"}
	d := doc(n, fmt.Sprintf("%s, variant %d", kinds[n%len(kinds)], n%5))
	at := time.Date(2025, 1, 1+n%9, 0, 0, 0, 0, time.UTC)
	d.Created, d.DocVersion = &at, 1
	d.Filename, d.Title = fmt.Sprintf("study_%04d.png", n), []string{"", "Red Fox", "Night boat"}[n%3]
	d.Tags = append(d.Tags, []string{"animal", "landscape", "glass_work"}[n%3])
	d.ModelNames, d.Tool = []string{[]string{"flux1-dev", "dreamshaper_8"}[n%2]}, []string{"comfyui", "sd-webui"}[n%2]
	d.Vectors = map[string][]float32{made: {float32(n%7) + 1, float32(n%5) + 1, float32(n%3) + 1, 1}}
	return d
}

// others are assets of tenant B, made to disturb: of the same words and of words
// spelled like them, of every length, with vectors between those of A.
func others(r *rand.Rand, n int) mappings.Document {
	letters := "abcdefghijklmnopqrstuvwxyz"
	slip := func(w string) string {
		b := []byte(w)
		b[1+r.IntN(len(b)-1)] = letters[r.IntN(26)]
		return string(b)
	}
	words := []string{"fox", "foxes", "snow", "boat", "sea", "night", "stained", "glass", "lighthouse", "forest", "winter", "church", "meadow"}
	var prompt []string
	for range 1 + r.IntN(40) {
		w := words[r.IntN(len(words))]
		if r.IntN(2) == 0 {
			w = slip(w)
		}
		prompt = append(prompt, w)
	}
	d := own(1_000_000 + n)
	d.TenantID, d.Prompt, d.Title = tenantB, strings.Join(prompt, " "), slip("lighthouse")
	d.Vectors = map[string][]float32{made: {r.Float32() * 7, r.Float32() * 5, r.Float32() * 3, 1}}
	return d
}

// questions are calls of tenant A whose answers must stay as they are.
func isolationQuestions() (list []map[string]any) {
	add := func(name string, args ...any) {
		list = append(list, with(map[string]any{"operation": name}, args...))
	}
	texts := []string{"fox", "foxes running", "red fox snow", "snow forest winter boat", `"red fox"`, "a boat on the sea at night in winter", "lighthouse", "light* glass",
		"fox OR tag:animal", "fox -snow", "stained_glass window", "study_0007.png", "flux1-dev", "foxs", "lighthuose", "winter boat tag:animal"}
	for _, mode := range []string{"exact", "partial", "fuzzy", "fulltext", "boolean", "smart"} {
		for _, text := range texts {
			add("SearchAssets", "query", text, "search_mode", mode, "limit", 100, "highlight", true)
		}
		add("SearchAssets", "query", "fox snow", "search_mode", mode, "limit", 50, "offset", 40)
		add("SearchAssets", "query", "fox snow", "search_mode", mode, "limit", 50, "order_by", "title")
		add("GetFacets", "query", "fox snow", "search_mode", mode)
	}
	for _, order := range []string{"relevance", "created"} {
		add("SearchAssets", "query_vector", []float64{1, 2, 3, 1}, "embedding_configuration_h", made, "limit", 100, "order_by", order)
		add("SearchAssets", "similar_to_asset_h", string(hash(3)), "embedding_configuration_h", made, "limit", 100, "order_by", order)
	}
	add("SearchAssets", "query", "similar:"+string(hash(5))+" fox", "limit", 100)
	for _, text := range []string{"knigth", "foxs", "lighthuose", "stainde glsas", "snwo forset", "church wnidow"} {
		add("SearchAssets", "query", text, "search_mode", "fulltext")
	}
	for _, text := range []string{"", "fo", "tag:", "model:fl", "tool:", "tag:an"} {
		add("SuggestQuery", "query", text)
	}
	add("GetFacets")
	add("GetFacets", "selections", map[string][]string{"tool": {"comfyui"}})
	return list
}

// answers asks everything of a service that remembers nothing.
func (x *index) answers(e *meanings) (list []string) {
	x.t.Helper()
	fresh := *x
	fresh.Service = &search.Service{Searcher: x.Searcher, Embedder: e, Links: x.Links, Key: x.Key}
	for _, args := range isolationQuestions() {
		name := args["operation"].(string)
		delete(args, "operation")
		var out map[string]any
		if f := fresh.try(name, args, &out); f != nil {
			x.t.Fatalf("%s %v: %v", name, args, f)
		}
		delete(out, "took_ms")
		raw, err := json.MarshalIndent(out, "", " ")
		if err != nil {
			x.t.Fatal(err)
		}
		list = append(list, fmt.Sprintf("%s %v\n%s", name, args, raw))
	}
	return list
}

// TestTenants_OthersAssetsChangeNoAnswer asks in every way before and after another
// tenant adds assets, and wants the same answers to the last digit of the scores.
func TestTenants_OthersAssetsChangeNoAnswer(t *testing.T) {
	t.Parallel()
	e := &meanings{vectors: map[string][]float32{"fox": {3, 1, 1, 1}, "red fox snow": {2, 2, 1, 1}, "a boat on the sea at night in winter": {1, 4, 2, 1}}}
	x := newIndex(t, e)
	for from := 0; from < 600; from += 100 { // in several segments, which later merge
		var docs []mappings.Document
		for n := range 100 {
			docs = append(docs, own(from+n))
		}
		x.load(docs...)
	}
	x.load(own(7), own(8), own(9)) // written anew: the old ones are counted until a merge
	before := x.answers(e)
	r := rand.New(rand.NewPCG(1, 2))
	for count, most := 0, othersAssets(t); count < most; {
		var docs []mappings.Document
		for len(docs) < 1000 && count < most {
			docs = append(docs, others(r, count))
			count++
		}
		x.load(docs...)
	}
	x.send("POST", "/"+x.name+"/_forcemerge?max_num_segments=1", nil, nil)
	for i, after := range x.answers(e) {
		if diff := cmp.Diff(before[i], after); diff != "" {
			t.Errorf("another tenant's assets changed an answer:\n%.3000s", diff)
		}
	}
	var empty int
	for _, a := range before {
		if strings.Contains(a, `"data": []`) {
			empty++
		}
	}
	if empty > len(before)/3 {
		t.Errorf("%d of %d answers were empty: they could not have changed", empty, len(before))
	}
}
