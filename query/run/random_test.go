package run_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"vitrine/embed"
	"vitrine/internal/randtest"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/query"
	"vitrine/query/internal/naive"
	"vitrine/query/internal/samples"
	"vitrine/service"
	"vitrine/service/servicetest"
)

// inputs is how many random queries the usual run sends with each seed.
const inputs = 1000

// TestRandom_NoQueryMakesTheServiceFail sends random texts in every mode, order and
// operation through the running service. Whatever is typed, the answer is results
// or a sentence about the query, never a failure of the service.
func TestRandom_NoQueryMakesTheServiceFail(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{Adjust: func(c *service.Config) {
		c.Embed = embed.Config{Driver: embed.OpenAI, URL: provider(t), Model: "test", Dimensions: 4}
	}})
	load(t, e)
	randtest.Run(t, func(t *testing.T, r *rand.Rand) { sendRandom(t, e, r, randtest.Cases(t, inputs)) })
}

func sendRandom(t *testing.T, e *servicetest.Env, seeds *rand.Rand, n int) {
	const workers = 4
	answers := map[int]int{}
	busy := 0
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range workers {
		r := randtest.NewRand(seeds.Uint64())
		wg.Go(func() {
			for range n / workers {
				method, path, body := random(r, e.Embedder.ID())
				for body != nil || method == http.MethodGet {
					status, answer, waited := ask(t, e, method, path, body)
					mu.Lock()
					answers[status]++
					busy += waited
					mu.Unlock()
					if status >= 500 || status == 0 {
						t.Errorf("%d for %s %s %q: %.500s", status, method, path, body, answer)
					}
					body, method = following(body, answer), http.MethodPost
				}
			}
		})
	}
	wg.Wait()
	t.Logf("answers by status: %v; %d requests were repeated because the servers were busy", answers, busy)
	if answers[200] < n/2 {
		t.Errorf("only %d of %d queries were answered: the test asks nonsense", answers[200], n)
	}
}

// ask repeats what is answered with 503: the servers are shared with other tests,
// and such an answer says nothing about the query unless it stays.
func ask(t *testing.T, e *servicetest.Env, method, path string, body []byte) (status int, answer []byte, waited int) {
	for ; ; waited++ {
		req, err := http.NewRequestWithContext(t.Context(), method, e.URL+path, bytes.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("X-API-Key", e.Key)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		status = res.StatusCode
		answer, _ = io.ReadAll(res.Body)
		res.Body.Close()
		if status != http.StatusServiceUnavailable || waited == 10 {
			return
		}
		time.Sleep(2 * time.Second)
	}
}

// following returns the request for the next page of a walk, or nil: a walk that is
// left would hold its point for minutes.
func following(body, answer []byte) []byte {
	var told struct {
		Next string `json:"next_cursor"`
	}
	var in map[string]any
	if json.Unmarshal(answer, &told) != nil || told.Next == "" || json.Unmarshal(body, &in) != nil {
		return nil
	}
	in["cursor"], in["limit"] = told.Next, 100
	next, err := json.Marshal(in)
	if err != nil {
		panic(err) // it was JSON a moment ago
	}
	return next
}

var orders = []string{"relevance", "created", "title", "seed", "size"}

// random draws a request.
func random(r *rand.Rand, config string) (method, path string, body []byte) {
	text := samples.Soup(r, 12)
	if r.IntN(4) == 0 {
		text = samples.Query(r)
	}
	in := map[string]any{"query": text, "search_mode": query.Modes[r.IntN(len(query.Modes))]}
	path = "/api/v1/assets/search"
	switch r.IntN(10) {
	case 0:
		in["facets"], path = []string{query.FacetNames()[r.IntN(len(query.FacetNames()))]}, "/api/v1/assets/facets"
	case 1:
		return http.MethodGet, "/api/v1/query/suggest?query=" + url.QueryEscape(text), nil
	default:
		in["limit"], in["order_by"], in["highlight"] = 1+r.IntN(20), orders[r.IntN(len(orders))], r.IntN(3) == 0
		switch r.IntN(12) {
		case 0:
			in["cursor"] = "*"
		case 1:
			in["offset"] = r.IntN(1000)
		case 2:
			delete(in, "query")
			in["embedding_configuration_h"], in["query_vector"] = config, []float64{r.Float64(), r.Float64(), 0, 1}
		}
	}
	body, err := json.Marshal(in)
	if err != nil {
		panic(err) // plain values
	}
	return http.MethodPost, path, body
}

// provider serves vectors that follow from the text alone.
func provider(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		var data []any
		for i, text := range in.Input {
			data = append(data, map[string]any{"index": i, "embedding": vector(text)})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func vector(text string) []float32 {
	h := fnv.New64a()
	fmt.Fprint(h, text)
	v := make([]float32, 4)
	for i := range v {
		v[i] = float32(int16(h.Sum64()>>(16*i))) + 0.5
	}
	return v
}

// load puts documents into the service's index.
func load(t *testing.T, e *servicetest.Env) {
	var b bytes.Buffer
	for _, d := range naive.Documents(e.Tenant, library.TenantID("22222222-2222-4222-8222-222222222222"), 300, 11) {
		if !d.Deleted {
			d.Vectors = map[string][]float32{e.Embedder.ID(): vector(d.Prompt)}
		}
		raw, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, `{"index":{"_id":%q,"routing":%q}}`+"\n%s\n", mappings.DocID(d.TenantID, d.AssetH), mappings.Routing(d.TenantID), raw)
	}
	res, err := http.Post(e.Cfg.OpenSearchURL[0]+"/"+mappings.Names(e.Cfg.Prefix).Index(1)+"/_bulk?refresh=true", "application/json", &b)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	told, err := io.ReadAll(res.Body)
	if err != nil || !bytes.Contains(told, []byte(`"errors":false`)) {
		t.Fatalf("the index refused documents: %v %.1000s", err, told)
	}
}
