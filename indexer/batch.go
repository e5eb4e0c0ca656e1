package indexer

import (
	"log/slog"
	"strconv"
	"sync"
	"time"

	"vitrine/embed"
	"vitrine/internal/kafkaclient"
	"vitrine/internal/panics"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store"
)

// batch is what one round of the consumer, the backfill or the reconciler
// writes: the documents of some assets as of one snapshot.
type batch struct {
	messages []kafkaclient.Message // where the documents came from, to commit; may be empty
	items    []item
	targets  []string                                         // the indices to write, one after the other
	accepts  func(index string, tenant library.TenantID) bool // which of them an item goes to; nil: all

	buffer   []byte                                   // all action and document lines, one after the other; see release
	inUse    bool                                     // a failed request may still be reading the arena
	vectors  map[store.TextHash]store.EmbeddingVector // of its texts, of the present embedder
	complete bool                                     // vectors holds all of them

	done chan struct{}
	err  error
}

// item is one document on its way into the index.
type item struct {
	row          *store.DocumentRow
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

// buffers keeps the buffers of settled batches: a fresh one of some megabytes per
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
func newBatch(rows []store.DocumentRow, events map[store.AssetKey]*Event, targets []string) *batch {
	b := &batch{targets: targets, items: make([]item, 0, len(rows)), buffer: *buffers.Get().(*[]byte), done: make(chan struct{})}
	for i := range rows {
		it := item{row: &rows[i], version: rows[i].Version, tombstone: rows[i].State != store.AssetLive}
		if e := events[rows[i].AssetKey]; e != nil {
			it.at, it.rewrite = e.At, e.forcesRewrite()
			if rows[i].State == store.AssetGone && it.version == 0 {
				it.version = e.DocVersion
			}
		}
		if it.version <= 0 {
			continue
		}
		b.add(it, Build)
	}
	return b
}

// add encodes the document that build makes of an item. When build panics the asset
// can still be found by its names: one row must not keep the index from all behind it.
func (b *batch) add(it item, build func(*store.DocumentRow) mappings.Document) {
	from := len(b.buffer)
	err := panics.Try(func() error {
		doc := build(it.row)
		it.text = embed.Text(doc.Title, doc.Prompt, doc.Description, doc.Tags)
		b.encode(&it, &doc)
		return nil
	})
	if err != nil {
		slog.Error("building a document failed; its asset is searchable by its names only", "tenant", it.row.AssetKey.Tenant, "asset_h", it.row.AssetKey.Hash, "error", err)
		b.buffer, it.text = b.buffer[:from], ""
		it.buildFailed = "the document could not be made"
		it.partial, it.reason = true, it.buildFailed
		b.encode(&it, named(it.row, it.reason))
	}
	b.items = append(b.items, it)
}

// named is a document with nothing but who the asset belongs to and what it is called.
// A field that restricts who may see a document must be set here too.
func named(row *store.DocumentRow, reason string) *mappings.Document {
	a := &row.Asset
	return &mappings.Document{TenantID: row.AssetKey.Tenant, AssetH: row.AssetKey.Hash, IndexError: reason, Deleted: row.State != store.AssetLive,
		SHA256: a.SHA256, BLAKE3: a.BLAKE3, Title: a.Title, Filename: a.Filename, Status: a.Status, MIMEType: a.MIMEType, SizeBytes: a.Size,
		Created: instant(a.CreatedAt), Updated: instant(a.UpdatedAt), Stored: instant(a.StoredAt)}
}

// encode appends an item's two lines to the arena.
func (b *batch) encode(it *item, doc *mappings.Document) {
	doc.DocVersion = it.version
	it.line.from = len(b.buffer)
	b.buffer = appendAction(b.buffer, it)
	b.buffer = appendDocument(b.buffer, doc)
	b.buffer = append(b.buffer, '\n')
	it.line.to = len(b.buffer)
}

// appendAction writes the line that stands before a document in a bulk request.
// No part of it needs escaping.
func appendAction(dst []byte, it *item) []byte {
	k := it.row.AssetKey
	dst = append(dst, `{"index":{"_id":"`...)
	dst = append(dst, k.Tenant...)
	dst = append(dst, ':')
	dst = append(dst, k.Hash...)
	dst = append(dst, `","routing":"`...)
	dst = append(dst, mappings.Routing(k.Tenant)...)
	dst = append(dst, `","version":`...)
	dst = strconv.AppendInt(dst, it.version, 10)
	if it.rewrite {
		return append(dst, `,"version_type":"external_gte"}}`+"\n"...)
	}
	return append(dst, `,"version_type":"external"}}`+"\n"...)
}

// makePartial encodes an item anew without the parts that an index may refuse, so that
// the asset can be found until the refusal is understood.
func (b *batch) makePartial(it *item, reason string) {
	whole := Build(it.row)
	doc := mappings.Document{
		TenantID: whole.TenantID, AssetH: whole.AssetH, Owner: whole.Owner, Visibility: whole.Visibility,
		IndexError: reason,
		SHA256:     whole.SHA256, BLAKE3: whole.BLAKE3,
		Title: whole.Title, Description: whole.Description, Filename: whole.Filename, SourcePath: whole.SourcePath,
		Status: whole.Status, Tags: whole.Tags, TagsNorm: whole.TagsNorm,
		MIMEType: whole.MIMEType, MediaType: whole.MediaType, SizeBytes: whole.SizeBytes,
		Created: whole.Created, Updated: whole.Updated, Stored: whole.Stored,
		LineageSource: whole.LineageSource, AI: whole.AI, Tool: whole.Tool, Prompt: whole.Prompt, NegativePrompt: whole.NegativePrompt,
		Chain: whole.Chain, LineageRoot: whole.LineageRoot, ParentHs: whole.ParentHs,
		HasPrompt: whole.HasPrompt, HasNegativePrompt: whole.HasNegativePrompt, HasWorkflow: whole.HasWorkflow,
		HasModels: whole.HasModels, HasLineage: whole.HasLineage, HasParent: whole.HasParent, HasChild: whole.HasChild,
	}
	it.partial, it.reason = true, reason
	b.encode(it, &doc)
}

// mergeWorse takes over what another index said of the item, if that is worse.
func (it *item) mergeWorse(other *item) {
	it.newest = max(it.newest, other.newest)
	if other.deadLettered && !it.deadLettered || other.partial && !it.partial && !it.deadLettered {
		it.deadLettered, it.partial, it.reason = other.deadLettered, other.partial, other.reason
	}
}

// lastMessages returns the last message of each partition, which is what a commit
// takes.
func (b *batch) lastMessages() []kafkaclient.Message {
	last := map[int]kafkaclient.Message{}
	for _, m := range b.messages {
		if have, ok := last[m.Partition]; !ok || m.Offset >= have.Offset {
			last[m.Partition] = m
		}
	}
	out := make([]kafkaclient.Message, 0, len(last))
	for _, m := range last {
		out = append(out, m)
	}
	return out
}
