package indexer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"vitrine/internal/opensearch"
	"vitrine/internal/retry"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store/indexstate"
)

// difference is how a document differs from its asset.
type difference int

const (
	same difference = iota
	missing
	stale
	orphan
	ahead
)

// differs compares an asset as it is with its document as it is.
func differs(row *Row, doc indexedDocument) difference {
	indexed := doc.Found && !doc.Source.Deleted
	switch {
	case row.State != indexstate.DocumentLive && indexed:
		return orphan
	case row.State != indexstate.DocumentLive:
		return same
	case !doc.Found:
		return missing
	case doc.Version > row.Version:
		return ahead
	case doc.Version < row.Version || doc.Source.Deleted:
		return stale
	}
	return same
}

// maxLateDocuments is how many suspects of a page may be merely late. More are not: the
// index was lost or its consumers stand still.
const maxLateDocuments = 200

// arrivalDelay is how long a document is given to arrive before it counts as lost.
const arrivalDelay = time.Second

// repair looks at suspects again, past the refresh and in one snapshot, and
// rewrites those that still differ. Where few differ, they are given a moment
// first: with writes going on, most are merely on their way.
func (c *comparison) repair(ctx context.Context, suspects []indexstate.DocumentKey) error {
	if len(suspects) == 0 {
		return nil
	}
	rows, docs, left, err := c.recheck(ctx, suspects)
	if err == nil && len(left) > 0 && len(left) < maxLateDocuments {
		if err := retry.Sleep(ctx, arrivalDelay); err != nil {
			return err
		}
		rows, docs, left, err = c.recheck(ctx, left)
	}
	if err != nil || len(left) == 0 {
		return err
	}
	for i := range rows {
		c.tally(differs(&rows[i], docs[i]))
		c.noteAge(&rows[i])
	}
	if c.inspectOnly {
		return nil
	}
	if err := c.rewrite(ctx, rows, docs); err != nil {
		return err
	}
	return c.verify(ctx, rows, left)
}

// verify counts what was rewritten. A document that is newer than what was
// written is no difference: the asset was changed meanwhile, and that change is
// on its own way.
func (c *comparison) verify(ctx context.Context, rows []Row, keys []indexstate.DocumentKey) error {
	docs, err := getDocuments(ctx, c.x, c.index, keys)
	if err != nil {
		return err
	}
	for i := range rows {
		switch {
		case docs[i].Version <= rows[i].Version && differs(&rows[i], docs[i]) != same:
			c.out.Remaining++
		case rows[i].State == indexstate.DocumentLive:
			c.out.Documents.add(rows[i].DocumentKey, rows[i].Version)
		}
	}
	return nil
}

// noteAge remembers since when the index lacks a change of an asset that is there.
func (c *comparison) noteAge(row *Row) {
	if at := row.UpdatedAt; row.State == indexstate.DocumentLive && (c.oldest.IsZero() || at.Before(c.oldest)) {
		c.oldest = at
	}
}

func (c *comparison) tally(d difference) {
	switch d {
	case missing:
		c.out.Missing++
	case stale:
		c.out.Stale++
	case orphan:
		c.out.Orphans++
	case ahead:
		c.out.Ahead++
	}
}

// recheck reads assets and documents. Those that agree are counted; of the rest
// it gives the rows, the documents and the keys.
func (c *comparison) recheck(ctx context.Context, keys []indexstate.DocumentKey) ([]Row, []indexedDocument, []indexstate.DocumentKey, error) {
	// The document first: a change in between then shows as a stale document,
	// which is harmless, and not as one ahead of its asset.
	docs, err := getDocuments(ctx, c.x, c.index, keys)
	if err != nil {
		return nil, nil, nil, err
	}
	rows, _, err := c.x.def.Read(ctx, keys)
	if err != nil {
		return nil, nil, nil, err
	}
	n := 0
	var left []indexstate.DocumentKey
	for i := range rows {
		if differs(&rows[i], docs[i]) == same {
			if rows[i].State == indexstate.DocumentLive {
				c.out.Documents.add(rows[i].DocumentKey, rows[i].Version)
			}
			continue
		}
		rows[n], docs[n] = rows[i], docs[i]
		left = append(left, rows[n].DocumentKey)
		n++
	}
	return rows[:n], docs[:n], left, nil
}

