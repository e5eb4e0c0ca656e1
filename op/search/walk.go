package search

import (
	"context"
	"time"

	"vitrine/library"
	"vitrine/query"
	"vitrine/query/run"
)

// walk answers one page of a walk, which reads from a point: whatever is written
// meanwhile, it shows every asset that was there at its beginning exactly once.
func (s *Service) walk(ctx context.Context, actor library.Actor, in searchInput, compiled, near *query.Search, out *searchOutput) (run.Page, error) {
	id, err := searchID(actor, in)
	if err != nil {
		return run.Page{}, err
	}
	var c cursor
	how := run.How{}
	if in.Cursor == firstCursor {
		if c.Point, err = s.begin(ctx, actor.Tenant); err != nil {
			return run.Page{}, err
		}
		c.Search = id
		if near == nil {
			how.Meaning, c.Degraded = s.meaning(ctx, query.Mode(in.SearchMode), compiled)
		}
	} else {
		if c, err = openCursor(s.Key, in.Cursor, id, time.Now()); err != nil {
			return run.Page{}, err
		}
		how.Head, how.After, how.Counted = c.head, c.After, true
	}
	how.Point = c.Point
	if near != nil {
		compiled = near
	}
	if how.After == nil {
		compiled.From = c.Seen
	}
	page, err := s.Searcher.Find(ctx, actor.Tenant, compiled, how)
	if err != nil {
		if in.Cursor == firstCursor {
			_ = s.end(context.WithoutCancel(ctx), actor.Tenant, c.Point) // nobody will; else it ends by itself
		}
		return page, err
	}
	c.Degraded = c.Degraded || page.WordsOnly
	out.wordsOnly(c.Degraded)
	if !how.Counted {
		c.Total = page.Total
		if near != nil {
			c.Total = min(c.Total, nearest)
		}
	}
	page.Total, out.Offset = c.Total, c.Seen
	return page, s.next(ctx, actor, c, page, out)
}

// next writes the cursor of the page after this one, or gives the point back when
// there is none.
func (s *Service) next(ctx context.Context, actor library.Actor, c cursor, page run.Page, out *searchOutput) error {
	c.Seen += len(page.Hits)
	if len(page.Hits) == 0 || int64(c.Seen) >= c.Total {
		return s.end(ctx, actor.Tenant, c.Point)
	}
	c.After = page.Hits[len(page.Hits)-1].Sort
	c.head, c.Fused = page.Head, page.Head != nil
	now := time.Now()
	s.walks.goesOn(actor.Tenant, c.Point, now)
	c.Expires = now.Add(run.PointValid).Unix()
	sealed, err := c.seal(s.Key)
	out.NextCursor = sealed
	return err
}
