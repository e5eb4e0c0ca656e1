package search

import (
	"context"
	"errors"
	"testing"
	"time"

	"vitrine/embed"
)

// slow is an embedder that takes its time for many texts, or fails.
type slow struct {
	embed.Embedder
	takes time.Duration
	fails bool
	asked int
}

func (s *slow) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	s.asked++
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(s.takes):
	}
	if s.fails {
		return nil, errors.New("down")
	}
	out := make([][]float32, len(texts))
	out[0], out[1] = []float32{1, 0}, []float32{0.6, 0.8}
	return out, nil
}

func TestMinSimilarity_ChanceIsFoundOutOnceHoweverLongItTakes(t *testing.T) {
	t.Parallel()
	e, c := &slow{takes: 300 * time.Millisecond}, minSimilarity{}
	hurried, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	for range 3 {
		if got := c.get(hurried, e, []float32{1, 0}); got != noMinSimilarity {
			t.Errorf("a search that could not wait got %g", got)
		}
	}
	if got := c.get(t.Context(), e, []float32{1, 0}); got < 0.59 || got > 0.61 {
		t.Errorf("got %g instead of 0.6", got)
	}
	if e.asked != 1 {
		t.Errorf("the embedder was asked %d times", e.asked)
	}
}

func TestMinSimilarity_AnEmbedderThatIsDownIsNotAskedForChanceByEverySearch(t *testing.T) {
	t.Parallel()
	e, c := &slow{fails: true}, minSimilarity{}
	for range 3 {
		if got := c.get(t.Context(), e, []float32{1, 0}); got != noMinSimilarity {
			t.Errorf("got %g", got)
		}
	}
	if e.asked != 1 {
		t.Errorf("the embedder was asked %d times", e.asked)
	}
}
