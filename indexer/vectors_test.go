package indexer

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/internal/opensearch"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store"
	"vitrine/store/indexstate"
)

// meant is an asset with a prompt.
func meant(name, prompt string) store.NewAsset {
	n := newAsset(name)
	n.Lineage = library.Lineage{Tool: "comfyui", Positive: new(prompt)}
	return n
}

// newMeaningEnv is an env with an embedder and a filler that looks often.
func newMeaningEnv(t testing.TB, p *provider) *env {
	t.Helper()
	e := newEnv(t)
	e.cfg.Embedder, e.cfg.backfillInterval = p.embedder(t, "one"), 400*time.Millisecond
	return e
}

// embedded returns what the index says of an asset's text, with its vectors.
func (e *env) embedded(index string, h library.AssetHash) (said string, vectors map[string][]float32) {
	e.t.Helper()
	var found struct {
		Source json.RawMessage `json:"_source"`
	}
	err := opensearch.Call(e.ctx, e.search, http.MethodGet, fmt.Sprintf("/%s/_doc/%s?routing=%s", index, mappings.DocID(e.actor.Tenant, h), e.actor.Tenant), nil, &found)
	if statusOf(err) == http.StatusNotFound {
		return "", nil
	}
	if err != nil {
		e.t.Fatal(err)
	}
	var mark struct {
		Embedded string `json:"embedded"`
	}
	var doc mappings.Document
	if err := json.Unmarshal(found.Source, &mark); err != nil {
		e.t.Fatal(err)
	}
	if err := json.Unmarshal(found.Source, &doc); err != nil {
		e.t.Fatal(err)
	}
	return mark.Embedded, doc.Vectors
}

// lacks reports what an asset's document lacks of the vector of its prompt.
func (e *env) lacks(model, prompt string, h library.AssetHash) string {
	said, vectors := e.embedded(e.alias(), h)
	got := vectors[e.cfg.Embedder.ID()]
	if said != mappings.EmbeddedReady || len(got) != 4 {
		return fmt.Sprintf("%s is %q with %d vectors", h, said, len(vectors))
	}
	want := vectorOf(model, prompt)
	for i := range want {
		if r := float64(got[i]) / float64(got[0]) / (float64(want[i]) / float64(want[0])); r < 0.999 || r > 1.001 {
			return fmt.Sprintf("%s has the vector of another text", h)
		}
	}
	return ""
}

func TestVectors_ArriveAndEqualTextsAreEmbeddedOnce(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	e := newMeaningEnv(t, p)
	e.run(e.relay(), e.indexer())
	first, other := e.add(meant("1", "a red fox")).Hash, e.add(meant("2", "a blue bird")).Hash
	e.eventually(time.Minute, func() string { return e.lacks("one", "a red fox", first) + e.lacks("one", "a blue bird", other) })
	second := e.add(meant("3", "a red fox")).Hash
	e.eventually(time.Minute, func() string { return e.lacks("one", "a red fox", second) })
	e.retitle("another title", first)
	e.eventually(time.Minute, func() string {
		if doc := e.document(first); doc.Title != "another title" {
			return "the title is " + doc.Title
		}
		return e.lacks("one", "a red fox", first)
	})
	if n := p.count("a red fox"); n != 1 {
		t.Errorf("the text was embedded %d times, want once", n)
	}
	if v := e.get(e.alias(), first).Version; v != e.version(first) {
		t.Errorf("the document has version %d, the asset %d", v, e.version(first))
	}
}

func (e *env) version(h library.AssetHash) int64 {
	e.t.Helper()
	rows, _, err := e.store.Documents.Read(e.ctx, []indexstate.DocumentKey{e.key(h)})
	if err != nil {
		e.t.Fatal(err)
	}
	return rows[0].Version
}

func TestVectors_AssetsWithoutTextAndRefusedTextsAreNotTriedForEver(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.refuse = "unspeakable"
	e := newMeaningEnv(t, p)
	x := e.indexer()
	e.run(e.relay(), x)
	silent, refused, fine := e.add(newAsset("1")).Hash, e.add(meant("2", "unspeakable")).Hash, e.add(meant("3", "fine")).Hash
	e.eventually(time.Minute, func() string {
		for h, want := range map[library.AssetHash]string{silent: mappings.EmbeddedNothing, refused: mappings.EmbeddedRefused, fine: mappings.EmbeddedReady} {
			if said, _ := e.embedded(e.alias(), h); said != want {
				return fmt.Sprintf("%s is %q, want %q", h, said, want)
			}
		}
		return ""
	})
	if err := x.refresh(e.ctx, e.alias()); err != nil {
		t.Fatal(err)
	}
	if keys, open, _, err := x.embeddingBackfill.findUnembedded(e.ctx, x.def, e.alias(), nil); len(keys) != 0 || open != 0 || err != nil {
		t.Errorf("%d documents wait for a vector that will not come, error %v", open, err)
	}
}

