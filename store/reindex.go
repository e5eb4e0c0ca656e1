package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/store/indexstate"
)

// document names a document of an index.
type document struct{ index, key string }

// documentVersion is what a document must become.
type documentVersion struct {
	version int64
	reason  string
}

// event is an encoded library.Event.
type event struct{ kind, key, payload string }

// reindexAsset makes the index look at an asset again, which has this version now. A
// search that waits for the operation waits for the document; so record the change
// before.
func (t *Tx) reindexAsset(ctx context.Context, hash library.AssetHash, version int64, reason string) error {
	return t.reindex(ctx, indexstate.AssetIndex, string(hash), version, reason)
}

// reindex is reindexAsset for the document of any index.
func (t *Tx) reindex(ctx context.Context, index, key string, version int64, reason string) error {
	t.documents[document{index, key}] = documentVersion{version, reason}
	return t.flushFull(ctx)
}

// Emit sends an event to subscribers once the transaction has committed.
func (t *Tx) Emit(ctx context.Context, e library.Event) error {
	if e.Type == "" || e.Key == "" {
		return fmt.Errorf("an event needs a type and a key")
	}
	payload, err := jsonb(e.Payload)
	if err != nil {
		return fmt.Errorf("encoding the event %s: %w", e.Type, err)
	}
	t.events = append(t.events, event{e.Type, e.Key, string(payload)})
	return t.flushFull(ctx)
}

func (t *Tx) queueDocuments(b *pgx.Batch) {
	n := len(t.documents)
	if n == 0 {
		return
	}
	indexes, keys, reasons := make([]string, 0, n), make([]string, 0, n), make([]string, 0, n)
	versions := make([]int64, 0, n)
	for d, v := range t.documents {
		indexes, keys, reasons = append(indexes, d.index), append(keys, d.key), append(reasons, v.reason)
		versions = append(versions, v.version)
	}
	clear(t.documents)
	t.notifies = true
	b.Queue(`INSERT INTO outbox (tenant_id, key, doc_version, reason, index_name)
		SELECT $1, k, v, r, i FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[]) AS d(k, v, r, i)`, t.tenant(), keys, versions, reasons, indexes)
	if t.operation == "" {
		return
	}
	b.Queue(`INSERT INTO operation_documents (tenant_id, operation_id, index_name, key, version)
		SELECT $1, $2, i, k, v FROM unnest($3::text[], $4::text[], $5::bigint[]) AS d(i, k, v)
		ON CONFLICT (tenant_id, operation_id, index_name, key) DO UPDATE SET version = excluded.version`,
		t.tenant(), t.operation, indexes, keys, versions)
}

func (t *Tx) queueEvents(b *pgx.Batch) {
	n := len(t.events)
	if n == 0 {
		return
	}
	kinds, keys, payloads := make([]string, n), make([]string, n), make([]string, n)
	for i, e := range t.events {
		kinds[i], keys[i], payloads[i] = e.kind, e.key, e.payload
	}
	t.events = t.events[:0]
	t.notifies = true
	b.Queue(`INSERT INTO outbox (tenant_id, topic, key, type, payload)
		SELECT $1, 'events', k, t, p::jsonb FROM unnest($2::text[], $3::text[], $4::text[]) AS e(k, t, p)`, t.tenant(), keys, kinds, payloads)
}
