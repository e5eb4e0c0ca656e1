package relevance

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"vitrine/embed"
	"vitrine/internal/opensearch"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/media/blob"
	"vitrine/op"
	"vitrine/op/assets"
	"vitrine/op/search"
	"vitrine/query/run"
)

// index is the library in an OpenSearch index of the product's own shape.
type index struct {
	client   *opensearch.Client
	prefix   string
	name     string
	numbers  map[library.AssetHash]int
	embedder embed.Embedder // nil: without vectors
}

// openIndex makes the index and fills it. It may return an index to remove along
// with an error.
func openIndex(ctx context.Context, cfg Config, set *Set, e embed.Embedder) (*index, error) {
	client, err := opensearch.NewClient(cfg.OpenSearchURL...)
	if err != nil {
		return nil, err
	}
	id := make([]byte, 4)
	_, _ = rand.Read(id) // never fails: it ends the program instead
	x := &index{client: client, prefix: "vitrine-relevance-" + hex.EncodeToString(id) + "-", numbers: map[library.AssetHash]int{}, embedder: e}
	x.name = mappings.Names(x.prefix).Index(1)
	var fields []mappings.Vector
	if e != nil {
		fields = append(fields, mappings.Vector{Config: e.ID(), Dims: e.Dimensions()})
	}
	body, err := mappings.WithVectors(fields...)
	if err != nil {
		return nil, err
	}
	if err := opensearch.Call(ctx, client, http.MethodPut, "/"+x.name, body, nil); err != nil {
		return nil, err
	}
	for name, analyzer := range map[string]string{x.plain(): "", x.english(): "english"} {
		body, err := plainBody(analyzer)
		if err != nil {
			return x, err
		}
		if err := opensearch.Call(ctx, client, http.MethodPut, "/"+name, body, nil); err != nil {
			return x, err
		}
	}
	if err := opensearch.Call(ctx, client, http.MethodPut, "/"+x.name+"/_alias/"+mappings.Names(x.prefix).Alias(), nil, nil); err != nil {
		return x, err
	}
	for from := 0; from < len(set.assets); from += bulkSize {
		if err := x.load(ctx, set.assets[from:min(from+bulkSize, len(set.assets))], from); err != nil {
			return x, err
		}
	}
	return x, opensearch.Call(ctx, client, http.MethodPost, "/"+x.all()+"/_refresh", nil, nil)
}

// plain names the index that is ranked by BM25 as OpenSearch comes.
func (x *index) plain() string { return x.prefix + "bm25" }

// english names the index that is ranked by BM25 over English stems.
func (x *index) english() string { return x.prefix + "english" }

// all names the three indices.
func (x *index) all() string { return x.name + "," + x.plain() + "," + x.english() }

// plainBody is the product's mapping without what the product does to ranking: each
// field has OpenSearch's own similarity and the lengths of its texts. The analyzer, if
// any, is that of all its texts.
func plainBody(analyzer string) (map[string]any, error) {
	var body map[string]any
	if err := json.Unmarshal(mappings.Assets(), &body); err != nil {
		return nil, err
	}
	delete(body["settings"].(map[string]any)["index"].(map[string]any), "similarity")
	withNorms(body["mappings"])
	if analyzer != "" {
		withAnalyzer(body["mappings"], analyzer)
	}
	return body, nil
}

// withAnalyzer has all texts of a mapping analyzed alike.
func withAnalyzer(v any, analyzer string) {
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	if m["type"] == "text" {
		delete(m, "search_analyzer")
		m["analyzer"] = analyzer
	}
	for _, inner := range m {
		withAnalyzer(inner, analyzer)
	}
}

// withNorms takes what leaves lengths out of a mapping.
func withNorms(v any) {
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	delete(m, "norms")
	for _, inner := range m {
		withNorms(inner)
	}
}

const bulkSize = 250

