package testenv

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// OpenSearch returns the URL of the server and a prefix such as "t4711x0a1b2c3d-" for the names of everything the test
// makes there. Indices and index templates of that prefix are deleted when the test ends.
func OpenSearch(t testing.TB) (url, prefix string) {
	t.Helper()
	url = Stack(t).OpenSearchURL
	sweepIndices(url)
	prefix = newName() + "-"
	t.Cleanup(func() {
		ctx, cancel := cleanupContext()
		defer cancel()
		if err := deleteIndices(ctx, url, func(name string) bool { return strings.HasPrefix(name, prefix) }); err != nil {
			t.Errorf("delete the indices of the test: %v", err)
		}
	})
	return url, prefix
}

var sweptIndices sync.Once

func sweepIndices(url string) {
	sweptIndices.Do(func() {
		ctx, cancel := cleanupContext()
		defer cancel()
		// Another process may be sweeping the same names; what is left is found next time.
		_ = deleteIndices(ctx, url, abandoned)
	})
}

// openSearchClient keeps no connection open, so that a test that looks for leaks finds only its own.
var openSearchClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// deleteIndices deletes the indices and index templates whose name is chosen.
func deleteIndices(ctx context.Context, url string, chosen func(name string) bool) error {
	var indices []struct {
		Index string `json:"index"`
	}
	if err := call(ctx, http.MethodGet, url+"/_cat/indices?format=json&h=index&expand_wildcards=all", &indices); err != nil {
		return err
	}
	for _, index := range indices {
		if chosen(index.Index) {
			if err := call(ctx, http.MethodDelete, url+"/"+index.Index+"?ignore_unavailable=true", nil); err != nil {
				return err
			}
		}
	}
	var templates struct {
		All []struct {
			Name string `json:"name"`
		} `json:"index_templates"`
	}
	if err := call(ctx, http.MethodGet, url+"/_index_template", &templates); err != nil {
		return err
	}
	for _, template := range templates.All {
		if chosen(template.Name) {
			if err := call(ctx, http.MethodDelete, url+"/_index_template/"+template.Name, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func call(ctx context.Context, method, url string, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return err
	}
	response, err := openSearchClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK && !(method == http.MethodDelete && response.StatusCode == http.StatusNotFound) {
		return fmt.Errorf("%s %s answers %s: %.300s", method, request.URL.Path, response.Status, body)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(body, into)
}