func TestVectors_AnOutageOfTheProviderDelaysVectorsAndNothingElse(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	e := newMeaningEnv(t, p)
	stop := e.run(e.relay(), e.indexer())
	p.set(true)
	var hashes []library.AssetHash
	for i := range 30 {
		hashes = append(hashes, e.add(meant(fmt.Sprint(i), fmt.Sprint("prompt ", i))).Hash)
	}
	e.eventually(20*time.Second, func() string {
		if n, err := e.count(); n != 30 || err != nil {
			return fmt.Sprintf("%d of 30 documents can be found, error %v", n, err)
		}
		return ""
	})
	if said, vectors := e.embedded(e.alias(), hashes[0]); said != "" || len(vectors) != 0 {
		t.Fatalf("during the outage a document is %q with %d vectors", said, len(vectors))
	}
	if n, err := e.indexer().Unembedded(e.ctx); n != 30 || err != nil {
		t.Errorf("%d documents are said to wait, error %v; want 30", n, err)
	}
	stop() // what is open must survive the process
	p.set(false)
	e.cfg.Embedder = p.embedder(t, "one")
	e.run(e.indexer())
	e.eventually(time.Minute, func() string {
		for i, h := range hashes {
			if lacks := e.lacks("one", fmt.Sprint("prompt ", i), h); lacks != "" {
				return lacks
			}
		}
		return ""
	})
}

func TestVectors_AProviderThatComesBackIsUsedAgainByTheSameProcess(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	e := newMeaningEnv(t, p)
	e.run(e.relay(), e.indexer())
	p.set(true)
	h := e.add(meant("1", "patience")).Hash
	e.eventually(20*time.Second, func() string {
		if e.get(e.alias(), h).Found {
			return ""
		}
		return "the document is not there"
	})
	time.Sleep(500 * time.Millisecond)
	p.set(false)
	e.eventually(time.Minute, func() string { return e.lacks("one", "patience", h) })
}

func TestVectors_AnotherConfigurationIsBuiltBehindTheAliasWhileSearchesGoOn(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	e := newMeaningEnv(t, p)
	relay := e.relay()
	stop := e.run(relay, e.indexer())
	var hashes []library.AssetHash
	for i := range 40 {
		hashes = append(hashes, e.add(meant(fmt.Sprint(i), fmt.Sprint("prompt ", i%20))).Hash)
	}
	all := func(model string) string {
		for i, h := range hashes {
			if lacks := e.lacks(model, fmt.Sprint("prompt ", i%20), h); lacks != "" {
				return lacks
			}
		}
		return ""
	}
	e.eventually(time.Minute, func() string { return all("one") })
	if err := e.indexer().refresh(e.ctx, e.alias()); err != nil {
		t.Fatal(err)
	}
	stop()

	stopSearching := e.searching(40)
	old := e.cfg.Embedder
	e.cfg.Embedder = p.embedder(t, "two")
	x := e.indexer()
	e.run(e.relay(), x)
	late := e.add(meant("late", "prompt 3")).Hash
	e.eventually(time.Minute, func() string { return all("two") + e.lacks("two", "prompt 3", late) })
	if n, problem := stopSearching(); problem != "" || n == 0 {
		t.Errorf("of %d searches meanwhile: %s", n, problem)
	}
	// The text of the late asset may be asked for from two sides at once.
	if n := p.count("prompt 4"); n != 2 {
		t.Errorf("a text was embedded %d times, want once for each model", n)
	}
	e.awaitLive(x, mappings.Names(e.cfg.Prefix).Index(2))
	if _, vectors := e.embedded(e.alias(), hashes[0]); len(vectors) != 1 {
		t.Errorf("a document has vectors of %d configurations", len(vectors))
	}

	// Going back needs no embedder of the old configuration: its vectors are kept.
	e.eventually(time.Minute, func() string {
		if _, err := x.Rollback(e.ctx, nil); err != nil { // the rebuild still holds its lock
			return err.Error()
		}
		return ""
	})
	e.cfg.Embedder = old
	e.eventually(time.Minute, func() string { return all("one") })
	if n := p.count("prompt 4"); n != 2 {
		t.Errorf("going back embedded a text again")
	}
}

// awaitLive waits until an index is recorded as the live one; the alias moves before that.
func (e *env) awaitLive(x *Indexer, index string) {
	e.t.Helper()
	e.eventually(time.Minute, func() string {
		live, err := x.liveIndex(e.ctx)
		if err != nil || live != index {
			return fmt.Sprintf("the live index is %s, error %v", live, err)
		}
		return ""
	})
}