// rewrite writes the documents of rows. A document that stands in the way with a
// version PostgreSQL does not know must be deleted first.
func (c *comparison) rewrite(ctx context.Context, rows []Row, docs []indexedDocument) error {
	var inTheWay []indexedDocument
	for i := range rows {
		if docs[i].Found && docs[i].Version >= max(rows[i].Version, 1) {
			inTheWay = append(inTheWay, docs[i])
		}
	}
	write := func() error { return c.x.writer.writeBatch(ctx, newBatch(c.x.def, rows, nil, []string{c.index})) }
	if len(inTheWay) == 0 {
		if err := write(); err != nil {
			return err
		}
		// Somebody may have deleted documents by hand, and the index remembers that
		// under versions of its own.
		taken, err := c.allIndexed(ctx, rowKeys(rows))
		if err != nil || taken {
			return err
		}
	}
	return c.replace(ctx, inTheWay, rowKeys(rows), write)
}

func rowKeys(rows []Row) []indexstate.DocumentKey {
	keys := make([]indexstate.DocumentKey, len(rows))
	for i := range rows {
		keys[i] = rows[i].DocumentKey
	}
	return keys
}

// forgetting is how often, and after which pause, a write is tried after its
// document was deleted. OpenSearch measures the age of a deletion by a clock that
// ticks every 200 ms, and forgets it at a refresh.
const (
	gcRetries    = 10
	gcRetryDelay = 300 * time.Millisecond
)

// replace deletes documents, each only if it is still what was looked at, and
// writes until none of some assets lacks its document. For that moment the index forgets
// deletions at once; else it would refuse lower versions for an hour.
func (c *comparison) replace(ctx context.Context, docs []indexedDocument, keys []indexstate.DocumentKey, write func() error) (err error) {
	if err := c.x.setIndex(ctx, c.index, map[string]any{"gc_deletes": "0ms"}); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, c.x.setIndex(context.WithoutCancel(ctx), c.index, map[string]any{"gc_deletes": gcDeletes}))
	}()
	for _, d := range docs {
		tenant, _, _ := strings.Cut(d.ID, ":")
		if err := c.delete(ctx, library.TenantID(tenant), d); err != nil {
			return err
		}
	}
	for range gcRetries {
		if err := retry.Sleep(ctx, gcRetryDelay); err != nil {
			return err
		}
		if err := errors.Join(c.x.refresh(ctx, c.index), write()); err != nil {
			return err
		}
		if taken, err := c.allIndexed(ctx, keys); err != nil || taken {
			return err
		}
	}
	return nil // what is still missing is counted as remaining
}

// allIndexed reports whether none of some assets lacks its document.
func (c *comparison) allIndexed(ctx context.Context, keys []indexstate.DocumentKey) (bool, error) {
	rows, _, err := c.x.def.Read(ctx, keys)
	if err != nil {
		return false, err
	}
	docs, err := getDocuments(ctx, c.x, c.index, keys)
	if err != nil {
		return false, err
	}
	for i := range rows {
		if differs(&rows[i], docs[i]) == missing {
			return false, nil
		}
	}
	return true, nil
}

func (c *comparison) delete(ctx context.Context, tenant library.TenantID, d indexedDocument) error {
	err := opensearch.Call(ctx, c.x.search, http.MethodDelete, fmt.Sprintf("/%s/_doc/%s?routing=%s&if_seq_no=%d&if_primary_term=%d",
		c.index, d.ID, mappings.Routing(tenant), d.SeqNo, d.PrimaryTerm), nil, nil)
	if status := statusOf(err); status == http.StatusConflict || status == http.StatusNotFound {
		return nil
	}
	return err
}

// gcDeletes is what the mapping sets.
const gcDeletes = "1h"
