package service_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/internal/opensearch"
	"vitrine/mappings"
	"vitrine/service/servicetest"
)

// TestSearches_TellTheTruthWhileTheIndexIsLost takes the index away from a running
// service in several ways while searches go on. Every answer is complete, or says
// that assets may be missing, or is a 503 that says when to come again; and without a
// restart all assets are found again.
func TestSearches_TellTheTruthWhileTheIndexIsLost(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{})
	names := mappings.Names(e.Cfg.Prefix)
	ask := func(method, path string, body any) {
		t.Helper()
		if err := opensearch.Call(t.Context(), e.OpenSearch, method, path, body, nil); err != nil {
			t.Fatal(err)
		}
	}
	alias := names.Alias()
	files := 0
	store := func() {
		files++
		e.Search("", "", e.StoreFile("", fmt.Sprintf("fox%d.png", files), "image/png", picture(files), "winter").IndexToken)
	}
	for range 5 {
		store()
	}
	for n, c := range []struct {
		name string
		do   func(live string)
	}{
		{"the index is deleted", func(live string) { ask(http.MethodDelete, "/"+live, nil) }},
		{"the alias is removed", func(live string) { ask(http.MethodDelete, "/"+live+"/_alias/"+alias, nil) }},
		{"an index that nobody mapped takes its place", func(live string) {
			ask(http.MethodDelete, "/"+live, nil)
			ask(http.MethodPut, "/"+alias, map[string]any{})
		}},
	} {
		watch := watchSearches(t, e, files)
		c.do(names.Index(liveNumber(t, e)))
		servicetest.Eventually(t, c.name+": the index is complete again", func() error {
			status, found, _ := searchOnce(e)
			if status != http.StatusOK || found.Total != files || len(found.Degraded) > 0 {
				return fmt.Errorf("status %d, %d of %d files, degraded %v", status, found.Total, files, found.Degraded)
			}
			return nil
		})
		if problem := watch(); problem != "" {
			t.Errorf("%s: %s", c.name, problem)
		}
		store() // what is written afterwards is found
		if f := e.Search("", "tag:winter", ""); f.Total != 6+n {
			t.Errorf("%s: afterwards %d of %d files are found", c.name, f.Total, 6+n)
		}
	}
}

// liveNumber finds the generation that the alias points at.
func liveNumber(t *testing.T, e *servicetest.Env) (n int) {
	t.Helper()
	names := mappings.Names(e.Cfg.Prefix)
	var found map[string]json.RawMessage
	if err := opensearch.Call(t.Context(), e.OpenSearch, http.MethodGet, "/"+names.Alias()+"/_alias", nil, &found); err != nil {
		t.Fatal(err)
	}
	for name := range found {
		_, n, _ = names.Parse(name)
	}
	return n
}

func searchOnce(e *servicetest.Env) (status int, found servicetest.Found, retryAfter string) {
	status, body, header := e.Raw(http.MethodPost, "/api/v1/assets/search", e.Key, servicetest.JSON(map[string]any{"query": "tag:winter", "limit": 50}), nil)
	if status == http.StatusOK {
		if err := json.Unmarshal(body, &found); err != nil {
			e.T.Errorf("the answer to a search is unreadable: %v", err)
		}
	}
	return status, found, header.Get("Retry-After")
}

// watchSearches searches until the returned function is called, which returns the
// first answer that was neither complete nor honest.
func watchSearches(t *testing.T, e *servicetest.Env, least int) func() string {
	t.Helper()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var problem string
	seen := map[string]int{}
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			status, found, after := searchOnce(e)
			said := fmt.Sprintf("%d, degraded %v, Retry-After %q", status, found.Degraded, after)
			seen[said]++
			switch {
			case status == http.StatusOK && found.Total >= least:
			case status == http.StatusOK && slices.Contains(found.Degraded, "index_incomplete"):
			case status == http.StatusServiceUnavailable && after != "":
			case problem == "":
				problem = fmt.Sprintf("a search found %d of %d files: %s", found.Total, least, said)
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	return func() string {
		close(stop)
		wg.Wait()
		var list []string
		for said, n := range seen {
			list = append(list, fmt.Sprintf("%d× %s", n, said))
		}
		t.Log(strings.Join(list, "; "))
		return problem
	}
}
