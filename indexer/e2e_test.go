package indexer

import (
	"context"
	"testing"
	"time"

	"vitrine/store"
)

func TestARowBecomesADocument(t *testing.T) {
	e := newEnv(t)
	e.run(e.relay(), e.indexer())
	a := e.add(typicalAsset("a.png"))
	e.eventually(10*time.Second, func() string { return e.differs(a.Hash) })
	doc := e.document(a.Hash)
	if doc.Prompt != "a red cat" || doc.Filename != "a.png" || doc.Sampler != "euler" || len(doc.GTNodes) != 2 {
		t.Errorf("document = %+v", doc)
	}
	_ = context.Background
	_ = store.AssetGone
}
