package indexer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/internal/kafkaclient"
	"vitrine/internal/opensearch"
	"vitrine/internal/randtest"
	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store"
	"vitrine/store/indexstate"
)

// publish sends messages to the changes topic as they are, past the outbox.
func (e *env) publish(list ...kafkaclient.Message) {
	e.t.Helper()
	b := newKafkaClient(e.cfg)
	defer b.Close()
	if _, err := b.EnsureTopics(e.ctx, e.cfg.topics()); err != nil {
		e.t.Fatal(err)
	}
	p := b.Publisher(e.cfg.changesTopic())
	defer p.Close()
	// A broker may not know yet of a topic whose leader is announced already.
	e.eventually(20*time.Second, func() string {
		if err := p.Publish(e.ctx, list); err != nil {
			return err.Error()
		}
		return ""
	})
}

func (e *env) event(h library.AssetHash, version int64) kafkaclient.Message {
	m, err := newMessage(&store.OutboxRow{Index: indexstate.AssetIndex, DocumentKey: e.key(h), DocVersion: version, Reason: "updated", CreatedAt: time.Now()})
	if err != nil {
		e.t.Fatal(err)
	}
	return m
}

// retitle changes assets through the store, so versions rise as they do for users.
func (e *env) retitle(title string, hashes ...library.AssetHash) {
	e.t.Helper()
	_, err := e.store.Assets.Change(e.ctx, e.actor, hashes, func(a *library.Asset) { a.Title = title })
	if err != nil {
		e.t.Fatal(err)
	}
}

// purge removes an asset's row for good, leaving its tombstone.
func (e *env) purge(h library.AssetHash) {
	e.t.Helper()
	e.exec(`INSERT INTO asset_tombstones (tenant_id, asset_h, doc_version) SELECT tenant_id, asset_h, doc_version + 1 FROM assets WHERE tenant_id = $1 AND asset_h = $2
		ON CONFLICT (tenant_id, asset_h) DO UPDATE SET doc_version = excluded.doc_version`, string(e.actor.Tenant), string(h))
	e.exec(`DELETE FROM assets WHERE tenant_id = $1 AND asset_h = $2`, string(e.actor.Tenant), string(h))
	e.exec(`INSERT INTO outbox (tenant_id, key, doc_version, reason) SELECT tenant_id, asset_h, doc_version, 'purged' FROM asset_tombstones WHERE tenant_id = $1 AND asset_h = $2`,
		string(e.actor.Tenant), string(h))
}

func TestConsumer_ARowBecomesADocument(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.run(e.relay(), e.indexer())
	a := e.add(typicalAsset("a.png"))
	e.eventually(time.Minute, func() string { return e.differs(a.Hash) })
	doc := e.document(a.Hash)
	if doc.Prompt != "a red cat" || doc.Filename != "a.png" || doc.Sampler != "euler" || len(doc.GTNodes) != 2 || doc.DocVersion != 1 {
		t.Errorf("document = %+v", doc)
	}
	e.retitle("Red cat", a.Hash)
	e.eventually(time.Minute, func() string { return e.differs(a.Hash) })
	if doc := e.document(a.Hash); doc.Title != "Red cat" || doc.DocVersion != 2 {
		t.Errorf("after the change: title %q, version %d", doc.Title, doc.DocVersion)
	}
}

func TestConsumer_DuplicatedAndShuffledEventsEndInTheRows(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	x := e.indexer()
	e.run(x)
	var hashes []library.AssetHash
	var events []kafkaclient.Message
	for i := range 30 {
		a := e.add(typicalAsset(fmt.Sprint(i)))
		hashes = append(hashes, a.Hash)
	}
	for round := range 3 {
		e.retitle(fmt.Sprint("title ", round), hashes...)
	}
	for i, h := range hashes {
		if i%5 == 0 {
			e.purge(h)
		}
		for version := range int64(6) {
			events = append(events, e.event(h, version), e.event(h, version), e.event(h, version))
		}
	}
	randtest.NewRand(randtest.Fresh(t)).Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	e.publish(events...)
	e.eventually(time.Minute, func() string { return e.differs(hashes...) })
	for i, h := range hashes {
		if d := e.document(h); d.Deleted != (i%5 == 0) {
			t.Errorf("document %d: deleted is %v", i, d.Deleted)
		}
	}
}

