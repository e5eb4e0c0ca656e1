package indexer

import (
	"context"
	"net/http"
	"time"

	"vitrine/internal/opensearch"
	"vitrine/internal/retry"
)

// mergeLimit is how long a rebuild waits for the new index to merge its parts. After
// that searches move over all the same; the merges go on beside them.
const mergeLimit = 5 * time.Minute

// merged waits until the index being built merges nothing: right after it was filled,
// merges take the processors that its searches need, and many small parts make counts
// slow. What cannot be found out is not waited for.
func (c *reindex) merged(ctx context.Context) error {
	if err := c.x.refresh(ctx, c.next); err != nil {
		return err
	}
	for until := time.Now().Add(mergeLimit); time.Now().Before(until); {
		var stats struct {
			All struct {
				Primaries struct {
					Merges struct {
						Current int `json:"current"`
					} `json:"merges"`
				} `json:"primaries"`
			} `json:"_all"`
		}
		err := opensearch.Call(ctx, c.x.search, http.MethodGet, "/"+c.next+"/_stats/merge", nil, &stats)
		if err != nil || stats.All.Primaries.Merges.Current == 0 {
			return ctx.Err()
		}
		if err := retry.Sleep(ctx, mergePause); err != nil {
			return err
		}
	}
	return nil
}

// mergePause is between two looks at the merges.
const mergePause = 500 * time.Millisecond
