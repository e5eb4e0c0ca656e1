package query_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/library"
	"vitrine/mappings"
	"vitrine/query"
)

func hash(n int) library.AssetHash { return library.AssetHash(fmt.Sprintf("%040x", n)) }

// shelf is a small index: documents are named by number.
func shelf(t *testing.T, docs ...mappings.Document) *server {
	t.Helper()
	body, err := mappings.WithVector("test", 2)
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, body)
	for i := range docs {
		if docs[i].TenantID == "" {
			docs[i].TenantID = tenantA
		}
		docs[i].AssetH = hash(i)
		for _, tag := range docs[i].Tags {
			docs[i].TagsNorm = append(docs[i].TagsNorm, mappings.NormTag(tag))
		}
	}
	s.load(docs)
	return s
}

// numbers lists the documents of a result in their order.
func numbers(t *testing.T, r result) []int {
	t.Helper()
	if r.Error != nil {
		t.Fatalf("refused: %.600s", r.Error)
	}
	out := []int{}
	for _, h := range r.Hits.Hits {
		var n int
		fmt.Sscanf(string(h.Source.AssetH), "%x", &n)
		out = append(out, n)
	}
	return out
}

func (s *server) find(text string, req query.Request) []int {
	s.t.Helper()
	req.Index, req.Limit = s.index, 100
	return numbers(s.t, s.search(compiled(s.t, text, req).Body())[0])
}

func TestHits_RankingByClass(t *testing.T) {
	t.Parallel()
	s := shelf(t,
		mappings.Document{Prompt: "a red cat in the rain"},
		mappings.Document{Tags: []string{"red cat"}},
		mappings.Document{Title: "Red Cat"},
		mappings.Document{Title: "red cats"},
		mappings.Document{Filename: "xred cat.png"},
		mappings.Document{Prompt: "red dog"},
		mappings.Document{NegativePrompt: "red cat"},
	)
	for _, c := range []struct {
		mode query.Mode
		text string
		want []int
	}{
		{query.Exact, "red cat", []int{2, 1, 0}},
		{query.Exact, `"red cat"`, []int{2, 1, 0}},
		{query.Exact, string(hash(5)), []int{5}},
		{query.Partial, `"red cat"`, []int{2, 3, 1, 4}},
		{query.Boolean, string(hash(6)), []int{6}},
	} {
		if diff := cmp.Diff(c.want, s.find(c.text, query.Request{Mode: c.mode})); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.mode, c.text, diff)
		}
	}
	if got := s.find("red cat", query.Request{Mode: query.Smart}); len(got) != 4 || got[0] != 2 || slices.Contains(got, 6) {
		t.Errorf("smart finds %v, want the four that have both words in any form, the exact title first and the negative prompt never", got)
	}
	if got := s.find("red cat", query.Request{Mode: query.Smart, LeftOut: []string{"cat"}}); len(got) != 5 || got[0] != 2 {
		t.Errorf("without cat, smart finds %v, want five with the exact title first", got)
	}
	if got := s.find("rde", query.Request{Mode: query.Fuzzy}); len(got) < 3 {
		t.Errorf("fuzzy finds %v for a slip", got)
	}
}

func TestHits_WithoutTextTheNewestComeFirst(t *testing.T) {
	t.Parallel()
	at := func(day int) *time.Time {
		x := time.Date(2024, 1, day, 0, 0, 0, 0, time.UTC)
		return &x
	}
	s := shelf(t,
		mappings.Document{Created: at(1)}, mappings.Document{Created: at(3)}, mappings.Document{Created: at(2)},
		mappings.Document{}, mappings.Document{Created: at(3)},
	)
	for _, mode := range query.Modes {
		if diff := cmp.Diff([]int{1, 4, 2, 0, 3}, s.find("", query.Request{Mode: mode})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", mode, diff)
		}
	}
	if diff := cmp.Diff([]int{2, 0}, s.find("", query.Request{Filters: query.Filters{CreatedAfter: "2024-01-01", CreatedBefore: "2024-01-03"}})); diff != "" {
		t.Errorf("between two dates (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{0, 1, 2, 3, 4}, s.find("", query.Request{Sort: []query.Sort{{By: "asset_h"}}})); diff != "" {
		t.Errorf("by asset_h (-want +got):\n%s", diff)
	}
}

func TestHits_TheWallHoldsInEveryModeAndArm(t *testing.T) {
	t.Parallel()
	v := func(d mappings.Document) mappings.Document {
		d.Title, d.Vectors = "cat", map[string][]float32{"test": {1, 1}}
		return d
	}
	s := shelf(t,
		v(mappings.Document{}), v(mappings.Document{TenantID: tenantB}), v(mappings.Document{Trashed: true}),
		mappings.Document{Deleted: true}, v(mappings.Document{Visibility: "private", Owner: "ann"}), v(mappings.Document{Visibility: "private", Owner: "bob"}),
	)
	for _, c := range []struct {
		name string
		req  query.Request
		want []int
	}{
		{"anyone", query.Request{}, []int{0}},
		{"the owner", query.Request{Viewer: "ann"}, []int{0, 4}},
		{"who sees all", query.Request{SeesPrivate: true}, []int{0, 4, 5}},
		{"the trash", query.Request{Trashed: true}, []int{2}},
		{"another tenant", query.Request{Tenant: tenantB}, []int{1}},
	} {
		for _, text := range []string{"cat", "", "-dog", "cat OR *", "c*t", "title:cat"} {
			for _, mode := range query.Modes {
				req := c.req
				req.Mode, req.Sort = mode, []query.Sort{{By: "asset_h"}}
				if diff := cmp.Diff(c.want, s.find(text, req)); diff != "" {
					t.Errorf("%s, %s %q (-want +got):\n%s", c.name, mode, text, diff)
				}
			}
			search := compiled(t, text, c.req)
			knn, err := search.KNN("test", []float32{1, 1}, 100)
			if err != nil {
				t.Fatal(err)
			}
			got := numbers(t, s.search(map[string]any{"query": knn, "size": 100, "sort": []string{"asset_h"}})[0])
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s, neighbours for %q (-want +got):\n%s", c.name, text, diff)
			}
		}
	}
}