func TestConsumer_ALateWriteCannotBringBackWhatIsGone(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	x := e.indexer()
	if _, err := x.EnsureIndex(e.ctx); err != nil {
		t.Fatal(err)
	}
	a := e.add(typicalAsset("a"))
	keys := []indexstate.DocumentKey{e.key(a.Hash)}
	late, err := x.read(e.ctx, keys, nil) // a consumer reads the asset and then stalls
	if err != nil {
		t.Fatal(err)
	}
	e.purge(a.Hash)
	now, err := x.read(e.ctx, keys, nil) // another one reads that it is gone
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []*batch{now, late, now} {
		if err := x.writer.writeBatch(e.ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	if got := e.get(e.alias(), a.Hash); !got.Source.Deleted || got.Version != 2 {
		t.Errorf("after the late write: %+v", got)
	}
	again := e.add(typicalAsset("a")) // the same bytes come back
	back, err := x.read(e.ctx, keys, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.writer.writeBatch(e.ctx, back); err != nil {
		t.Fatal(err)
	}
	if problem := e.differs(again.Hash); problem != "" {
		t.Error(problem)
	}
}

func TestConsumer_AnAssetInTheTrashIsATombstoneUntilItIsRestored(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	x := e.indexer()
	if _, err := x.EnsureIndex(e.ctx); err != nil {
		t.Fatal(err)
	}
	a := e.add(typicalAsset("a"))
	for _, step := range []struct {
		sql     string
		deleted bool
	}{{`now()`, true}, {`NULL`, false}} {
		e.exec(`UPDATE assets SET doc_version = doc_version + 1, trashed_at = `+step.sql+` WHERE tenant_id = $1`, string(e.actor.Tenant))
		b, err := x.read(e.ctx, []indexstate.DocumentKey{e.key(a.Hash)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.writer.writeBatch(e.ctx, b); err != nil {
			t.Fatal(err)
		}
		if d := e.document(a.Hash); d.Deleted != step.deleted || (d.Prompt == "") != step.deleted {
			t.Errorf("trashed_at %s: document %+v", step.sql, d)
		}
	}
}

func TestConsumer_ARebalanceLosesNothing(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.cfg.BatchEvents = 5
	e.run(e.relay())
	stopFirst := e.run(e.indexer())
	var hashes []library.AssetHash
	write := func(n int) {
		for range n {
			hashes = append(hashes, e.add(newAsset(fmt.Sprint(len(hashes)))).Hash)
		}
		e.retitle(fmt.Sprint("after ", len(hashes)), hashes...)
	}
	write(30)
	e.run(e.indexer()) // joins: the partitions are dealt anew
	write(30)
	stopFirst() // leaves: they are dealt anew again
	write(30)
	e.eventually(2*time.Minute, func() string { return e.differs(hashes...) })
}

func TestConsumer_OutlivesOpenSearchAndItsDatabaseConnections(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	g := &gate{}
	e.throughGate(g)
	e.run(e.relay(), e.indexer())
	a := e.add(newAsset("before"))
	e.eventually(time.Minute, func() string { return e.differs(a.Hash) })
	g.set(true)
	b := e.add(newAsset("during"))
	e.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'vitrine_indexer'`)
	e.retitle("during", a.Hash)
	time.Sleep(500 * time.Millisecond)
	g.set(false)
	e.eventually(time.Minute, func() string { return e.differs(a.Hash, b.Hash) })
}

func TestConsumer_ARefusedDocumentIsStrippedAndTheRestGoesOn(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.run(e.relay(), e.indexer())
	poison := typicalAsset("poison")
	poison.Lineage.Parameters.Steps = new(1 << 40) // beyond the index's integer
	p, good := e.add(poison), e.add(typicalAsset("good"))
	e.eventually(time.Minute, func() string { return e.differs(good.Hash) })
	e.eventually(time.Minute, func() string {
		if d := e.document(p.Hash); !strings.Contains(d.IndexError, "steps") || d.Prompt != "a red cat" || d.Steps != nil {
			return fmt.Sprintf("the refused document is %+v", d)
		}
		return ""
	})
	e.eventually(time.Minute, func() string {
		missing, partial, err := e.store.IndexFailures.Count(e.ctx, indexstate.AssetIndex)
		if err != nil || missing != 0 || partial != 1 {
			return fmt.Sprintf("failures: %d missing, %d partial, error %v", missing, partial, err)
		}
		return ""
	})
}

func TestConsumer_ADeadDocumentIsPutAsideAndReplayed(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	x := e.indexer()
	// An index that takes a description as one term refuses a long one in any form.
	index := x.names.Index(1)
	body, err := mappings.Create(index, mappings.Meta{})
	if err != nil {
		t.Fatal(err)
	}
	var narrow map[string]any
	if err := json.Unmarshal(body, &narrow); err != nil {
		t.Fatal(err)
	}
	narrow["mappings"].(map[string]any)["properties"].(map[string]any)["description"] = map[string]any{"type": "text", "analyzer": "keyword"}
	if err := opensearch.Call(e.ctx, e.search, "PUT", "/"+index, narrow, nil); err != nil {
		t.Fatal(err)
	}
	if err := x.pointAlias(e.ctx, index, nil, survey{}); err != nil {
		t.Fatal(err)
	}
	if err := e.store.Generations.Set(e.ctx, indexstate.AssetIndex, "", index, indexstate.GenerationLive, ""); err != nil {
		t.Fatal(err)
	}
	e.run(e.relay(), x)
	bad := newAsset("bad")
	bad.Asset.Description = strings.Repeat("x", 40_000)
	e.publish(kafkaclient.Message{Key: []byte("x"), Value: []byte("{not json")})
	b, good := e.add(bad), e.add(newAsset("good"))
	e.eventually(time.Minute, func() string { return e.differs(good.Hash) })
	e.eventually(time.Minute, func() string {
		list, err := e.store.IndexFailures.List(e.ctx, indexstate.AssetIndex, indexstate.DocumentKey{}, 10)
		if err != nil || len(list) != 1 || library.AssetHash(list[0].Key) != b.Hash || list[0].Partial || !strings.Contains(list[0].Reason, "description") {
			return fmt.Sprintf("failures: %+v, error %v", list, err)
		}
		return ""
	})
	e.eventually(time.Minute, func() string { return noneBut(e.deadLetters(x), 2) })

	e.exec(`UPDATE assets SET description = '5' WHERE tenant_id = $1 AND asset_h = $2`, string(e.actor.Tenant), string(b.Hash))
	if n, err := x.ReplayFailures(e.ctx); n != 1 || err != nil {
		t.Fatalf("replayed %d, error %v", n, err)
	}
	e.eventually(time.Minute, func() string { return e.differs(b.Hash) })
	e.eventually(time.Minute, func() string {
		missing, partial, err := e.store.IndexFailures.Count(e.ctx, indexstate.AssetIndex)
		if err != nil || missing+partial != 0 {
			return fmt.Sprintf("failures: %d missing, %d partial, error %v", missing, partial, err)
		}
		return ""
	})
}

// deadLetters counts the dead letters.
func (e *env) deadLetters(x *Indexer) (n int64) {
	list, err := x.kafka.Offsets(e.ctx, e.cfg.deadTopic(), e.cfg.group())
	if err != nil {
		return -1
	}
	for _, p := range list {
		n += p.End - p.First
	}
	return n
}

func TestConsumer_ATopicThatWasDeletedIsMadeAndReadAnew(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.cfg.Partitions = 1
	e.cfg.StallAfter = 4 * time.Second
	x := e.indexer()
	e.run(e.relay(), x)
	var hashes []library.AssetHash
	for i := range 5 {
		hashes = append(hashes, e.add(newAsset(fmt.Sprint(i))).Hash)
	}
	e.eventually(time.Minute, func() string { return e.differs(hashes...) })
	if err := testenv.DeleteTopic(e.ctx, e.cfg.Brokers, e.cfg.changesTopic()); err != nil {
		t.Fatal(err)
	}
	e.retitle("new", hashes[0]) // its offset is far below the one that was committed
	e.eventually(2*time.Minute, func() string { return e.differs(hashes...) })
}

func TestConsumer_AnOffsetBeyondTheEndIsTakenBack(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.cfg.Partitions = 1
	e.cfg.StallAfter = time.Hour
	x := e.indexer()
	a := e.add(newAsset("a"))
	e.publish(e.event(a.Hash, 1))
	before := x.kafka.Subscribe(x.cfg.changesTopic(), x.cfg.group(), 10)
	if _, err := before.Fetch(e.ctx); err != nil {
		t.Fatal(err)
	}
	if err := before.Commit(e.ctx, []kafkaclient.Message{{Offset: 1000}}); err != nil {
		t.Fatal(err)
	}
	before.Close()
	e.run(x)
	e.eventually(2*time.Minute, func() string { return e.differs(a.Hash) })
}

func TestConsumer_AReaderIsNotJudgedByThePartitionsOfOthers(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.cfg.Partitions = 1
	x := e.indexer()
	if _, err := x.kafka.EnsureTopics(e.ctx, x.cfg.topics()); err != nil {
		t.Fatal(err)
	}
	first := x.kafka.Subscribe(x.cfg.changesTopic(), x.cfg.group(), 10)
	defer first.Close()
	e.publish(e.event(newAsset("a").Asset.Hash, 1))
	if _, err := first.Fetch(e.ctx); err != nil { // fetched and not committed: unread
		t.Fatal(err)
	}
	list, err := x.kafka.Offsets(e.ctx, x.cfg.changesTopic(), x.cfg.group())
	if err != nil {
		t.Fatal(err)
	}
	if n := newWatchdog(x.kafka, x.cfg, first).Unread(e.ctx, list); n != 1 {
		t.Errorf("the reader of the partition leaves %d unread, want 1", n)
	}
	other := &kafkaclient.Subscription{Client: "other"}
	if n := newWatchdog(x.kafka, x.cfg, other).Unread(e.ctx, list); n != 0 {
		t.Errorf("another reader leaves %d unread, want 0", n)
	}
}

func TestConsumer_DocumentsKnowTheirPlaceInAChain(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	root := e.add(newAsset("root.png"))
	middle := newAsset("middle.png")
	middle.Lineage.Parents = []library.Parent{{Kind: "input_image", Name: "root.png"}, {Kind: "mask", Name: "nowhere.png"}}
	m := e.add(middle)
	leaf := newAsset("leaf.png")
	leaf.Asset.Parent = m.Hash // its uploader says so
	l := e.add(leaf)
	alone := e.add(newAsset("alone.png"))
	e.exec(`INSERT INTO asset_parents (tenant_id, asset_h, position, kind, name, parent_asset_h, resolved_by) VALUES ($1, $2, 0, 'input_image', 'itself', $2, 'name')`,
		string(e.actor.Tenant), string(alone.Hash))

	rows, _, err := e.store.Documents.Read(e.ctx, keysOf(e, []library.AssetHash{root.Hash, m.Hash, l.Hash, alone.Hash}))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		root     library.AssetHash
		parents  []library.AssetHash
		children int
	}{
		{root.Hash, nil, 1}, {root.Hash, []library.AssetHash{root.Hash}, 1}, {root.Hash, []library.AssetHash{m.Hash}, 0},
		{alone.Hash, []library.AssetHash{alone.Hash}, 1}, // a file that claims to descend from itself
	} {
		d := Build(&rows[i])
		if d.LineageRoot != want.root || !slices.Equal(d.ParentHs, want.parents) || d.ChildCount != want.children || !d.Chain {
			t.Errorf("%s: root %s, parents %v, %d children", d.Filename, d.LineageRoot, d.ParentHs, d.ChildCount)
		}
	}
}
