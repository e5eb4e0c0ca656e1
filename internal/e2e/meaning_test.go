package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"vitrine/api/client"
	"vitrine/embed"
	"vitrine/internal/testenv"
	"vitrine/service"
	"vitrine/service/servicetest"
	"vitrine/store/storetest"
)

// TestSearch_PictureIsFoundByWhatItMeans uses the sentence model that the demo uses.
func TestSearch_PictureIsFoundByWhatItMeans(t *testing.T) {
	t.Parallel()
	dir := testenv.Model(t)
	e := servicetest.Start(t, servicetest.Options{Adjust: func(c *service.Config) {
		c.Embed = embed.Config{Driver: embed.Builtin, Dir: dir}
	}})
	prompts := []string{"a cat sleeping on a sofa", "a red sports car on a mountain road", "a bowl of ramen with an egg", "an old sailing ship in a storm", "a portrait of a queen with a crown"}
	hashes := make([]string, len(prompts))
	for i, p := range prompts {
		hashes[i] = e.StoreFile("", fmt.Sprintf("%d.png", i), "image/png", picture(i, p)).Asset.AssetH
	}
	likeTheFirst := client.SearchAssetsInput{SimilarToAssetH: hashes[0], EmbeddingConfigurationH: e.Embedder.ID()}
	servicetest.Eventually(t, "every picture has its vector", func() error {
		out, err := e.Client("").SearchAssets(t.Context(), likeTheFirst)
		if err != nil {
			return err
		}
		if f := (servicetest.Found{SearchAssetsOutput: out, Total: int(out.Total)}); f.Total != len(prompts)-1 || f.Has(hashes[0]) {
			return fmt.Errorf("%d pictures are like the first", f.Total)
		}
		return nil
	})
	servicetest.Eventually(t, "the first picture has a vector under the present configuration", func() error { // details wait for the index only a moment
		d, err := e.Client("").GetAssetDetails(t.Context(), client.GetAssetDetailsInput{AssetH: hashes[0]})
		if err == nil && !slices.Equal(d.Embedding.Configurations, []string{e.Embedder.ID()}) {
			err = fmt.Errorf("its configurations are %v, want %s", d.Embedding.Configurations, e.Embedder.ID())
		}
		return err
	})
	for q, want := range map[string]int{"kitten taking a nap": 0, "fast automobile": 1, "noodle soup": 2, "boat at sea": 3, "royal woman": 4} {
		if f := e.Search("", q, ""); f.Data[0].AssetH != hashes[want] {
			t.Errorf("%q finds %s first, want %s", q, f.Data[0].Filename, prompts[want])
		}
	}
	servicetest.Eventually(t, "words that no picture is about find nothing", func() error { // how many have a vector is counted now and then
		if f := e.Search("", "quarterly earnings report", ""); f.Total != 0 || len(f.Degraded) > 0 {
			return fmt.Errorf("they find %d, degraded %v", f.Total, f.Degraded)
		}
		return nil
	})
	var facets struct {
		Total    int
		Degraded []string
	}
	kitten := e.Search("", "kitten", "").Total
	e.Call(http.MethodPost, "/api/v1/assets/facets", map[string]any{"query": "kitten", "facets": []string{"tool"}}, &facets)
	if facets.Total != kitten || kitten == 0 || slices.Contains(facets.Degraded, "semantic") {
		t.Errorf("facets count %+v where the search finds %d", facets, kitten)
	}
	enrichMeaning(t, e, hashes)
	duplicatesInMeaning(t, e, hashes[0], prompts[0])
}

// enrichMeaning has a pipeline make the vectors of pictures anew, of which none is kept, and of one without words.
func enrichMeaning(t *testing.T, e *servicetest.Env, hashes []string) {
	t.Helper()
	silent := e.StoreFile("", "1234.png", "image/png", picture(78, "")).Asset.AssetH
	db := storetest.Owner(t, e.Cfg.PostgresURL)
	if tag, err := db.Exec(t.Context(), `DELETE FROM embeddings`); err != nil || tag.RowsAffected() < int64(len(hashes)) {
		t.Fatalf("%d vectors were kept: %v", tag.RowsAffected(), err)
	}
	out, err := e.Client("").ExecutePipeline(t.Context(), client.ExecutePipelineInput{TimeoutMS: 60_000, Stages: []map[string]any{
		{"type": "ids", "config": map[string]any{"asset_ids": append(slices.Clone(hashes), silent)}}, {"type": "enrich", "config": map[string]any{"operations": []any{"embedding"}}}}})
	if err != nil || out.State != "completed" {
		t.Fatalf("%+v, %v", out, err)
	}
	if row := out.Stages[1].Result.Rows[0]; fmt.Sprint(row) != "[embedding ok 5 1 0]" {
		t.Errorf("enrich reports %v", row)
	}
	made := 0
	if err := db.QueryRow(t.Context(), `SELECT count(*) FROM embeddings WHERE vector IS NOT NULL`).Scan(&made); err != nil || made < len(hashes) {
		t.Errorf("%d vectors were made: %v", made, err)
	}
}

// duplicatesInMeaning stores another picture of the same idea and unlinks it.
func duplicatesInMeaning(t *testing.T, e *servicetest.Env, first, prompt string) {
	t.Helper()
	twin := e.StoreFile("", "twin.png", "image/png", picture(77, prompt)).Asset.AssetH
	near := client.FindDuplicatesInput{By: "embedding", AssetH: first}
	servicetest.Eventually(t, "the twin is near in meaning", func() error {
		got, err := e.Client("").FindDuplicates(t.Context(), near)
		if err == nil && (got.Total != 1 || got.Groups[0].Total != 2 || !slices.ContainsFunc(got.Groups[0].Assets, func(a client.SearchDuplicate) bool { return a.AssetH == twin })) {
			err = fmt.Errorf("the groups are %+v", got)
		}
		return err
	})
	if _, err := e.Client("").UnlinkDuplicates(t.Context(), client.UnlinkDuplicatesInput{AssetHs: []string{first, twin}}); err != nil {
		t.Fatal(err)
	}
	if got, err := e.Client("").FindDuplicates(t.Context(), near); err != nil || got.Total != 0 {
		t.Errorf("unlinked it is %+v, %v", got, err)
	}
}
