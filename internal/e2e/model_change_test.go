package e2e

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/embed"
	"vitrine/service"
	"vitrine/service/servicetest"
)

// modelDimensions are enough for two texts to be unlike each other.
const modelDimensions = 64

// models is a provider of embeddings with any model one asks for; it can be down.
// Texts about a number are near each other, all others are unlike any other text.
func models(t *testing.T) (url string, down *atomic.Bool) {
	down = &atomic.Bool{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Model string
			Input []string
		}
		_ = json.NewDecoder(r.Body).Decode(&in)
		if down.Load() {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		var data []any
		for i, text := range in.Input {
			h := fnv.New64a()
			fmt.Fprint(h, in.Model, text)
			random := rand.New(rand.NewPCG(h.Sum64(), 0))
			v := make([]float64, modelDimensions)
			for d := range v {
				v[d] = random.NormFloat64()
			}
			if strings.Contains(text, "number") {
				v[0] += 30
			}
			data = append(data, map[string]any{"index": i, "embedding": v})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	t.Cleanup(s.Close)
	return s.URL, down
}

// TestEmbedding_AnotherModelTakesOverWhileBothProcessesAnswer starts a second process with
// another model beside the first, as a rolling update does.
func TestEmbedding_AnotherModelTakesOverWhileBothProcessesAnswer(t *testing.T) {
	t.Parallel()
	url, down := models(t)
	cfg := servicetest.Config(t)
	cfg.Embed = embed.Config{Driver: embed.OpenAI, URL: url, Model: "one", Dimensions: modelDimensions}
	first := servicetest.StartWith(t, cfg, nil)
	const count = 60
	for i := range count {
		first.StoreFile("", fmt.Sprintf("%d.png", i), "image/png", picture(i, fmt.Sprintf("a picture of number %d", i)))
	}
	complete := func(e *servicetest.Env, key string) func() error {
		return func() error {
			f, err := e.Client(key).SearchAssets(t.Context(), client.SearchAssetsInput{Query: "any number at all"})
			if err != nil {
				return err
			}
			if f.Total != count || len(f.Degraded) > 0 {
				return fmt.Errorf("%d found, degraded %v", f.Total, f.Degraded)
			}
			return nil
		}
	}
	servicetest.Eventually(t, "every picture is near any number", complete(first, ""))

	other := cfg
	other.Embed.Model, other.Listen = "two", anyAddress(t)
	second := servicetest.StartWith(t, other, []service.Role{service.RoleAPI, service.RoleIndex})
	stop := searchBoth(t, first, second, count)
	servicetest.Eventually(t, "the other model has taken over", complete(second, first.Key))
	time.Sleep(time.Second) // the first goes on answering, by words
	stop()

	down.Store(true)
	late := first.StoreFile("", "late.png", "image/png", picture(count, "a late picture")).Asset.AssetH
	servicetest.Eventually(t, "a picture is found by its words while the provider is away", func() error {
		f, err := second.Client(first.Key).SearchAssets(t.Context(), client.SearchAssetsInput{Query: "a late picture"})
		if err != nil {
			return err
		}
		if len(f.Data) == 0 || f.Data[0].AssetH != late || len(f.Degraded) == 0 {
			return fmt.Errorf("%d found, degraded %v", f.Total, f.Degraded)
		}
		return nil
	})
}

// searchBoth searches in two processes for pictures with numbers below count, each of which finds
// something, until stop is called.
func searchBoth(t *testing.T, first, second *servicetest.Env, count int) (stop func()) {
	t.Helper()
	var searching sync.WaitGroup
	end := make(chan struct{})
	for _, e := range []*servicetest.Env{first, second} {
		searching.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-end:
					return
				default:
				}
				f, err := e.Client(first.Key).SearchAssets(t.Context(), client.SearchAssetsInput{Query: fmt.Sprint("number ", n%count)})
				if err != nil || f.Total == 0 {
					t.Errorf("search %d at %s found %d: %v", n, e.URL, f.Total, err)
					return
				}
			}
		})
	}
	return func() { close(end); searching.Wait() }
}

// anyAddress returns a free address of this machine.
func anyAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
