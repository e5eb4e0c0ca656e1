package indexer

import (
	"context"
	"slices"
	"time"

	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store"
	"vitrine/store/indexstate"
)

// Definition is one index that the indexer keeps: its form, and where its documents come
// from. Everything else — the stream of changes, rebuilds behind the alias, comparisons, repairs,
// vectors, tombstones — follows from it. All functions read for the role of the indexer,
// which sees every tenant.
type Definition struct {
	Index *mappings.Index
	// Outgrown returns the tenants that have more than most documents, apart from some; they
	// get indices of their own. It is nil for an index that all tenants share.
	Outgrown func(ctx context.Context, apart []library.TenantID, most int64) ([]library.TenantID, error)

	// Read reads some documents, one row per key in the order of the keys, and which index
	// generations there are, in one snapshot.
	Read func(ctx context.Context, keys []indexstate.DocumentKey) ([]Row, []indexstate.Generation, error)
	// Count counts the documents that every tenant should have, in order of the tenant,
	// those in the trash included; CountLive leaves these out.
	Count, CountLive func(ctx context.Context) ([]indexstate.TenantDocuments, error)
	// VersionsAfter lists the documents of one tenant that follow a key in order of the
	// keys, those in the trash included, at most limit of them.
	VersionsAfter func(ctx context.Context, tenant library.TenantID, after string, limit int) ([]indexstate.DocumentVersion, error)
	// TombstonesBefore returns those of some documents whose rows went away before a time.
	TombstonesBefore func(ctx context.Context, before time.Time, keys []indexstate.DocumentKey) ([]indexstate.DocumentVersion, error)
}

// Row is one document as the database holds it.
type Row struct {
	indexstate.DocumentHead
	Content // nil of what is not live
}

// Content writes the document of a row in three forms, each as one JSON object that has
// the fields of its index, doc_version among them. Any of them may panic; the next
// is taken then. Each has the fields that restrict who may see it.
type Content interface {
	// Whole appends the whole document and returns the text that its vector is made of.
	Whole(dst []byte, version int64) (doc []byte, text string)
	// Partial appends the document without the parts that an index may refuse.
	Partial(dst []byte, version int64, reason string) []byte
	// Named appends a document of nothing but who it belongs to and what it is called.
	Named(dst []byte, version int64, reason string) []byte
}

// Table takes from a table what a definition reads beside its documents.
func (d Definition) Table(t *indexstate.DocumentTable) *Definition {
	d.Count, d.CountLive, d.VersionsAfter, d.TombstonesBefore = t.Count, t.CountLive, t.VersionsAfter, t.TombstonesBefore
	return &d
}

func (d *Definition) name() string { return d.Index.Name }

// Definitions returns the indices of the product; that of assets is the first.
func Definitions(st *store.Store) []*Definition {
	return []*Definition{assetDefinition(st), promptDefinition(st), prospectDefinition(st)}
}

// definitionNamed returns the definition of a name, or nil.
func (x *Indexer) definitionNamed(name string) *Definition {
	if i := slices.IndexFunc(x.definitions, func(d *Definition) bool { return d.name() == name }); i >= 0 {
		return x.definitions[i]
	}
	return nil
}
