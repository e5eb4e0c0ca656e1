package query_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/internal/randtest"
	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/query"
	"vitrine/query/internal/naive"
	"vitrine/query/internal/samples"
)

const (
	tenantA = library.TenantID("11111111-1111-1111-1111-111111111111")
	tenantB = library.TenantID("22222222-2222-2222-2222-222222222222")
)

// server is a real index of this test.
type server struct {
	t     *testing.T
	url   string
	index string
}

func newServer(t *testing.T, body []byte) *server {
	t.Helper()
	url, prefix := testenv.OpenSearch(t)
	s := &server{t: t, url: url, index: mappings.Names(prefix).Index(1)}
	s.call(http.MethodPut, "/"+s.index, body, nil)
	return s
}

func (s *server) call(method, path string, body []byte, into any) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if res.StatusCode >= 300 {
		s.t.Fatalf("%s %s: %s: %.2000s", method, path, res.Status, answer)
	}
	if into != nil {
		if err := json.Unmarshal(answer, into); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *server) load(docs []mappings.Document) {
	s.t.Helper()
	var b bytes.Buffer
	for _, d := range docs {
		fmt.Fprintf(&b, `{"index":{"_id":%q,"routing":%q}}`+"\n", mappings.DocID(d.TenantID, d.AssetH), mappings.Routing(d.TenantID))
		doc, err := json.Marshal(d)
		if err != nil {
			s.t.Fatal(err)
		}
		b.Write(append(doc, '\n'))
	}
	var answer struct {
		Errors bool
		Items  []json.RawMessage
	}
	s.call(http.MethodPost, "/"+s.index+"/_bulk?refresh=true", b.Bytes(), &answer)
	if answer.Errors {
		s.t.Fatalf("the index refused documents: %.1000s", answer.Items)
	}
}

// result is one answer of a multi search.
type result struct {
	Error json.RawMessage
	Hits  struct {
		Total struct{ Value int }
		Hits  []struct {
			ID        string            `json:"_id"`
			Source    mappings.Document `json:"_source"`
			Score     float64           `json:"_score"`
			Highlight map[string][]string
			Matched   any `json:"matched_queries"`
		}
	}
	Aggregations map[string]any
}

func (s *server) search(bodies ...map[string]any) []result {
	s.t.Helper()
	if len(bodies) == 0 {
		return nil
	}
	var b bytes.Buffer
	for _, body := range bodies {
		fmt.Fprintf(&b, `{"index":%q}`+"\n", s.index)
		line, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	var answer struct{ Responses []result }
	s.call(http.MethodPost, "/_msearch?max_concurrent_searches=2", b.Bytes(), &answer)
	return answer.Responses
}

func compiled(t *testing.T, text string, req query.Request) *query.Search {
	t.Helper()
	q, err := query.Parse(text, query.Options{})
	if err != nil {
		t.Fatalf("Parse(%q) = %v", text, err)
	}
	if req.Tenant == "" {
		req.Tenant = tenantA
	}
	s, err := query.Compile(q, req)
	if err != nil {
		t.Fatalf("Compile(%q) = %v", text, err)
	}
	return s
}

func TestOpenSearch_TheIndexAcceptsEveryQuery(t *testing.T) {
	t.Parallel()
	body, err := mappings.WithVector("test", 4)
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, body)
	s.load(naive.Documents(tenantA, tenantB, 50, 7))
	randtest.Run(t, func(t *testing.T, r *rand.Rand) {
		s.of(t).accepts(r, randtest.Cases(t, 200))
	})
}

