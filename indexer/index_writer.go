package indexer

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"vitrine/internal/failpoint"
	"vitrine/internal/kafkaclient"
	"vitrine/internal/opensearch"
	"vitrine/internal/retry"
	"vitrine/store"
	"vitrine/store/indexstate"
)

// indexWriter brings batches into the index and stays with each until every document
// of it is accepted, superseded or put aside.
type indexWriter struct {
	store              *store.Store
	bulk               *bulkWriter
	publishDeadLetters func(context.Context, []kafkaclient.Message) error // publishes dead letters
	vectors            *vectorStore                                       // nil without an embedder
	metrics            *Metrics
	log                *slog.Logger

	accepted atomic.Int64 // documents the index took, by anyone
}

// errIndexGone means that an index of the batch is not there any more. The caller
// reads the generations again: it was dropped, or somebody deleted it.
var errIndexGone = errors.New("an index that should be written is not there")

// itemRetryLimit is how long a single document may fail on the server's side while
// others are accepted, before it is put aside. Its partition waits meanwhile.
const itemRetryLimit = 4 * time.Second

// writeBatch writes a batch to all its targets. It gives an error only when ctx ends,
// when an index is gone or when a test asks for one.
func (s *indexWriter) writeBatch(ctx context.Context, b *batch) error {
	if err := failpoint.Inject("indexer.before_bulk"); err != nil {
		return err
	}
	for _, index := range b.targets {
		if err := s.writeIndex(ctx, index, b); err != nil {
			return err
		}
	}
	if err := failpoint.Inject("indexer.after_bulk"); err != nil {
		return err
	}
	return s.recordFailures(ctx, b)
}

// writeIndex delivers all items to one index. Each index gets the whole documents: one
// may take what another, with an older mapping, refuses.
func (s *indexWriter) writeIndex(ctx context.Context, index string, b *batch) error {
	items, at := b.itemsFor(index)
	if len(items) == 0 {
		return nil
	}
	pending := make([]*item, len(items))
	for i := range items {
		items[i].partial, items[i].deadLettered, items[i].reason = items[i].buildFailed != "", false, items[i].buildFailed
		pending[i] = &items[i]
	}
	s.vectors.attach(ctx, index, b, items)
	wait := retry.Outage()
	d := &delivery{s: s, b: b, index: index}
	for len(pending) > 0 {
		left, err := d.run(ctx, pending)
		if err != nil {
			return err
		}
		if len(left) > 0 && d.mustWait {
			if err := wait.Wait(ctx); err != nil {
				return err
			}
		}
		pending = left
	}
	for i := range items {
		b.items[at[i]].mergeWorse(&items[i])
	}
	return nil
}

// delivery is the way of one batch into one index, over as many requests as it takes.
type delivery struct {
	s        *indexWriter
	b        *batch
	index    string
	mustWait bool // the server asked for time

	failing  time.Time // since when single items fail on the server's side
	accepted int64     // what the writer had accepted then
}

// run sends the items once, in requests of the present pace, and returns those
// that are not delivered.
func (d *delivery) run(ctx context.Context, pending []*item) (left []*item, err error) {
	d.mustWait = false
	for len(pending) > 0 {
		n := fitting(pending, d.s.bulk.size.get())
		more, err := d.send(ctx, pending[:n])
		if err != nil {
			return nil, err
		}
		left = append(left, more...)
		pending = pending[n:]
	}
	return left, nil
}

// fitting counts the items that together have at most size bytes, but at least one.
func fitting(items []*item, size int) int {
	total := 0
	for i, it := range items {
		if total += it.line.len(); total > size && i > 0 {
			return i
		}
	}
	return len(items)
}

// send sends items in one request, or in halves of it when it is refused whole.
func (d *delivery) send(ctx context.Context, items []*item) (left []*item, err error) {
	results, err := d.s.bulk.send(ctx, d.index, d.b, items)
	switch {
	case errors.Is(err, errSplit):
		half := len(items) / 2
		if left, err = d.send(ctx, items[:half]); err != nil {
			return nil, err
		}
		more, err := d.send(ctx, items[half:])
		return append(left, more...), err
	case opensearch.IsResponseError(err, opensearch.TypeIndexNotFound):
		return nil, errIndexGone
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		d.s.log.Warn("a bulk request failed; retrying", "index", d.index, "documents", len(items), "error", err)
		d.mustWait = true
		return items, nil
	}
	return d.handleResults(items, results)
}

