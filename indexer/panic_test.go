package indexer

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

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

func TestFollow_PanicOfAHandlerEndsNothing(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.run(e.relay())
	poison := newAsset("a0").Asset.Hash
	var handled sync.Map // events come at least once
	e.run(serviceFunc(func(ctx context.Context) error {
		return Subscribe(ctx, e.cfg, "panics", 2, func(_ context.Context, ev Event) {
			if ev.Hash == poison {
				panic("a defect")
			}
			handled.Store(ev.Hash, true)
		})
	}))
	for i := range 5 {
		e.add(newAsset(fmt.Sprint("a", i)))
	}
	e.eventually(time.Minute, func() string {
		n := 0
		handled.Range(func(any, any) bool { n++; return true })
		if n != 4 {
			return fmt.Sprintf("the events of %d assets were handled, want 4", n)
		}
		return ""
	})
}
