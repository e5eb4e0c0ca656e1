package indexer

import (
	"testing"

	"vitrine/store/indexstate"
)

// poisoned is content whose document cannot be made.
type poisoned struct{ Content }

func (poisoned) Whole(dst []byte, _ int64) (doc []byte, text string) {
	_ = append(dst, `{"half a line`...)
	panic("a defect")
}

func TestBatch_RowWhoseDocumentCannotBeMadeIsFoundByItsNames(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	x := e.indexer()
	if _, err := x.EnsureIndex(e.ctx); err != nil {
		t.Fatal(err)
	}
	a := e.add(typicalAsset("poison"))
	good := e.add(typicalAsset("good"))
	rows, _, err := x.def.Read(e.ctx, []indexstate.DocumentKey{e.key(a.Hash), e.key(good.Hash)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if rows[i].Key == string(a.Hash) {
			rows[i].Content = poisoned{rows[i].Content}
		}
	}
	b := newBatch(x.def, rows, nil, []string{x.names.Index(1)})
	if err := x.writer.writeBatch(e.ctx, b); err != nil {
		t.Fatal(err)
	}
	if d := e.document(a.Hash); d.Filename != "poison" || d.IndexError != "the document could not be made" || d.Prompt != "" {
		t.Errorf("the document is %+v", d)
	}
	if diff := e.differs(good.Hash); diff != "" {
		t.Error(diff)
	}
	missing, partial, err := e.store.IndexFailures.Count(e.ctx, indexstate.AssetIndex)
	if err != nil || missing != 0 || partial != 1 {
		t.Errorf("failures: %d missing, %d partial, error %v", missing, partial, err)
	}
}
