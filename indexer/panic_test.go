package indexer

import (
	"testing"

	"vitrine/mappings"
	"vitrine/store"
)

func TestBatch_RowWhoseDocumentCannotBeMadeIsFoundByItsNames(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	x := e.indexer()
	if _, err := x.EnsureIndex(e.ctx); err != nil {
		t.Fatal(err)
	}
	a := e.add(typicalAsset("poison"))
	good := e.add(typicalAsset("good"))
	rows, _, err := e.store.Documents.Read(e.ctx, []store.AssetKey{e.key(a.Hash), e.key(good.Hash)})
	if err != nil {
		t.Fatal(err)
	}
	b := newBatch(nil, nil, []string{x.names.Index(1)})
	for i := range rows {
		build := Build
		if rows[i].AssetKey.Hash == a.Hash {
			build = func(row *store.DocumentRow) mappings.Document {
				b.buffer = append(b.buffer, `{"half a line`...)
				panic("a defect")
			}
		}
		b.add(item{row: &rows[i], version: rows[i].Version}, build)
	}
	if err := x.writer.writeBatch(e.ctx, b); err != nil {
		t.Fatal(err)
	}
	if d := e.document(a.Hash); d.Filename != "poison" || d.IndexError != "the document could not be made" || d.Prompt != "" {
		t.Errorf("the document is %+v", d)
	}
	if diff := e.differs(good.Hash); diff != "" {
		t.Error(diff)
	}
	missing, partial, err := e.store.IndexFailures.Count(e.ctx)
	if err != nil || missing != 0 || partial != 1 {
		t.Errorf("failures: %d missing, %d partial, error %v", missing, partial, err)
	}
}
