package search

import (
	"context"
	"sync"
	"time"

	"vitrine/embed"
	"vitrine/internal/panics"
)

// chance is how alike texts are by chance under the embedder. It is found out once
// in a process, beside the searches: a slow embedder takes longer for it than a
// search may wait. The zero value knows nothing yet.
type chance struct {
	mu    sync.Mutex
	value float64
	known bool
	done  chan struct{} // of the attempt under way
	after time.Time     // when another attempt may be made
}

const (
	chanceLimit = time.Minute // of an attempt
	chancePause = time.Minute // after one that failed
)

// allAlike is a cosine that all neighbours are above.
const allAlike = -1

// of gives the cosine up to which texts are alike by chance. While it is being
// found out it waits until ctx ends; where it cannot be, every neighbour counts.
func (c *chance) of(ctx context.Context, e embed.Embedder) float64 {
	select {
	case <-c.attempt(e):
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known {
		return allAlike
	}
	return c.value
}

// attempt gives a channel that closes when nothing is left to wait for.
func (c *chance) attempt(e embed.Embedder) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done != nil {
		return c.done
	}
	done := make(chan struct{})
	if c.known || time.Now().Before(c.after) {
		close(done)
		return done
	}
	c.done = done
	go c.find(e, done)
	return done
}

func (c *chance) find(e embed.Embedder, done chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), chanceLimit) // for all searches, not for the one that asked first
	defer cancel()
	value := 0.0
	err := panics.Try(func() (err error) {
		value, err = embed.Chance(ctx, e)
		return err
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.value, c.known, c.done = value, err == nil, nil
	c.after = time.Now().Add(chancePause)
	close(done)
}
