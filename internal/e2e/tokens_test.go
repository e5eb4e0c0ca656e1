package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vitrine/internal/echo"
	"vitrine/internal/nodetest"
	"vitrine/internal/sample"
)

// The budget of an answer in the context of a model, in tokens.
const (
	maxSearchText = 2000 // 20 results, as a model reads them
	maxSearchJSON = 2000 // the same for programs
	maxDetails    = 1000 // one asset, on average
)

// storeSamples stores generated pictures and returns their hashes once all can be found.
func (w world) storeSamples(t *testing.T, count int) (hashes []string) {
	t.Helper()
	dir := t.TempDir()
	if _, err := sample.Write(t.Context(), dir, sample.Options{Count: count, Seed: 5, MaxEdge: 64}, nil); err != nil {
		t.Fatal(err)
	}
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".png" {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	token := ""
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) == 0 {
			continue
		}
		stored := w.StoreFile("", filepath.Base(file), "image/png", data)
		hashes = append(hashes, stored.Asset.AssetH)
		if stored.IndexToken != "" {
			token = stored.IndexToken
		}
	}
	w.Search("", "is:image", token)
	return hashes
}

// TestMCP_AnswersStayWithinTheTokenBudget counts what generated pictures cost a model that
// searches and looks at what it found.
func TestMCP_AnswersStayWithinTheTokenBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hashes := w.storeSamples(t, 40)
	c := w.mcp(echo.Modern, w.Key)
	found := c.Call(t, "SearchAssets", map[string]any{"limit": 20, "query": "-filename:lighthouse.png"}, nil)
	texts := map[string]string{"text": found.Content[0].Text, "json": string(found.Structured)}
	for _, hash := range hashes {
		texts[hash] = string(c.Call(t, "GetAssetDetails", map[string]any{"asset_h": hash}, nil).Structured)
	}
	lines := strings.Split(found.Content[0].Text, "\n")
	if len(lines) != 21 || len(hashes) < 20 || !strings.HasPrefix(lines[0], "20 of ") || !strings.Contains(lines[0], "offset 20") {
		t.Fatalf("the text has %d lines, there are %d assets: %s", len(lines), len(hashes), lines[0])
	}
	withModel := 0
	for _, line := range lines[1:] {
		parts := strings.Split(line, " | ")
		if len(parts) < 2 || !slices.Contains(hashes, parts[0]) {
			t.Errorf("a result does not begin with its hash: %s", line)
		}
		if len(parts) > 3 {
			withModel++
		}
	}
	if withModel < 10 {
		t.Errorf("only %d results have a model and a prompt:\n%s", withModel, found.Content[0].Text)
	}
	counts := nodetest.Tokens(t, texts)
	details := 0
	for _, hash := range hashes {
		details += counts[hash]
	}
	details /= len(hashes)
	t.Logf("SearchAssets(20): %d tokens as text, %d as JSON; GetAssetDetails: %d on average", counts["text"], counts["json"], details)
	if counts["text"] > maxSearchText || counts["json"] > maxSearchJSON || details > maxDetails {
		t.Errorf("allowed are %d as text, %d as JSON; %d for details", maxSearchText, maxSearchJSON, maxDetails)
	}
}
