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
func (s *Service) cursorPage(ctx context.Context, actor library.Actor, in searchInput, req query.Request, compiled, near *query.Search, out *searchOutput) (run.Page, error) {
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
			opts.QueryVector, c.Degraded = s.queryVector(ctx, actor, req.Mode, compiled)
			if c.Weights, err = s.weights(ctx, actor, compiled); err != nil {
				return run.Page{}, errors.Join(err, s.closePIT(context.WithoutCancel(ctx), actor.Tenant, c.PIT))
			}
		}
	} else {
		if c, err = decodeCursor(s.Key, in.Cursor, id, time.Now()); err != nil {
			return run.Page{}, err
		}
		opts.TopK, opts.Similar, opts.After, opts.SkipTotal = c.topK, c.similar(), c.After, true
		if req.LeftOut = c.LeftOut; near == nil && req.LeftOut != nil {
			if _, compiled, err = s.compile(ctx, actor, in.Query, req); err != nil {
				return run.Page{}, err
			}
		}
	}
	opts.PIT = c.PIT
	page, err := s.cursorHits(ctx, actor, in, req, compiled, near, opts, &c)
	if err != nil {
		if in.Cursor == firstCursor {
			_ = s.closePIT(context.WithoutCancel(ctx), actor.Tenant, c.PIT) // nobody will; else it ends by itself
		}
		return page, err
	}
	if c.LeftOut != nil {
		out.Relaxed = &relaxation{c.LeftOut}
	}
	c.Degraded = c.Degraded || page.LexicalOnly
	out.lexicalOnly(c.Degraded)
	if !opts.SkipTotal {
		c.Total, c.ByWords = page.Total, page.LexicalTotal
		if near != nil {
			c.Total = min(c.Total, maxNeighbours)
		}
	}
	page.LexicalTotal = c.ByWords
	page.Total, out.Offset = c.Total, c.Seen
	return page, s.nextCursor(ctx, actor, c, page, out)
}

// cursorHits runs the search of a page. Its first page finds out which words are left out.
func (s *Service) cursorHits(ctx context.Context, actor library.Actor, in searchInput, req query.Request, compiled, near *query.Search, opts run.SearchOptions, c *cursor) (run.Page, error) {
	find := func(compiled *query.Search) (run.Page, error) {
		if opts.After == nil {
			compiled.From = c.Seen
		}
		return s.Searcher.SearchWith(ctx, actor.Tenant, compiled, opts)
	}
	switch {
	case near != nil:
		near.Size = min(near.Size, max(0, maxNeighbours-c.Seen))
		page, err := find(near)
		onlySimilar(&page)
		return page, err
	case opts.SkipTotal:
		return find(compiled.Weigh(c.Weights))
	}
	page, relaxed, err := s.findRelaxed(ctx, actor, in.Query, req, compiled, func(compiled *query.Search) (run.Page, error) { return find(compiled.Weigh(c.Weights)) })
	if relaxed != nil {
		c.LeftOut = relaxed.LeftOut
	}
	return page, err
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
	c.setSimilar(page.Similar)
	now := time.Now()
	s.openPITs.touch(actor.Tenant, c.PIT, now)
	c.Expires = now.Add(run.PITKeepAlive).Unix()
	sealed, err := c.encode(s.Key)
	out.NextCursor = sealed
	return err
}