// load writes some assets, the first of which has the given number.
func (x *index) load(ctx context.Context, list []*asset, first int) error {
	vectors := make([][]float32, len(list))
	if x.embedder != nil {
		texts := make([]string, len(list))
		for i, a := range list {
			texts[i] = a.text()
		}
		var err error
		if vectors, err = x.embedder.Embed(ctx, texts); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	for i, a := range list {
		d := a.document()
		if vectors[i] != nil {
			d.Vectors = map[string][]float32{x.embedder.ID(): vectors[i]}
		}
		raw, err := json.Marshal(d)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, `{"index":{"_id":%q,"routing":%q}}`+"\n%s\n", mappings.DocID(tenant, a.hash), mappings.Routing(tenant), raw)
		x.numbers[a.hash] = first + i
	}
	var response struct {
		Errors bool `json:"errors"`
	}
	var same bytes.Buffer
	for _, a := range list {
		raw, err := json.Marshal(a.document())
		if err != nil {
			return err
		}
		fmt.Fprintf(&same, `{"index":{"_id":%q,"routing":%q}}`+"\n%s\n", mappings.DocID(tenant, a.hash), mappings.Routing(tenant), raw)
	}
	for _, name := range []string{x.plain(), x.english()} {
		if err := opensearch.Call(ctx, x.client, http.MethodPost, "/"+name+"/_bulk", same.Bytes(), nil); err != nil {
			return err
		}
	}
	err := opensearch.Call(ctx, x.client, http.MethodPost, "/"+x.name+"/_bulk", b.Bytes(), &response)
	if err == nil && response.Errors {
		err = errors.New("the index refused documents of the judged set")
	}
	return err
}

// removeLimit bounds the clean-up of a run, which may have been interrupted.
const removeLimit = 30 * time.Second

func (x *index) remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), removeLimit)
	defer cancel()
	return opensearch.Call(ctx, x.client, http.MethodDelete, "/"+x.all()+"?ignore_unavailable=true", nil, nil)
}

// reader asks on behalf of somebody who may see the whole library.
var reader = library.Actor{Kind: library.ActorKey, ID: "relevance", Tenant: tenant, Tenants: []library.TenantID{tenant}, Permissions: library.Permissions}

// searchAssets returns the operation behind REST and MCP, over this index.
func (x *index) searchAssets(e embed.Embedder) op.Operation {
	service := &search.Service{Searcher: run.New(x.client, x.prefix, run.MaxTimeLimit), Embedder: e, Key: make([]byte, 32),
		Links: assets.Links{Signer: blob.NewSigner(make([]byte, 32))}}
	list := service.Operations()
	return list[slices.IndexFunc(list, func(o op.Operation) bool { return o.Name == "SearchAssets" })]
}

// product asks SearchAssets in a mode.
func (x *index) product(e embed.Embedder, mode string) func(context.Context, []*Query) ([][]int, error) {
	o := x.searchAssets(e)
	return func(ctx context.Context, queries []*Query) ([][]int, error) {
		out := make([][]int, len(queries))
		for i, q := range queries {
			response, err := patiently(ctx, o, q.Text, mode, e != nil)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", q.Text, err)
			}
			for _, h := range response.Data {
				out[i] = append(out[i], x.numbers[h.Hash])
			}
		}
		return out, nil
	}
}

// respell asks for the better spelling of queries and counts those with a slip that
// come back as they were meant, and those without one that come back at all.
func (x *index) respell(ctx context.Context, queries []*Query, report *Report) error {
	o := x.searchAssets(nil)
	for _, q := range queries {
		response, err := patiently(ctx, o, q.Text, "smart", false)
		if err != nil {
			return fmt.Errorf("%q: %w", q.Text, err)
		}
		report.repaired(q, response.DidYouMean != nil && (q.Intended == "" || response.DidYouMean.Query == q.Intended))
	}
	return nil
}

// patience is how often a search is asked again that fails, or that does without
// meaning because the vector of its words took too long.
const patience = 5

// answered is what is used of SearchAssets' answer.
type answered struct {
	Data []struct {
		Hash library.AssetHash `json:"asset_h"`
	} `json:"data"`
	DidYouMean *struct {
		Query string `json:"query"`
	} `json:"did_you_mean"`
	Degraded []string `json:"degraded"`
}

func patiently(ctx context.Context, o op.Operation, text, mode string, meaning bool) (response answered, err error) {
	for range patience {
		response = answered{}
		if err = ask(ctx, o, text, mode, &response); err != nil || ctx.Err() != nil {
			continue
		}
		if !meaning || !slices.Contains(response.Degraded, "semantic") {
			return response, nil
		}
		err = errors.New("the search did without meaning")
	}
	return response, err
}

func ask(ctx context.Context, o op.Operation, text, mode string, response *answered) error {
	answer, err := o.Call(ctx, reader, map[string]any{"query": text, "search_mode": mode, "limit": depth})
	if err != nil {
		return err
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, response)
}

