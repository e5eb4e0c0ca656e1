package indexer

import (
	"log/slog"
	"strconv"
	"sync"
	"time"

	"vitrine/internal/panics"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store/indexstate"
)

// batch is what one round of the consumer, the backfill or the reconciler
// writes: some documents of one index as of one snapshot.
type batch struct {
	def     *Definition
	items   []item
	targets []string                                         // the indices to write, one after the other
	accepts func(index string, tenant library.TenantID) bool // which of them an item goes to; nil: all

	buffer   []byte                                             // all action and document lines, one after the other; see release
	inUse    bool                                               // a failed request may still be reading the arena
	vectors  map[indexstate.TextHash]indexstate.EmbeddingVector // of its texts, of the present embedder
	complete bool                                               // vectors holds all of them
}

// item is one document on its way into the index.
type item struct {
	row          *Row
	version      int64
	rewrite      bool      // write although the index may have this version
	at           time.Time // of the oldest event behind it; zero when there was none
	line         span      // action and document in the arena
	text         string    // what its vector is made of; empty without any
	tombstone    bool
	partial      bool
	deadLettered bool
	reason       string // why it is partial or dead-lettered
	newest       int64  // the version that the index has, where it is newer than this one
	buildFailed  string // why the document could not be made, by a defect of ours; it is reduced to its names then
}

type span struct{ from, to int }

func (s span) len() int { return s.to - s.from }

// buffers keeps the buffers of finished batches: a fresh one of some megabytes per
// batch costs more than all that is written into it.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxPooledBuffer is the largest buffer that is kept.
const maxPooledBuffer = 16 << 20

// release hands the batch's buffer back. Nothing may be sent from it afterwards.
// After a request that failed, the HTTP client may still be reading its body.
func (b *batch) release() {
	if arena := b.buffer[:0]; !b.inUse && cap(arena) > 0 && cap(arena) <= maxPooledBuffer {
		buffers.Put(&arena)
	}
	b.buffer = nil
}

// newBatch encodes the documents of rows under their versions. Rows that neither
// PostgreSQL nor the event gives a version are left out: there is nothing to say
// about them.
func newBatch(def *Definition, rows []Row, events map[indexstate.DocumentKey]*Event, targets []string) *batch {
	b := &batch{def: def, targets: targets, items: make([]item, 0, len(rows)), buffer: *buffers.Get().(*[]byte)}
	for i := range rows {
		it := item{row: &rows[i], version: rows[i].Version, tombstone: rows[i].State != indexstate.DocumentLive}
		if e := events[rows[i].DocumentKey]; e != nil {
			it.at, it.rewrite = e.At, e.forcesRewrite()
			if rows[i].State == indexstate.DocumentGone && it.version == 0 {
				it.version = e.DocVersion
			}
		}
		if it.version <= 0 {
			continue
		}
		b.add(it)
	}
	return b
}

// add encodes the document of an item. When that panics it can still be found by its
// names: one row must not keep the index from all behind it.
func (b *batch) add(it item) {
	from := len(b.buffer)
	err := panics.Try(func() error {
		b.encode(&it, func(dst []byte) (doc []byte) {
			if it.tombstone {
				return b.def.appendTombstone(dst, it.row.DocumentKey, it.version)
			}
			doc, it.text = it.row.Whole(dst, it.version)
			return doc
		})
		return nil
	})
	if err != nil {
		slog.Error("building a document failed; it is searchable by its names only", "index", b.def.name(), "tenant", it.row.Tenant, "key", it.row.Key, "error", err)
		b.buffer, it.text = b.buffer[:from], ""
		it.buildFailed = "the document could not be made"
		it.partial, it.reason = true, it.buildFailed
		b.encode(&it, func(dst []byte) []byte { return it.row.Named(dst, it.version, it.reason) })
	}
	b.items = append(b.items, it)
}

// encode appends an item's two lines to the arena.
func (b *batch) encode(it *item, document func(dst []byte) []byte) {
	from := len(b.buffer)
	b.buffer = append(document(appendAction(b.buffer, it)), '\n')
	it.line = span{from, len(b.buffer)}
}

// makePartial encodes an item anew without the parts that an index may refuse.
func (b *batch) makePartial(it *item, reason string) {
	it.partial, it.reason = true, reason
	b.encode(it, func(dst []byte) []byte { return it.row.Partial(dst, it.version, reason) })
}

// appendTombstone writes the document of what is in the trash or gone. Keys need no
// escaping; see validKey.
func (d *Definition) appendTombstone(dst []byte, k indexstate.DocumentKey, version int64) []byte {
	dst = append(append(dst, `{"tenant_id":"`...), k.Tenant...)
	dst = append(append(append(dst, `","`...), d.Index.Key...), `":"`...)
	dst = append(append(dst, k.Key...), `","doc_version":`...)
	return append(strconv.AppendInt(dst, version, 10), `,"deleted":true}`...)
}

// appendAction writes the line that stands before a document in a bulk request.
// No part of it needs escaping.
func appendAction(dst []byte, it *item) []byte {
	k := it.row.DocumentKey
	dst = append(dst, `{"index":{"_id":"`...)
	dst = append(dst, k.Tenant...)
	dst = append(dst, ':')
	dst = append(dst, k.Key...)
	dst = append(dst, `","routing":"`...)
	dst = append(dst, mappings.Routing(k.Tenant)...)
	dst = append(dst, `","version":`...)
	dst = strconv.AppendInt(dst, it.version, 10)
	if it.rewrite {
		return append(dst, `,"version_type":"external_gte"}}`+"\n"...)
	}
	return append(dst, `,"version_type":"external"}}`+"\n"...)
}

// mergeWorse takes over what another index said of the item, if that is worse.
func (it *item) mergeWorse(other *item) {
	it.newest = max(it.newest, other.newest)
	if other.deadLettered && !it.deadLettered || other.partial && !it.partial && !it.deadLettered {
		it.deadLettered, it.partial, it.reason = other.deadLettered, other.partial, other.reason
	}
}