// handleResults sorts items by their results and gives those to send again.
func (d *delivery) handleResults(items []*item, results []itemResult) (left []*item, err error) {
	m, good := d.s.metrics, 0
	var failed []*item
	for i, it := range items {
		v := results[i]
		switch {
		case v.accepted():
			good++
			m.documents.WithLabelValues(outcomeOf(it)).Inc()
		case v.conflict():
			good++
			it.newest = max(it.newest, v.current())
			m.documents.WithLabelValues(outcomeConflict).Inc()
		case v.kind == opensearch.TypeIndexNotFound:
			return nil, errIndexGone
		case v.retryable():
			m.documents.WithLabelValues(outcomeThrottled).Inc()
			d.mustWait = true
			left = append(left, it)
		case v.status >= http.StatusInternalServerError:
			m.documents.WithLabelValues(outcomeFailed).Inc()
			it.reason = v.kind + ": " + opensearch.TruncateReason(v.reason)
			failed = append(failed, it)
		case !it.partial && !it.tombstone:
			m.documents.WithLabelValues(outcomeRefused).Inc()
			d.b.makePartial(it, v.kind+": "+opensearch.TruncateReason(v.reason))
			left = append(left, it)
		default:
			d.deadLetter(it, v.kind+": "+opensearch.TruncateReason(v.reason))
		}
	}
	d.s.accepted.Add(int64(good))
	return append(left, d.retryOrGiveUp(failed)...), nil
}

func outcomeOf(it *item) string {
	switch {
	case it.tombstone:
		return outcomeTombstone
	case it.partial:
		return outcomePartial
	}
	return outcomeIndexed
}

// retryOrGiveUp decides about items that fail on the server's side. While the server
// accepts nothing at all that is an outage, and they wait as long as it takes.
// Once others get through and these do not, the error is theirs.
func (d *delivery) retryOrGiveUp(failed []*item) (left []*item) {
	if len(failed) == 0 {
		d.failing = time.Time{}
		return nil
	}
	if d.failing.IsZero() {
		d.failing, d.accepted = time.Now(), d.s.accepted.Load()
	}
	if time.Since(d.failing) > itemRetryLimit && d.s.accepted.Load() > d.accepted {
		for _, it := range failed {
			d.deadLetter(it, it.reason)
		}
		return nil
	}
	d.mustWait = true
	return failed
}

func (d *delivery) deadLetter(it *item, reason string) {
	it.deadLettered, it.reason = true, reason
	d.s.metrics.documents.WithLabelValues(outcomeDeadLettered).Inc()
	d.s.log.Error("OpenSearch refused a document; it was sent to the dead-letter topic", "index", d.index,
		"tenant", it.row.Tenant, "key", it.row.Key, "reason", reason)
}

// recordFailures keeps what was refused, and forgets earlier refusals of what was
// accepted whole. It stays until it succeeds: an offset must not be committed
// while the only trace of a refusal is here.
func (s *indexWriter) recordFailures(ctx context.Context, b *batch) error {
	var failures []indexstate.Failure
	var resolved []indexstate.DocumentVersion
	var letters []kafkaclient.Message
	for i := range b.items {
		it := &b.items[i]
		v := indexstate.DocumentVersion{DocumentKey: it.row.DocumentKey, Version: it.version, Live: !it.tombstone}
		switch {
		case it.deadLettered || it.partial:
			failures = append(failures, indexstate.Failure{Index: b.def.name(), DocumentVersion: v, Reason: it.reason, Partial: !it.deadLettered})
			if it.deadLettered {
				letters = append(letters, newDeadLetter(b.def.name(), it))
			}
		case it.row.HasIndexFailure:
			resolved = append(resolved, v)
		}
	}
	return retry.UntilDone(ctx, func(ctx context.Context) error {
		if len(failures) > 0 {
			if err := s.store.IndexFailures.Record(ctx, failures); err != nil {
				return err
			}
		}
		if len(resolved) > 0 {
			if err := s.store.IndexFailures.Resolve(ctx, b.def.name(), resolved); err != nil {
				return err
			}
		}
		if len(letters) > 0 {
			return s.publishDeadLetters(ctx, letters)
		}
		return nil
	}, func(err error) { s.log.Warn("recording refused documents failed; retrying", "error", err) })
}