// textFields are the fields that people's words are looked for in.
var textFields = []string{"title", "tags.text", "prompt", "description", "filename.text"}

// filter returns the conditions and exclusions of a query as OpenSearch has them.
func (x *index) filter(q *Query) map[string]any {
	must := []any{map[string]any{"term": map[string]any{"tenant_id": string(tenant)}}}
	for _, c := range q.Conditions {
		switch field := map[string]string{"tag": "tags"}[c.field]; {
		case c.relation == ">=":
			must = append(must, map[string]any{"range": map[string]any{c.field: map[string]any{"gte": strings.TrimLeft(c.value, "0")}}})
		case field != "":
			must = append(must, map[string]any{"term": map[string]any{field: c.value}})
		default:
			must = append(must, map[string]any{"term": map[string]any{c.field: c.value}})
		}
	}
	var not []any
	for _, words := range q.Excluded {
		not = append(not, map[string]any{"multi_match": map[string]any{"query": words, "fields": textFields, "type": "phrase"}})
	}
	return map[string]any{"filter": must, "must_not": not}
}

// bm25 asks OpenSearch as it comes: one multi_match over the text fields of an index.
func (x *index) bm25(name string) func(context.Context, []*Query) ([][]int, error) {
	return func(ctx context.Context, queries []*Query) ([][]int, error) {
		return x.raw(ctx, name, queries, func(q *Query) (map[string]any, error) {
			b := x.filter(q)
			b["must"] = map[string]any{"multi_match": map[string]any{"query": q.Words, "fields": textFields}}
			return map[string]any{"bool": b}, nil
		})
	}
}

// reciprocalRanks joins the nearest neighbors and BM25 over stems by the ranks that they
// give, as most engines do that join two retrievers.
func (x *index) reciprocalRanks(ctx context.Context, queries []*Query) ([][]int, error) {
	near, err := x.nearest(ctx, queries)
	if err != nil {
		return nil, err
	}
	words, err := x.bm25(x.english())(ctx, queries)
	if err != nil {
		return nil, err
	}
	out := make([][]int, len(queries))
	for i := range queries {
		out[i] = joinRanks(near[i], words[i])
	}
	return out, nil
}

// rankConstant is what a rank is added to before it is inverted.
const rankConstant = 60

// joinRanks adds up what the lists give to each of their members.
func joinRanks(lists ...[]int) []int {
	score := map[int]float64{}
	for _, list := range lists {
		for rank, n := range list {
			score[n] += 1 / float64(rankConstant+rank+1)
		}
	}
	joined := slices.SortedFunc(maps.Keys(score), func(a, b int) int { return cmp.Or(cmp.Compare(score[b], score[a]), a-b) })
	return joined[:min(len(joined), depth)]
}

// nearest asks OpenSearch for the nearest neighbours alone.
func (x *index) nearest(ctx context.Context, queries []*Query) ([][]int, error) {
	return x.raw(ctx, x.name, queries, func(q *Query) (map[string]any, error) {
		v, err := x.embedder.Embed(ctx, []string{q.Words})
		if err != nil || v[0] == nil {
			return map[string]any{"match_none": map[string]any{}}, err
		}
		return map[string]any{"knn": map[string]any{mappings.VectorField(x.embedder.ID()): map[string]any{
			"vector": v[0], "k": depth, "filter": map[string]any{"bool": x.filter(q)}}}}, nil
	})
}

// raw sends one search per query.
func (x *index) raw(ctx context.Context, name string, queries []*Query, body func(*Query) (map[string]any, error)) ([][]int, error) {
	out := make([][]int, len(queries))
	for i, q := range queries {
		ask, err := body(q)
		if err != nil {
			return nil, err
		}
		var response struct {
			Hits struct {
				Hits []struct {
					ID string `json:"_id"`
				} `json:"hits"`
			} `json:"hits"`
		}
		whole := map[string]any{"query": ask, "size": depth, "_source": false, "sort": []any{"_score", map[string]any{"asset_h": "asc"}}}
		if err := opensearch.Call(ctx, x.client, http.MethodPost, "/"+name+"/_search", whole, &response); err != nil {
			return nil, fmt.Errorf("%q: %w", q.Words, err)
		}
		for _, h := range response.Hits.Hits {
			_, hash, _ := strings.Cut(h.ID, ":")
			out[i] = append(out[i], x.numbers[library.AssetHash(hash)])
		}
	}
	return out, nil
}
