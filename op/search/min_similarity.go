package search

import (
	"context"
	"sync"
	"time"

	"vitrine/embed"
	"vitrine/internal/panics"
)

// minSimilarity is how alike texts are by chance under the embedder. It is found out once
// in a process, beside the searches: a slow embedder takes longer for it than a
// search may wait. The zero value knows nothing yet.
type minSimilarity struct {
	mu      sync.Mutex
	value   embed.Baseline
	known   bool
	done    chan struct{} // of the attempt under way
	retryAt time.Time     // when another attempt may be made
}

const (
	measureTimeout    = time.Minute // of an attempt
	measureRetryAfter = time.Minute // after one that failed
)

// noMinSimilarity is a cosine that all neighbours are above.
const noMinSimilarity = -1

// get returns the cosine up to which texts are like a query by chance. While the baseline is
// being found out it waits until ctx ends; where it cannot be, every neighbour counts.
func (c *minSimilarity) get(ctx context.Context, e embed.Embedder, query []float32) float64 {
	select {
	case <-c.measureOnce(e):
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known {
		return noMinSimilarity
	}
	return c.value.MinSimilarity(query)
}

// measureOnce returns a channel that closes when nothing is left to wait for.
func (c *minSimilarity) measureOnce(e embed.Embedder) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done != nil {
		return c.done
	}
	done := make(chan struct{})
	if c.known || time.Now().Before(c.retryAt) {
		close(done)
		return done
	}
	c.done = done
	go c.measure(e, done)
	return done
}

func (c *minSimilarity) measure(e embed.Embedder, done chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), measureTimeout) // for all searches, not for the one that asked first
	defer cancel()
	var value embed.Baseline
	err := panics.Try(func() (err error) {
		value, err = embed.MeasureBaseline(ctx, e)
		return err
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.value, c.known, c.done = value, err == nil, nil
	c.retryAt = time.Now().Add(measureRetryAfter)
	close(done)
}
