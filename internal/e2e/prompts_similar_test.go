package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/embed"
	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/service"
	"vitrine/service/servicetest"
)

// TestPrompts_AreFoundByWhatTheyMean searches the prompt library with the sentence model
// that the demo uses: by meaning behind words, never another tenant's, and never what was
// changed away or deleted.
func TestPrompts_AreFoundByWhatTheyMean(t *testing.T) {
	t.Parallel()
	dir := testenv.Model(t)
	e := servicetest.Start(t, servicetest.Options{Adjust: func(c *service.Config) {
		c.Embed = embed.Config{Driver: embed.Builtin, Dir: dir}
	}})
	ctx, api := t.Context(), e.Client("")
	other := e.Client(e.NewKey(e.NewTenant("other"), library.Permissions...))
	create := func(c *client.Client, text, category string) string {
		t.Helper()
		made, err := c.CreatePrompt(ctx, client.CreatePromptInput{PromptText: text, Category: category})
		if err != nil {
			t.Fatal(err)
		}
		return made.PromptH
	}
	cat := create(api, "a {{mood|lazy}} cat sleeping on a {{place|sofa}}", "animals")
	car := create(api, "a red sports car on a mountain road", "vehicles")
	ramen := create(api, "a bowl of ramen with an egg", "food")
	foreign := create(other, "two kittens taking a nap in the sun", "animals")
	found := func(in client.SearchPromptsInput) (hashes []string, similar int) {
		t.Helper()
		out, err := api.SearchPrompts(ctx, in)
		if err != nil {
			t.Fatal(err)
		}
		if int(out.Total) != len(out.Data) {
			t.Errorf("%+v: %d of %d", in, len(out.Data), out.Total)
		}
		for _, p := range out.Data {
			hashes = append(hashes, p.PromptH)
			if p.Similar {
				similar++
			}
		}
		return hashes, similar
	}
	finds := func(in client.SearchPromptsInput, similar int, want ...string) {
		t.Helper()
		servicetest.Eventually(t, fmt.Sprintf("%q", in.Query), func() error {
			got, n := found(in)
			if !slices.Equal(got, want) || n != similar {
				return fmt.Errorf("finds %v, %d of them similar; want %v", got, n, want)
			}
			return nil
		})
	}
	finds(client.SearchPromptsInput{Query: "kitten taking a nap"}, 1, cat)
	finds(client.SearchPromptsInput{Query: "fast automobile"}, 1, car)
	finds(client.SearchPromptsInput{Query: "noodle soup"}, 1, ramen)
	finds(client.SearchPromptsInput{Query: "kitten taking a nap", Category: "food"}, 0)
	finds(client.SearchPromptsInput{Query: "quarterly earnings report"}, 0)
	finds(client.SearchPromptsInput{Query: `"noodle soup"`}, 0) // these very words
	if got, _ := found(client.SearchPromptsInput{Query: "sports car"}); len(got) == 0 || got[0] != car {
		t.Errorf("its words find %v", got)
	}
	if _, err := api.UpdatePrompt(ctx, client.UpdatePromptInput{PromptH: car, PromptText: new("a lighthouse above the surf")}); err != nil {
		t.Fatal(err)
	}
	finds(client.SearchPromptsInput{Query: "beacon for ships on a coast"}, 1, car)
	finds(client.SearchPromptsInput{Query: "fast automobile"}, 0)
	if _, err := api.DeletePrompt(ctx, client.DeletePromptInput{PromptH: ramen}); err != nil {
		t.Fatal(err)
	}
	finds(client.SearchPromptsInput{Query: "noodle soup"}, 0)
	if out, err := other.SearchPrompts(ctx, client.SearchPromptsInput{Query: "kitten"}); err != nil || len(out.Data) != 1 || out.Data[0].PromptH != foreign {
		t.Errorf("the other tenant finds %+v, error %v", out.Data, err)
	}

	// The index of prompts is compared, rebuilt and looked after like that of assets.
	report, err := e.Indexer.Reconcile(ctx, nil)
	if err != nil || report.Missing+report.Stale+report.Orphans+report.Ahead+report.Remaining != 0 || report.Count != 3 {
		t.Errorf("comparison: %+v, error %v", report, err)
	}
	if _, err := e.Indexer.Rebuild(ctx, nil); err != nil {
		t.Fatal(err)
	}
	finds(client.SearchPromptsInput{Query: "kitten taking a nap"}, 1, cat)
	inspected, err := e.Indexer.Inspect(ctx, time.Minute)
	if err != nil || len(inspected) != 3 || inspected[1].Index != "prompts" || inspected[1].Documents != 3 || !inspected[1].Agrees() || strings.TrimSpace(inspected[1].Problem) != "" {
		t.Errorf("doctor finds %+v, error %v", inspected, err)
	}
}
