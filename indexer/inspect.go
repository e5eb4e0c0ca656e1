package indexer

import (
	"context"
	"time"

	"vitrine/store/indexstate"
)

// Inspection is what a comparison found that repairs nothing.
type Inspection struct {
	Index      string // "assets" or another
	Problem    string // what keeps searches or writes from an index, or ""
	Incomplete string // why searches say that the index is incomplete, or ""
	Rows       int64  // in the library, without the trash
	Documents  int64  // in the index, without tombstones
	Compared   int64  // rows whose documents were looked at, the trash included

	Missing int64         // live rows without a document
	Stale   int64         // documents older than their row
	Orphans int64         // documents of what is in the trash or gone
	Ahead   int64         // documents newer than their row: the database went back in time
	Behind  time.Duration // since the oldest change that the index lacks
	Refused int64         // documents that the index refused: they are not found
	Partial int64         // documents that the index took without some parts
}

// Agrees reports whether no difference was found.
func (i Inspection) Agrees() bool { return i.Missing+i.Stale+i.Orphans+i.Ahead == 0 }

// Inspect compares the library with its indices and repairs nothing. Of each index it
// looks at as many rows as it can in about the given time. A document that arrives within a
// second is no difference. The index of assets is the first.
func (x *Indexer) Inspect(ctx context.Context, limit time.Duration) ([]Inspection, error) {
	var list []Inspection
	err := x.eachShared(ctx, func(x *Indexer) error {
		out := Inspection{Index: x.def.name()}
		until := time.Now().Add(limit)
		err := x.each(ctx, func(x *Indexer) error { return x.inspectScope(ctx, until, &out) })
		if err == nil {
			out.Refused, out.Partial, err = x.store.IndexFailures.Count(ctx, x.def.name())
		}
		list = append(list, out)
		return err
	})
	return list, err
}

func (x *Indexer) inspectScope(ctx context.Context, until time.Time, out *Inspection) error {
	generations, v, err := x.surveyIndices(ctx)
	if err != nil {
		return err
	}
	counts, err := x.def.CountLive(ctx)
	if err == nil {
		counts, err = x.filterCounts(ctx, counts)
	}
	if err != nil {
		return err
	}
	for _, t := range counts {
		out.Rows += t.Documents
	}
	live := nameOf(generations, indexstate.GenerationLive)
	i, present := v.indices[live]
	problem := v.problem(generations)
	if i.closed {
		problem = "the index " + live + " is closed"
	}
	if problem != "" {
		out.Problem = problem
	}
	if !present || i.closed || i.mismatch != "" {
		return nil
	}
	epoch, err := x.store.IndexState.Epoch(ctx)
	if err != nil {
		return err
	}
	switch {
	case i.isBefore(epoch):
		out.Incomplete = "the index " + live + " is of an earlier time of the database: " + epoch.Reason
	case i.meta.Incomplete:
		out.Incomplete = "the index " + live + " is being filled or compared"
	}
	return x.inspectIndex(ctx, live, until, out)
}

// inspectIndex compares one index.
func (x *Indexer) inspectIndex(ctx context.Context, index string, until time.Time, out *Inspection) error {
	c := &comparison{x: x, index: index, progress: func(int64, int64) {}, inspectOnly: true, until: until}
	if err := x.refresh(ctx, index); err != nil {
		return lost(err, index)
	}
	documents, err := x.countDocuments(ctx, index)
	if err != nil {
		return lost(err, index)
	}
	out.Documents += documents
	tenants, err := c.tenants(ctx)
	for _, t := range tenants {
		if err != nil || c.timeIsOver() {
			break
		}
		err = c.tenant(ctx, t)
	}
	out.Compared += c.done
	out.Missing, out.Stale = out.Missing+c.out.Missing, out.Stale+c.out.Stale
	out.Orphans, out.Ahead = out.Orphans+c.out.Orphans, out.Ahead+c.out.Ahead
	if !c.oldest.IsZero() {
		out.Behind = max(out.Behind, time.Since(c.oldest))
	}
	return lost(err, index)
}

// timeIsOver reports whether an inspection has looked for long enough.
func (c *comparison) timeIsOver() bool { return !c.until.IsZero() && time.Now().After(c.until) }
