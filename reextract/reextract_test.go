package reextract_test

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/media/extract"
	"vitrine/media/extract/container"
	"vitrine/reextract"
	"vitrine/store"
	"vitrine/store/storetest"
)

// bench is a store on a database of its own.
type bench struct {
	*store.Store
	t     *testing.T
	owner *pgx.Conn // is not held by row level security
	actor library.Actor
}

func open(t *testing.T) bench {
	t.Helper()
	s, url := storetest.Open(t)
	tenant, err := s.Tenants.Create(t.Context(), library.Actor{Kind: library.ActorSystem, ID: "test"}, "a")
	if err != nil {
		t.Fatal(err)
	}
	owner := storetest.Owner(t, url)
	return bench{s, t, owner, library.Actor{Kind: library.ActorKey, ID: "key", Tenant: tenant.ID, Permissions: library.Permissions}}
}

// add stores a picture whose file says it was made with this prompt; empty for a
// file without metadata. It was read by version 1 of the parser.
func (b bench) add(name, prompt string) library.AssetHash {
	b.t.Helper()
	if prompt == "" {
		return b.addChunks(name)
	}
	return b.addChunks(name, container.Chunk{Place: "png:tEXt", Key: "parameters", Text: prompt +
		" <lora:detail:0.5>\nNegative prompt: ugly\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: 18446744073709551615, Size: 512x512, Model: base"})
}

// addGraph stores a picture with the graph it was made with.
func (b bench) addGraph(name, graph string) library.AssetHash {
	b.t.Helper()
	return b.addChunks(name, container.Chunk{Place: "png:tEXt", Key: "prompt", Text: graph})
}

func (b bench) addChunks(name string, chunks ...container.Chunk) library.AssetHash {
	b.t.Helper()
	sum := sha1.Sum([]byte(name))
	file := container.File{MIME: "image/png", Width: 8, Height: 8}
	n := store.NewAsset{ParserVersion: 1, Asset: library.Asset{Hash: library.AssetHash(hex.EncodeToString(sum[:])),
		SHA256: strings.Repeat("a", 64), BLAKE3: strings.Repeat("b", 64), Filename: name + ".png", MIMEType: file.MIME, Size: 1, Width: 8, Height: 8,
		CreatedAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}}
	if len(chunks) > 0 {
		file.Chunks, n.Chunks = chunks, chunks
	}
	n.Lineage, n.Report = fromChunks(file, n.Asset.Filename)
	if _, err := b.Assets.Add(b.t.Context(), b.actor, n); err != nil {
		b.t.Fatal(err)
	}
	return n.Asset.Hash
}

func fromChunks(file container.File, name string) (library.Lineage, any) {
	l, report := extract.FromChunks(file, extract.Options{Filename: name})
	return l, report
}

func (b bench) run(opt reextract.Options) reextract.Counts {
	b.t.Helper()
	got, err := reextract.Run(b.t.Context(), b.Store.Extraction, opt)
	if err != nil {
		b.t.Fatal(err)
	}
	return got
}

func (b bench) exec(sql string, args ...any) {
	b.t.Helper()
	if _, err := b.owner.Exec(b.t.Context(), sql, args...); err != nil {
		b.t.Fatal(err)
	}
}

func (b bench) number(sql string, args ...any) (n int64) {
	b.t.Helper()
	if err := b.owner.QueryRow(b.t.Context(), sql, args...).Scan(&n); err != nil {
		b.t.Fatal(err)
	}
	return n
}

func (b bench) detail(h library.AssetHash) store.AssetDetail {
	b.t.Helper()
	d, err := b.Assets.Get(b.t.Context(), b.actor, h)
	if err != nil {
		b.t.Fatal(err)
	}
	return d
}

// want compares counts but for the place where a run ended.
func (b bench) want(what string, got reextract.Counts, changed, same, failed int64) {
	b.t.Helper()
	if got.Changed != changed || got.Same != same || got.Failed != failed {
		b.t.Errorf("%s: %d changed, %d the same, %d failed; want %d, %d, %d", what, got.Changed, got.Same, got.Failed, changed, same, failed)
	}
}

