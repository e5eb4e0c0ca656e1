package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/store"
	"vitrine/store/indexstate"
	"vitrine/store/storetest"
)

// pictures puts n assets with the prompts "picture 1 in snow", "picture 2 in snow" and so on
// into the tenant.
func (s bench) pictures(t *testing.T, n int) *pgx.Conn {
	t.Helper()
	db := storetest.Owner(t, s.url)
	for _, sql := range []string{
		`INSERT INTO assets (tenant_id, asset_h, sha256, blake3, filename, mime_type, size, created_at, created_by, doc_version)
			SELECT $1, lpad(to_hex(i), 40, '0'), '', '', i || '.png', 'image/png', 1, now(), 'test', 1 FROM generate_series(1, $2::int) i`,
		`INSERT INTO lineage (tenant_id, asset_h, source, parser_version, doc)
			SELECT $1, lpad(to_hex(i), 40, '0'), 'extracted', 1, json_build_object('positive', 'picture ' || i || ' in deep snow') FROM generate_series(1, $2::int) i`,
	} {
		if _, err := db.Exec(t.Context(), sql, string(s.a.Tenant), n); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// linkSlice links for one page.
func (s bench) linkSlice(t *testing.T) store.LinkProgress {
	t.Helper()
	p, err := s.Prompts.LinkPending(t.Context(), s.a.Tenant, 0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// linkRest links until nothing is left, and returns in how many calls.
func (s bench) linkRest(t *testing.T) (calls int) {
	t.Helper()
	for ; s.linkSlice(t).More; calls++ {
		if calls > 20 {
			t.Fatal("comparing never ends")
		}
	}
	return calls
}

func TestPrompts_ComparingALargeLibraryGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	s := open(t)
	db := s.pictures(t, 3500)
	progress := func(p store.PromptChange) (after string, done bool) {
		t.Helper()
		if err := db.QueryRow(t.Context(), `SELECT linked_after, linked_at IS NOT NULL FROM prompt_versions WHERE tenant_id = $1 AND version_h = $2`,
			string(s.a.Tenant), p.Version.Hash).Scan(&after, &done); err != nil {
			t.Fatal(err)
		}
		return after, done
	}
	key := func(i int) string { return fmt.Sprintf("%040x", i) }
	first := s.prompt(t, "picture {{x}} in shallow snow")
	last := s.prompt(t, "picture 3499 in {{how}} snow")
	if p := s.linkSlice(t); !p.More || p.Versions != 0 {
		t.Fatalf("a page was all: %+v", p)
	}
	for _, p := range []store.PromptChange{first, last} {
		if after, done := progress(p); after != key(1000) || done {
			t.Fatalf("after one page %s %v", after, done)
		}
	}
	// One that comes meanwhile holds up none and is compared with all.
	early := s.prompt(t, "picture 7 in {{how}} snow")
	s.linkSlice(t)
	if after, _ := progress(early); after != "" {
		t.Errorf("the later version was compared first, up to %s", after)
	}
	if after, _ := progress(last); after != key(2000) {
		t.Errorf("the earlier version came up to %s", after)
	}
	s.linkRest(t)
	for _, x := range []struct {
		of   store.PromptChange
		want []string
	}{{first, nil}, {last, []string{"3499"}}, {early, []string{"7"}}} {
		if got := s.images(t, s.a, x.of.Prompt.Hash, ""); !slices.Equal(got, x.want) {
			t.Errorf("%q has %v, want %v", x.of.Version.Text, got, x.want)
		}
		if _, done := progress(x.of); !done {
			t.Errorf("%q is not compared", x.of.Version.Text)
		}
	}
	if p := s.linkSlice(t); p.More || p.Versions != 0 {
		t.Errorf("afterwards: %+v", p)
	}
}

func TestPrompts_AVersionThatChangesMeanwhileIsComparedAnew(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.pictures(t, 2500)
	p := s.prompt(t, "picture 7 in {{how}} snow")
	s.linkSlice(t)
	gone, err := s.Prompts.Delete(t.Context(), s.a, p.Prompt.Hash)
	if err != nil {
		t.Fatal(err)
	}
	// What is stored while the prompt is deleted is not linked to it.
	stored := add(t, s, s.a, prompted("new", "picture 7 in wet snow"))
	if _, err := s.Operations.Undo(t.Context(), s.a, gone.OperationID, anyone); err != nil {
		t.Fatal(err)
	}
	if calls := s.linkRest(t); calls < 2 {
		t.Errorf("the library was compared in %d calls, as if it had been begun", calls)
	}
	if got := s.images(t, s.a, p.Prompt.Hash, ""); !slices.Equal(got, []string{"7", "new"}) {
		t.Errorf("it has %v, want 7 and new (%s)", got, stored.Asset.Hash)
	}
}

func TestPrompts_WhatLinksAnImageReindexesItsDocument(t *testing.T) {
	t.Parallel()
	s := open(t)
	image := add(t, s, s.a, prompted("image", "a calm fox in deep snow")).Asset
	other := add(t, s, s.a, prompted("other", "a calm owl")).Asset
	document := func(of library.AssetHash) indexstate.DocumentRow {
		t.Helper()
		rows, _, err := s.Documents.Read(t.Context(), []indexstate.DocumentKey{{Tenant: s.a.Tenant, Key: string(of)}})
		if err != nil {
			t.Fatal(err)
		}
		return rows[0]
	}
	before, others := document(image.Hash).Version, document(other.Hash).Version
	p := s.prompt(t, "a {{mood}} fox in deep snow")
	s.link(t)
	linked := document(image.Hash)
	if !slices.Equal(linked.Prompts, []indexstate.DocumentPrompt{{Prompt: p.Prompt.Hash, Version: p.Version.Hash}}) || linked.Version <= before {
		t.Errorf("version %d, before %d, prompts %v", linked.Version, before, linked.Prompts)
	}
	if got := document(other.Hash); got.Version != others || len(got.Prompts) > 0 {
		t.Errorf("the document of another image changed: %+v", got)
	}
	if _, err := s.Prompts.Delete(t.Context(), s.a, p.Prompt.Hash); err != nil {
		t.Fatal(err)
	}
	s.link(t)
	if got := document(image.Hash); len(got.Prompts) > 0 || got.Version <= linked.Version {
		t.Errorf("after the prompt was deleted: version %d, prompts %v", got.Version, got.Prompts)
	}
}

func TestPrompts_TwoProcessesCompareOneTenantOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.pictures(t, 1500)
	s.prompt(t, "picture 7 in {{how}} snow")
	done := make(chan store.LinkProgress, 4)
	for range 4 {
		go func() {
			p, err := s.Prompts.LinkPending(t.Context(), s.a.Tenant, time.Minute)
			if err != nil {
				t.Error(err)
			}
			done <- p
		}()
	}
	versions := 0
	for range 4 {
		versions += (<-done).Versions
	}
	if versions != 1 {
		t.Errorf("the version was compared %d times", versions)
	}
}