func TestVectors_ARebuildGoesOnWithoutTheProvider(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.set(true)
	e := newMeaningEnv(t, p)
	x := e.indexer()
	if _, err := x.EnsureIndex(e.ctx); err != nil {
		t.Fatal(err)
	}
	h := e.add(meant("1", "a red fox")).Hash
	if _, err := x.Rebuild(e.ctx, nil); err != nil {
		t.Fatal(err)
	}
	if got := e.get(e.alias(), h); !got.Found {
		t.Error("the asset cannot be found after the rebuild")
	}
	p.set(false)
	e.cfg.Embedder = p.embedder(t, "one")
	var phases []string
	if _, err := e.indexer().Rebuild(e.ctx, func(p Progress) { phases = append(phases, p.Phase) }); err != nil {
		t.Fatal(err)
	}
	if lacks := e.lacks("one", "a red fox", h); lacks != "" {
		t.Error(lacks)
	}
}

func TestVectors_ProcessesWithoutAnEmbedderLeaveTheVectorToThoseWithOne(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	e := newMeaningEnv(t, p)
	if _, err := e.indexer().EnsureIndex(e.ctx); err != nil {
		t.Fatal(err)
	}
	configured := e.cfg.Embedder
	e.cfg.Embedder = nil
	stop := e.run(e.relay(), e.indexer())
	h := e.add(meant("1", "a red fox")).Hash
	e.eventually(time.Minute, func() string {
		if e.get(e.alias(), h).Found {
			return ""
		}
		return "the document is not there"
	})
	stop()
	e.cfg.Embedder = configured
	e.run(e.indexer())
	e.eventually(time.Minute, func() string { return e.lacks("one", "a red fox", h) })
}

func TestVectors_ManyTextsAreEmbeddedInPartsAndEachOnce(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	e := newMeaningEnv(t, p)
	x := e.indexer()
	rows := make([]indexstate.DocumentRow, 500)
	for i := range rows {
		rows[i] = indexstate.DocumentRow{AssetKey: library.AssetKey{Tenant: "t", Hash: library.AssetHash(fmt.Sprint(i))}, State: indexstate.DocumentLive, Version: 1,
			Asset: library.Asset{Title: fmt.Sprint("title ", i%300)}}
	}
	for range 2 {
		b := newBatch(x.def, assetRows(rows), nil, []string{"i"})
		if err := x.vectors.embedBatch(e.ctx, b); err != nil {
			t.Fatal(err)
		}
		if len(b.vectors) != 300 || !b.complete {
			t.Errorf("%d texts are known, want 300", len(b.vectors))
		}
	}
	if len(p.asked) != 300 || p.count("title 299") != 1 {
		t.Errorf("%d texts were embedded, want 300", len(p.asked))
	}
	p.set(true)
	b := newBatch(x.def, assetRows([]indexstate.DocumentRow{{AssetKey: library.AssetKey{Tenant: "t", Hash: "new"}, State: indexstate.DocumentLive, Version: 1, Asset: library.Asset{Title: "new"}}}), nil, []string{"i"})
	if err := x.vectors.embedBatch(e.ctx, b); err == nil || b.complete {
		t.Errorf("without the provider a new text is taken for known: %v", err)
	}
}

func TestVectors_ThatTheIndexWouldRefuseIsNeverSent(t *testing.T) {
	t.Parallel()
	inf := float32(1)
	for range 200 {
		inf *= 10
	}
	for name, v := range map[string][]float32{"none": nil, "zero": {0, 0}, "infinite": {inf, 1}, "no number": {inf - inf, 1}} {
		if isIndexable(v) {
			t.Errorf("%s: %v is taken for a vector", name, v)
		}
	}
	b := newBatch(&Definition{Index: mappings.AssetIndex()}, assetRows([]indexstate.DocumentRow{{AssetKey: library.AssetKey{Tenant: "t", Hash: "h"}, State: indexstate.DocumentLive, Version: 3}}), nil, []string{"i"})
	it := &b.items[0]
	it.text = "x"
	plain := string(b.buffer[it.line.from:it.line.to])
	if b.attachVector(it, "c", nil) || string(b.buffer[it.line.from:it.line.to]) != plain {
		t.Error("an unknown text changes the document")
	}
	b.attachVector(it, "c", map[indexstate.TextHash]indexstate.EmbeddingVector{hashText("x"): {0.5, -1e-7}})
	action, doc, _ := strings.Cut(string(b.buffer[it.line.from:it.line.to]), "\n")
	var got mappings.Document
	if err := json.Unmarshal([]byte(doc), &got); err != nil || !json.Valid([]byte(action)) {
		t.Fatalf("the lines are no JSON: %v\n%s\n%s", err, action, doc)
	}
	if v := got.Vectors["c"]; len(v) != 2 || v[0] != 0.5 || v[1] != -1e-7 || got.DocVersion != 3 {
		t.Errorf("the document came back as %+v", got)
	}
}

func TestVectors_FillingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	e := newMeaningEnv(t, newProvider(t))
	x := e.indexer()
	ctx, cancel := context.WithCancel(e.ctx)
	done := make(chan struct{})
	go func() { x.embeddingBackfill.run(ctx); close(done) }()
	cancel()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatal("the filler goes on")
	}
}