func TestReextract_DamagedLineageIsRepairedFromTheChunksAndNothingElseIsTouched(t *testing.T) {
	t.Parallel()
	b := open(t)
	whole, doc, models, source, bare := b.add("whole", "a fox"), b.add("doc", "a hare"), b.add("models", "a wolf"), b.add("source", "a bear"), b.add("bare", "")
	before := map[library.AssetHash]store.AssetDetail{}
	for _, h := range []library.AssetHash{whole, doc, models, source, bare} {
		if _, err := b.Assets.Change(t.Context(), b.actor, []library.AssetHash{h}, func(a *library.Asset) { a.Title, a.Tags = "mine", []string{"kept"} }); err != nil {
			t.Fatal(err)
		}
		if _, err := store.NewModels(b.Store).Link(t.Context(), b.actor, h, library.ModelLink{Model: library.NewModelHash("checkpoint", "base"), Source: "manual_tag"},
			func(string) bool { return false }); err != nil {
			t.Fatal(err)
		}
		before[h] = b.detail(h)
	}
	b.exec(`UPDATE lineage SET doc = '{"models": [], "positive": "something else"}' WHERE asset_h = $1`, doc)
	b.exec(`DELETE FROM asset_models WHERE asset_h = $1 AND detection_source = 'extracted'`, models)
	b.exec(`UPDATE lineage SET source = 'unknown' WHERE asset_h = $1`, source)
	outbox := b.number(`SELECT count(*) FROM outbox WHERE topic = 'documents'`)

	b.want("repair", b.run(reextract.Options{Version: 2}), 3, 2, 0)
	for h, want := range before {
		got := b.detail(h)
		if h == doc || h == models || h == source {
			want.Asset.DocVersion++
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-before +now): %s", want.Asset.Filename, diff)
		}
	}
	if n := b.number(`SELECT count(*) FROM outbox WHERE topic = 'documents'`) - outbox; n != 3 {
		t.Errorf("%d assets are on the way to the index, not the 3 that changed", n)
	}
	if n := b.number(`SELECT count(*) FROM audit WHERE action = 'lineage.extracted' AND actor_id = 'reextract'`); n != 3 {
		t.Errorf("%d audit rows for 3 changes", n)
	}
	if n := b.number(`SELECT count(*) FROM lineage WHERE parser_version = 2`); n != 5 {
		t.Errorf("%d of 5 assets remember the new parser", n)
	}
	b.want("a second run", b.run(reextract.Options{Version: 2}), 0, 0, 0)
	b.want("all once more", b.run(reextract.Options{Version: 2, All: true}), 0, 5, 0)
}

func TestReextract_AnInterruptedRunGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	b := open(t)
	const n = 70 // more than one batch
	for i := range n {
		b.add(fmt.Sprint("picture ", i), "a fox")
	}
	b.exec(`UPDATE lineage SET doc = '{"models": []}'`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stop := func(reextract.Counts, int64) { cancel() }
	first, err := reextract.Run(ctx, b.Store.Extraction, reextract.Options{Version: 2, Progress: stop})
	if !errors.Is(err, context.Canceled) || first.Done() == 0 || first.Done() >= n {
		t.Fatalf("the run was not interrupted midway: %+v %v", first, err)
	}
	second := b.run(reextract.Options{Version: 2})
	b.want("both runs", reextract.Counts{Changed: first.Changed + second.Changed, Same: second.Same}, n, 0, 0)

	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	first, err = reextract.Run(ctx, b.Store.Extraction, reextract.Options{Version: 2, All: true, Progress: stop})
	if !errors.Is(err, context.Canceled) || first.Last.Hash == "" {
		t.Fatalf("the run was not interrupted midway: %+v %v", first, err)
	}
	b.want("the rest of all", b.run(reextract.Options{Version: 2, All: true, After: first.Last}), 0, n-first.Done(), 0)
}

func TestReextract_LineageStaysWhereNothingCanBeReadAgain(t *testing.T) {
	t.Parallel()
	b := open(t)
	lost, broken := b.add("lost", "a fox"), b.add("broken", "a hare")
	before := b.detail(lost)
	b.exec(`DELETE FROM lineage_raw WHERE asset_h = $1`, lost)
	b.exec(`UPDATE lineage_raw SET chunks = 'no gzip' WHERE asset_h = $1`, broken)
	quiet := slog.New(slog.DiscardHandler)
	b.want("nothing to read", b.run(reextract.Options{Version: 2, Log: quiet}), 0, 0, 2)
	if diff := cmp.Diff(before, b.detail(lost)); diff != "" {
		t.Errorf("lineage was lost: %s", diff)
	}
	b.want("tried again next time", b.run(reextract.Options{Version: 2, Log: quiet}), 0, 0, 2)
}

