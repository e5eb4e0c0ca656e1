package search

import (
	"context"
	"errors"
	"time"

	"vitrine/library"
	"vitrine/query"
	"vitrine/query/run"
)

// cursorPage answers one page of a cursor, which reads from a PIT: whatever is written
// meanwhile, it shows every asset that was there at its beginning exactly once.
func (s *Service) cursorPage(ctx context.Context, actor library.Actor, in searchInput, compiled, near *query.Search, out *searchOutput) (run.Page, error) {
	id, err := searchID(actor, in)
	if err != nil {
		return run.Page{}, err
	}
	var c cursor
	opts := run.SearchOptions{}
	if in.Cursor == firstCursor {
		if c.PIT, err = s.openPIT(ctx, actor.Tenant); err != nil {
			return run.Page{}, err
		}
		c.Search = id
		if near == nil {
			opts.QueryVector, c.Degraded = s.queryVector(ctx, actor, query.Mode(in.SearchMode), compiled)
			if c.Weights, err = s.weights(ctx, actor, compiled); err != nil {
				return run.Page{}, errors.Join(err, s.closePIT(context.WithoutCancel(ctx), actor.Tenant, c.PIT))
			}
		}
	} else {
		if c, err = decodeCursor(s.Key, in.Cursor, id, time.Now()); err != nil {
			return run.Page{}, err
		}
		opts.TopK, opts.After, opts.SkipTotal = c.topK, c.After, true
	}
	opts.PIT = c.PIT
	compiled = compiled.Weigh(c.Weights)
	if near != nil {
		compiled = near
		compiled.Size = min(compiled.Size, max(0, maxNeighbours-c.Seen))
	}
	if opts.After == nil {
		compiled.From = c.Seen
	}
	page, err := s.Searcher.SearchWith(ctx, actor.Tenant, compiled, opts)
	if err != nil {
		if in.Cursor == firstCursor {
			_ = s.closePIT(context.WithoutCancel(ctx), actor.Tenant, c.PIT) // nobody will; else it ends by itself
		}
		return page, err
	}
	c.Degraded = c.Degraded || page.LexicalOnly
	out.lexicalOnly(c.Degraded)
	if !opts.SkipTotal {
		c.Total = page.Total
		if near != nil {
			c.Total = min(c.Total, maxNeighbours)
		}
	}
	page.Total, out.Offset = c.Total, c.Seen
	return page, s.nextCursor(ctx, actor, c, page, out)
}

// nextCursor writes the cursor of the page after this one, or closes the PIT when
// there is none.
func (s *Service) nextCursor(ctx context.Context, actor library.Actor, c cursor, page run.Page, out *searchOutput) error {
	c.Seen += len(page.Hits)
	if len(page.Hits) == 0 || int64(c.Seen) >= c.Total {
		return s.closePIT(ctx, actor.Tenant, c.PIT)
	}
	c.After = page.Hits[len(page.Hits)-1].Sort
	c.topK, c.Hybrid = page.TopK, page.TopK != nil
	now := time.Now()
	s.openPITs.touch(actor.Tenant, c.PIT, now)
	c.Expires = now.Add(run.PITKeepAlive).Unix()
	sealed, err := c.encode(s.Key)
	out.NextCursor = sealed
	return err
}