// accepts sends compiled random queries.
func (s *server) accepts(r *rand.Rand, cases int) {
	t := s.t
	facets := query.FacetNames()
	var texts []string
	var bodies []map[string]any
	send := func() {
		for i, res := range s.search(bodies...) {
			if res.Error != nil {
				t.Errorf("%s is refused: %.600s", texts[i], res.Error)
			}
		}
		texts, bodies = texts[:0], bodies[:0]
	}
	for i := range cases {
		text := samples.Soup(r, 14)
		if i%3 == 0 {
			text = samples.Query(r)
		}
		q, err := query.Parse(text, query.Options{})
		if err != nil {
			continue
		}
		req := query.Request{
			Mode: query.Modes[i%len(query.Modes)], Tenant: tenantA, Index: s.index, Highlight: true, Limit: 3, Viewer: "ann",
			Facets: []string{facets[r.IntN(len(facets))], facets[r.IntN(len(facets))]},
			Sort:   []query.Sort{{By: query.SortKeys[r.IntN(len(query.SortKeys))], Desc: i%2 == 0}},
		}
		search, err := query.Compile(q, req)
		if err != nil {
			continue
		}
		knn, err := search.KNN("test", []float32{1, 0, 2, 3}, 5)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range []map[string]any{search.Body(), {"query": knn, "size": 1}} {
			texts = append(texts, fmt.Sprintf("%s %q", req.Mode, text))
			bodies = append(bodies, b)
		}
		if len(bodies) >= 100 {
			send()
		}
	}
	send()
}

func TestOpenSearch_HitsAreThoseOfTheNaiveEvaluator(t *testing.T) {
	t.Parallel()
	s := newServer(t, mappings.Assets())
	docs := naive.Documents(tenantA, tenantB, 2500, 11)
	s.load(docs)
	caller := naive.Caller{Tenant: tenantA, Viewer: "ann"}
	visible := make([]naive.Document, 0, len(docs))
	for i := range docs {
		if caller.Sees(&docs[i]) {
			visible = append(visible, naive.Read(&docs[i]))
		}
	}
	modes := []query.Mode{query.Boolean, query.FullText, query.Smart, query.Exact, query.Partial}
	var asked []question
	for _, text := range samples.Terms {
		for _, mode := range modes {
			asked = append(asked, question{text, mode})
		}
	}
	asked = append(asked, aboutEveryField(t, visible)...)
	s.compareAll(asked, visible)
	randtest.Run(t, func(t *testing.T, r *rand.Rand) {
		var asked []question
		for range randtest.Cases(t, 150) {
			asked = append(asked, question{samples.Query(r), modes[r.IntN(len(modes))]})
		}
		s.of(t).compareAll(asked, visible)
	})
}

// aboutEveryField asks for values that documents have in each field of the language:
// whole, in part, by comparison, negated, and whether there is any.
func aboutEveryField(t *testing.T, docs []naive.Document) []question {
	var asked []question
	for _, f := range query.Fields() {
		values := valuesOf(f, docs)
		if len(values) == 0 && f.Index != "" && !askedBySamples[f.Type] {
			t.Errorf("no document has a value in the field %s: nothing tests it", f.Name)
		}
		for i, v := range values {
			texts := []string{query.ConditionText(f, v)}
			if i == 0 {
				texts = append(texts, "-"+texts[0], f.Name+":*")
			}
			switch f.Type {
			case query.TypeInt, query.TypeFloat, query.TypeDate:
				texts = append(texts, f.Name+":>"+v, f.Name+":<="+v, f.Name+":"+v+"..")
			case query.TypeName, query.TypePart, query.TypeTag:
				if begin := []rune(v)[:min(2, len([]rune(v)))]; len(begin) == 2 {
					texts = append(texts, query.ConditionText(f, string(begin))+"*")
				}
			}
			for _, text := range texts {
				asked = append(asked, question{text, query.Boolean})
			}
		}
	}
	return asked
}

// valuesOf returns up to three values that documents have in a field.
func valuesOf(f *query.Field, docs []naive.Document) (values []string) {
	for i := range docs {
		for _, v := range naive.Values(f, docs[i].Document) {
			if !slices.Contains(values, v) && len(values) < 3 {
				values = append(values, v)
			}
		}
	}
	return values
}