func TestHits_TheVectorFilterTakesPositiveTextAsTrue(t *testing.T) {
	t.Parallel()
	v := map[string][]float32{"test": {1, 1}}
	s := shelf(t,
		mappings.Document{Title: "cat", Tags: []string{"dog"}, Vectors: v},
		mappings.Document{Title: "bird", Tags: []string{"dog"}, Vectors: v},
		mappings.Document{Title: "bird", Tags: []string{"red"}, Vectors: v},
	)
	for text, want := range map[string][]int{
		"cat OR tag:dog": {0, 1, 2}, "cat tag:dog": {0, 1}, "-cat": {1, 2}, "bird -cat tag:dog": {1}, "NOT (cat OR tag:red)": {1},
		"similar:" + string(hash(0)): {1, 2}, "similar:" + string(hash(0)) + " bird tag:dog": {1}, "status:Nope": {},
	} {
		knn, err := compiled(t, text, query.Request{}).KNN("test", []float32{1, 0}, 10)
		if err != nil {
			t.Fatal(err)
		}
		got := numbers(t, s.search(map[string]any{"query": knn, "size": 10, "sort": []string{"asset_h"}})[0])
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestHits_AFamilyIsFoundFromAnyMember(t *testing.T) {
	t.Parallel()
	s := shelf(t,
		mappings.Document{LineageRoot: hash(0), Chain: true}, mappings.Document{LineageRoot: hash(0), Chain: true},
		mappings.Document{LineageRoot: hash(7), Chain: true}, mappings.Document{}, mappings.Document{TenantID: tenantB, LineageRoot: hash(7), Chain: true},
	)
	for n, want := range map[int][]int{0: {0, 1}, 1: {0, 1}, 2: {2}, 3: {3}, 4: {}, 9: {}} {
		got := s.find("chain:"+string(hash(n)), query.Request{Sort: []query.Sort{{By: "asset_h"}}})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("family of %d (-want +got):\n%s", n, diff)
		}
	}
}

func TestHits_FacetsIgnoreTheirOwnSelection(t *testing.T) {
	t.Parallel()
	steps := func(n int) *int { return &n }
	day := time.Date(2024, 5, 3, 0, 0, 0, 0, time.UTC)
	s := shelf(t,
		mappings.Document{Tags: []string{"Cat"}, Tool: "comfyui", Steps: steps(20), Created: &day, AI: true, CheckpointNames: []string{"Night_Owl"}, BaseModels: []string{"sdxl"}},
		mappings.Document{Tags: []string{"cat", "dog"}, Tool: "invokeai", Steps: steps(24), Sampler: "dpmpp_2m", Scheduler: "karras"},
		mappings.Document{Tags: []string{"dog"}, Tool: "comfyui", Steps: steps(30)},
		mappings.Document{Tool: "comfyui"},
	)
	search := compiled(t, "", query.Request{
		Facets: []string{"tag", "tool", "steps", "created:month", "aspect", "ai"}, Selections: map[string][]string{"tag": {"cat"}, "tool": {"comfyui"}},
	})
	body := search.Body()
	body["size"] = 10
	res := s.search(body)[0]
	if diff := cmp.Diff([]int{0}, numbers(t, res)); diff != "" {
		t.Errorf("hits (-want +got):\n%s", diff)
	}
	counts := func(name string) map[string]int {
		out := map[string]int{}
		facet := res.Aggregations[name].(map[string]any)
		for _, b := range facet["values"].(map[string]any)["buckets"].([]any) {
			b := b.(map[string]any)
			key, ok := b["key_as_string"]
			if !ok {
				key = b["key"]
			}
			if n := int(b["doc_count"].(float64)); n > 0 {
				out[fmt.Sprint(key)] = n
			}
		}
		out["missing"] = int(facet["missing"].(map[string]any)["doc_count"].(float64))
		return out
	}
	for name, want := range map[string]map[string]int{
		"tag":           {"cat": 1, "dog": 1, "missing": 1},          // comfyui, whatever tag
		"tool":          {"comfyui": 1, "invokeai": 1, "missing": 0}, // cat, whatever tool
		"steps":         {"20": 1, "missing": 0},
		"created:month": {"2024-05": 1, "missing": 0},
		"aspect":        {"missing": 1},
		"ai":            {"true": 1, "missing": 0},
	} {
		if diff := cmp.Diff(want, counts(name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, want := range map[string][]int{"tool=InvokeAI": {1}, "checkpoint=models/Night_Owl.safetensors": {0}, "base_model=SDXL 1.0": {0}, "sampler=DPM++ 2M Karras": {1}, "steps=20": {0, 1}, "created:month=2024-05": {0}, "tag=": {3}, "ai=true": {0}} {
		facet, value, _ := strings.Cut(name, "=")
		got := s.find("", query.Request{Selections: map[string][]string{facet: {value}}, Sort: []query.Sort{{By: "asset_h"}}})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("selection %s (-want +got):\n%s", name, diff)
		}
	}
}

func TestHits_HighlightsMarkWhatMatchedInTheWholeValue(t *testing.T) {
	t.Parallel()
	s := shelf(t, mappings.Document{Title: "<b>red</b> cat", Prompt: "best_quality, a cat"})
	body := compiled(t, "cat quality", query.Request{Highlight: true, Limit: 1}).Body()
	got := s.search(body)[0].Hits.Hits[0].Highlight
	if diff := cmp.Diff([]string{"<b>red</b> " + query.MarkStart + "cat" + query.MarkEnd}, got[mappings.Highlighted("title")]); diff != "" {
		t.Errorf("title (-want +got):\n%s", diff)
	}
	prompt := got[mappings.Highlighted("prompt")]
	if len(prompt) != 1 || !strings.Contains(prompt[0], query.MarkStart+"cat"+query.MarkEnd) || !strings.Contains(prompt[0], "quality"+query.MarkEnd) {
		t.Errorf("prompt = %q", prompt)
	}
}

func TestHits_QueriesAtTheLimitAreAccepted(t *testing.T) {
	t.Parallel()
	s := shelf(t, mappings.Document{Title: "cat"})
	word := func(i int) string { return strings.Repeat(string(rune('a'+i%26)), 1+i/26) }
	var words, under, values, mixed []string
	for i := range query.MaxLeaves {
		words = append(words, word(i))
		under = append(under, "a_"+word(i)[:min(len(word(i)), 4)]+"_b.c-d")
		values = append(values, "tag:"+word(i))
		mixed = append(mixed, fmt.Sprintf("(%s OR -tag:%s)", word(i), word(i)))
	}
	texts := []string{
		strings.Join(words, " "), strings.Join(words, " OR "), strings.Join(under, " "), strings.Join(values, " OR "), strings.Join(values, " "),
		strings.Join(mixed[:query.MaxLeaves/2], " "), `"` + strings.Join(words[:200], " ") + `"`, `"` + strings.Join(under[:200], " ") + `"`,
		strings.Repeat("猫", 1300), "-(" + strings.Join(words, " ") + ")", strings.Repeat("(", 32) + "a" + strings.Repeat(" OR b)", 32),
	}
	answered := 0
	for _, text := range texts {
		for _, mode := range query.Modes {
			q, err := query.Parse(text, query.Options{})
			if err != nil {
				t.Fatalf("Parse(%.40q) = %v", text, err)
			}
			search, err := query.Compile(q, query.Request{Mode: mode, Tenant: tenantA, Highlight: true, Limit: 1})
			if err != nil {
				continue // too many clauses, said so with the number
			}
			answered++
			if res := s.search(search.Body())[0]; res.Error != nil {
				t.Errorf("%s %.40q…: %.300s", mode, text, res.Error)
			}
		}
	}
	if answered < len(texts)*len(query.Modes)/2 {
		t.Errorf("only %d of %d long queries compile", answered, len(texts)*len(query.Modes))
	}
}
