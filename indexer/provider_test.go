package indexer

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"vitrine/embed"
)

// provider is a server of embeddings that counts what it is asked and can be down.
type provider struct {
	*httptest.Server
	mu     sync.Mutex
	asked  []string
	down   bool
	refuse string // a text that is never taken
}

func newProvider(t testing.TB) *provider {
	t.Helper()
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) serve(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.down:
		http.Error(w, "down", http.StatusServiceUnavailable)
		return
	case p.refuse != "" && slices.Contains(in.Input, p.refuse):
		http.Error(w, "refused", http.StatusBadRequest)
		return
	}
	p.asked = append(p.asked, in.Input...)
	var data []any
	for i, text := range in.Input {
		data = append(data, map[string]any{"index": i, "embedding": vectorOf(in.Model, text)})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
}

// vectorOf gives different texts different vectors, and each model its own.
func vectorOf(model, text string) []float32 {
	h := fnv.New64a()
	fmt.Fprint(h, model, text)
	v := make([]float32, 4)
	for i := range v {
		v[i] = float32(h.Sum64()>>(16*i)&0xffff) + 1
	}
	return v
}

func (p *provider) set(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}

func (p *provider) count(text string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.asked {
		if a == text {
			n++
		}
	}
	return n
}

func (p *provider) embedder(t testing.TB, model string) embed.Embedder {
	t.Helper()
	e, err := embed.Open(embed.Config{Driver: embed.OpenAI, URL: p.URL, Model: model, Dimensions: 4, Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}