// askedBySamples has the types whose fields are asked for by the terms of samples alone.
var askedBySamples = map[query.Type]bool{query.TypeText: true, query.TypeDimensions: true, query.TypeAspect: true, query.TypeHash: true,
	query.TypeChain: true, query.TypeCollection: true, query.TypeParent: true, query.TypeBool: true}

// of returns the server for a subtest.
func (s *server) of(t *testing.T) *server {
	c := *s
	c.t = t
	return &c
}

func (s *server) compareAll(asked []question, visible []naive.Document) {
	s.t.Helper()
	const batch = 50
	for i := 0; i < len(asked) && !s.t.Failed(); i += batch {
		s.compare(asked[i:min(i+batch, len(asked))], visible)
	}
}

type question struct {
	text string
	mode query.Mode
}

// compare asks the index and the naive evaluator the same questions.
func (s *server) compare(asked []question, visible []naive.Document) {
	s.t.Helper()
	var bodies []map[string]any
	for _, a := range asked {
		search := compiled(s.t, a.text, query.Request{Mode: a.mode, Viewer: "ann", Index: s.index})
		bodies = append(bodies, map[string]any{"query": search.Query, "size": 10000, "_source": false, "sort": []string{"_doc"}})
	}
	for i, res := range s.search(bodies...) {
		a := asked[i]
		if res.Error != nil {
			s.t.Fatalf("%s %q: %.500s", a.mode, a.text, res.Error)
		}
		got := map[string]bool{}
		for _, h := range res.Hits.Hits {
			got[h.ID] = true
		}
		q, _ := query.Parse(a.text, query.Options{})
		for _, d := range visible {
			id := mappings.DocID(d.TenantID, d.AssetH)
			if want := naive.Match(q.Tree, d, a.mode); want != got[id] {
				shown, _ := json.Marshal(d.Document)
				dsl, _ := json.Marshal(bodies[i]["query"])
				s.t.Errorf("%s %q\ntree %s\nwanted %v, the index says %v for\n%s\n%s", a.mode, a.text, q.Canonical(), want, got[id], shown, dsl)
				break
			}
			delete(got, id)
		}
		if len(got) > 0 && !s.t.Failed() {
			s.t.Errorf("%s %q finds %d documents that the caller's tenant filter leaves out", a.mode, a.text, len(got))
		}
	}
}

func TestOpenSearch_ThePromptAnalyzer(t *testing.T) {
	t.Parallel()
	s := newServer(t, mappings.Assets())
	analyze := func(analyzer, text string) string {
		body, _ := json.Marshal(map[string]string{"analyzer": analyzer, "text": text})
		var answer struct {
			Tokens []struct {
				Token    string
				Position int
			}
		}
		s.call(http.MethodPost, "/"+s.index+"/_analyze", body, &answer)
		var out []string
		for _, x := range answer.Tokens {
			out = append(out, fmt.Sprintf("%d:%s", x.Position, x.Token))
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct{ analyzer, text, want string }{
		{"prompt", "(masterpiece:1.2), best_quality, <lora:detail_tweaker:0.8> 1girl", "0:masterpiece 1:best_quality 1:best 2:quality 3:detail_tweaker 3:detail 4:tweaker 5:1girl"},
		{"prompt", "a BREAK [b:0.5] ((c))", "0:a 1:b 2:c"},
		{"prompt", "Élan Ｗｉｄｅ", "0:elan 1:wide"},
		{"prompt", "猫娘", "0:猫 0:猫娘 1:娘"},
		{"prompt_search", "猫娘の", "0:猫娘 1:娘の"},
		{"prompt_search", "猫", "0:猫"},
		{"prompt_search", "---", ""},
	} {
		if diff := cmp.Diff(c.want, analyze(c.analyzer, c.text)); diff != "" {
			t.Errorf("%s of %q (-want +got):\n%s", c.analyzer, c.text, diff)
		}
	}
}