func TestReextract_ReportsWhatChangedPerField(t *testing.T) {
	t.Parallel()
	b := open(t)
	h := b.add("a", "a fox")
	b.exec(`UPDATE lineage SET doc = jsonb_set(jsonb_set(doc::jsonb, '{parameters,steps}', '3'), '{parameters,guidance}', '2.5') #- '{parameters,seed}' WHERE asset_h = $1`, h)
	got := b.run(reextract.Options{})
	want := map[string]reextract.FieldCounts{"steps": {Changed: 1}, "guidance": {Removed: 1}, "seed": {Added: 1}}
	if diff := cmp.Diff(want, got.Fields); diff != "" {
		t.Errorf("fields (-want +got)\n%s", diff)
	}
	if again := b.run(reextract.Options{All: true}); len(again.Fields) > 0 {
		t.Errorf("a second run changed %v", again.Fields)
	}
}

// TestReextract_OfAnOlderParsersLibraryCountsEveryFieldThatIsReadDifferently has assets as an
// older parser left them: of those only is read again, and each field that differs is counted.
func TestReextract_OfAnOlderParsersLibraryCountsEveryFieldThatIsReadDifferently(t *testing.T) {
	t.Parallel()
	b := open(t)
	graph := `{"1":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"a.safetensors"}},
		"2":{"class_type":"CLIPTextEncode","inputs":{"text":"a red fox","clip":["1",1]}},
		"3":{"class_type":"RES4LYF Guess","inputs":{"unread":1}},
		"4":{"class_type":"EmptyLatentImage","inputs":{"width":640,"height":480,"batch_size":2}},
		"5":{"class_type":"KSampler","inputs":{"seed":18446744073709551615,"steps":20,"cfg":7,"sampler_name":"euler","scheduler":"karras","denoise":1,
			"model":["1",0],"positive":["2",0],"negative":["2",0],"latent_image":["4",0]}},
		"6":{"class_type":"VAEDecode","inputs":{"samples":["5",0],"vae":["1",2]}},"7":{"class_type":"SaveImage","inputs":{"images":["6",0]}}}`
	same, read, warned, broken, ofToday := b.addGraph("same", graph), b.addGraph("read", graph), b.addGraph("warned", graph), b.addGraph("broken", graph), b.addGraph("today", graph)
	b.exec(`UPDATE lineage SET parser_version = $1`, extract.ParserVersion-1)
	b.exec(`UPDATE lineage SET parser_version = $1 WHERE asset_h = $2`, extract.ParserVersion, ofToday)
	for _, h := range []library.AssetHash{read, ofToday} {
		b.exec(`UPDATE lineage SET doc = jsonb_set(jsonb_set(doc::jsonb, '{parameters,steps}', '3'), '{parameters,fps}', '24')
			#- '{parameters,seed}' #- '{parameters,batch_size}' #- '{samplers}' WHERE asset_h = $1`, h)
	}
	b.exec(`UPDATE lineage SET doc = jsonb_set(jsonb_set(doc::jsonb, '{warnings}', '["what was read"]'), '{workflow,node_count}', '6') WHERE asset_h = $1`, warned)
	b.exec(`UPDATE lineage SET doc = '[1]' WHERE asset_h = $1`, broken)
	whole := b.detail(same)

	got := b.run(reextract.Options{})
	b.want("the older ones", got, 3, 1, 0)
	one := reextract.FieldCounts{Added: 1}
	want := map[string]reextract.FieldCounts{
		"steps": {Added: 1, Changed: 1}, "fps": {Removed: 1}, "seed": {Added: 2}, "batch_size": {Added: 2}, "samplers": {Added: 2}, // read, and all of broken
		"warnings": {Removed: 1}, "workflow": {Added: 1, Changed: 1},
		"tool": one, "positive": one, "negative": one, "models": one, "evidence": one,
		"model_name": one, "cfg_scale": one, "sampler": one, "scheduler": one, "denoise": one, "width": one, "height": one,
	}
	if diff := cmp.Diff(want, got.Fields); diff != "" {
		t.Errorf("fields (-want +got)\n%s", diff)
	}
	for _, h := range []library.AssetHash{read, warned, broken} {
		if diff := cmp.Diff(whole.Lineage, b.detail(h).Lineage); diff != "" {
			t.Errorf("%s is not read as the others (-want +got)\n%s", h, diff)
		}
	}
	if n := b.number(`SELECT count(*) FROM lineage WHERE parser_version = $1`, extract.ParserVersion); n != 5 {
		t.Errorf("%d of 5 assets remember today's parser", n)
	}
	b.want("again", b.run(reextract.Options{}), 0, 0, 0)
	b.want("all", b.run(reextract.Options{All: true}), 1, 4, 0) // that of today, which nothing had asked for
}
