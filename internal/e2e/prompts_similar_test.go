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

// promptSearch is a product whose prompts are searched.
type promptSearch struct {
	*servicetest.Env
	api *client.Client
}

// TestPrompts_AreFoundByWhatTheyMean searches the prompt library with the sentence model
// that the demo uses: by meaning behind words, never another tenant's, and never what was
// changed away or deleted.
func TestPrompts_AreFoundByWhatTheyMean(t *testing.T) {
	t.Parallel()
	dir := testenv.Model(t)
	product := servicetest.Start(t, servicetest.Options{Adjust: func(c *service.Config) {
		c.Embed = embed.Config{Driver: embed.Builtin, Dir: dir}
	}})
	ctx, api := t.Context(), product.Client("")
	e := promptSearch{product, api}
	other := e.Client(e.NewKey(e.NewTenant("other"), library.Permissions...))
	cat := createPrompt(t, api, "a {{mood|lazy}} cat sleeping on a {{place|sofa}}", "animals")
	car := createPrompt(t, api, "a red sports car on a mountain road", "vehicles")
	ramen := createPrompt(t, api, "a bowl of ramen with an egg", "food")
	foreign := createPrompt(t, other, "two kittens taking a nap in the sun", "animals")
	e.finds(client.SearchPromptsInput{Query: "kitten taking a nap"}, 1, cat)
	e.finds(client.SearchPromptsInput{Query: "fast automobile"}, 1, car)
	e.finds(client.SearchPromptsInput{Query: "noodle soup"}, 1, ramen)
	e.finds(client.SearchPromptsInput{Query: "kitten taking a nap", Category: "food"}, 0)
	e.finds(client.SearchPromptsInput{Query: "quarterly earnings report"}, 0)
	e.finds(client.SearchPromptsInput{Query: `"noodle soup"`}, 0) // these very words
	if got, _ := e.found(client.SearchPromptsInput{Query: "sports car"}); len(got) == 0 || got[0] != car {
		t.Errorf("its words find %v", got)
	}
	if _, err := api.UpdatePrompt(ctx, client.UpdatePromptInput{PromptH: car, PromptText: new("a lighthouse above the surf")}); err != nil {
		t.Fatal(err)
	}
	e.finds(client.SearchPromptsInput{Query: "beacon for ships on a coast"}, 1, car)
	e.finds(client.SearchPromptsInput{Query: "fast automobile"}, 0)
	if _, err := api.DeletePrompt(ctx, client.DeletePromptInput{PromptH: ramen}); err != nil {
		t.Fatal(err)
	}
	e.finds(client.SearchPromptsInput{Query: "noodle soup"}, 0)
	if out, err := other.SearchPrompts(ctx, client.SearchPromptsInput{Query: "kitten"}); err != nil || len(out.Data) != 1 || out.Data[0].PromptH != foreign {
		t.Errorf("the other tenant finds %+v, error %v", out.Data, err)
	}

	e.checkPromptIndex(cat)
}

// checkPromptIndex compares, rebuilds and inspects the index of prompts, as is done with that of assets.
func (e promptSearch) checkPromptIndex(cat string) {
	t, ctx := e.T, e.T.Context()
	t.Helper()
	report, err := e.Indexer.Reconcile(ctx, nil)
	if err != nil || report.Missing+report.Stale+report.Orphans+report.Ahead+report.Remaining != 0 || report.Count != 3 {
		t.Errorf("comparison: %+v, error %v", report, err)
	}
	if _, err := e.Indexer.Rebuild(ctx, nil); err != nil {
		t.Fatal(err)
	}
	e.finds(client.SearchPromptsInput{Query: "kitten taking a nap"}, 1, cat)
	inspected, err := e.Indexer.Inspect(ctx, time.Minute)
	if err != nil || len(inspected) != 3 || inspected[1].Index != "prompts" || inspected[1].Documents != 3 || !inspected[1].Agrees() || strings.TrimSpace(inspected[1].Problem) != "" {
		t.Errorf("doctor finds %+v, error %v", inspected, err)
	}
}

// createPrompt creates a prompt and returns its hash.
func createPrompt(t *testing.T, c *client.Client, text, category string) string {
	t.Helper()
	made, err := c.CreatePrompt(t.Context(), client.CreatePromptInput{PromptText: text, Category: category})
	if err != nil {
		t.Fatal(err)
	}
	return made.PromptH
}

// found returns the prompts that a search finds, and how many of them are similar only.
func (e promptSearch) found(in client.SearchPromptsInput) (hashes []string, similar int) {
	t := e.T
	t.Helper()
	out, err := e.api.SearchPrompts(t.Context(), in)
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

// finds waits until a search finds these prompts, of which so many are similar only.
func (e promptSearch) finds(in client.SearchPromptsInput, similar int, want ...string) {
	t := e.T
	t.Helper()
	servicetest.Eventually(t, fmt.Sprintf("%q", in.Query), func() error {
		got, n := e.found(in)
		if !slices.Equal(got, want) || n != similar {
			return fmt.Errorf("finds %v, %d of them similar; want %v", got, n, want)
		}
		return nil
	})
}
