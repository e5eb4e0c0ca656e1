package preview

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/media/memory"
	"vitrine/media/preview/previewtest"
)

const tenant = library.TenantID("00000000-0000-4000-8000-00000000000a")

// keeper is a maker over a store of the test's own, with one file.
func keeper(t *testing.T, data []byte, cfg memory.Config) (*Maker, *blob.Disk, library.AssetHash) {
	t.Helper()
	d, err := blob.CreateDisk(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	s, err := d.Stage(t.Context(), tenant, blob.NewStagingID(), bytes.NewReader(data), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Commit(t.Context(), tenant, s.ID, s.SHA1); err != nil {
		t.Fatal(err)
	}
	return NewMaker(d, memory.New(cfg)), d, s.SHA1
}

func TestMaker_AnInlinePreviewIsMadeOnceAndFitsEvenForNoise(t *testing.T) {
	m, d, hash := keeper(t, picture(1400, 1400, true), memory.Config{})
	first, err := m.Inline(t.Context(), tenant, hash)
	if err != nil || len(first) == 0 || len(first) > MaxInline {
		t.Fatalf("%d bytes, %v", len(first), err)
	}
	if kept, err := m.Picture(t.Context(), tenant, hash, inlineEdge); err != nil || len(kept) <= MaxInline {
		t.Fatalf("the kept preview has %d bytes, so nothing was tried; %v", len(kept), err)
	}
	if err := d.Remove(t.Context(), tenant, hash); err != nil { // takes the previews too
		t.Fatal(err)
	}
	if _, err := m.Inline(t.Context(), tenant, hash); library.AsError(err).Code != library.CodeNotFound {
		t.Errorf("of a file that is gone: %v", err)
	}
}

func TestMaker_KeptPreviewsNeedNoMemory(t *testing.T) {
	m, d, hash := keeper(t, picture(1200, 800, false), memory.Config{})
	first, err := m.Inline(t.Context(), tenant, hash)
	if err != nil {
		t.Fatal(err)
	}
	busy := NewMaker(d, memory.New(memory.Config{Shared: 1, Single: 1}))
	if again, err := busy.Inline(t.Context(), tenant, hash); err != nil || !bytes.Equal(first, again) {
		t.Errorf("it was made again: %v", err)
	}
}

func TestMaker_APosterIsShrunkToTheSizeAskedForAndTravelsInline(t *testing.T) {
	m, _, hash := keeper(t, []byte("a model, as far as a preview is concerned"), memory.Config{})
	if _, err := m.Picture(t.Context(), tenant, hash, 256); library.AsError(err).Code != library.CodeNotFound {
		t.Errorf("a model without a poster: %v", err)
	}
	for _, edge := range []int{1500, 900} { // the second replaces the first
		poster, err := m.Poster(t.Context(), picture(edge, edge, true))
		if err != nil || len(poster) <= MaxInline {
			t.Fatalf("%d bytes, %v", len(poster), err)
		}
		if err := m.KeepPoster(t.Context(), tenant, hash, poster); err != nil {
			t.Fatal(err)
		}
		for _, want := range []int{256, 512, 1024, 2048} {
			got, err := m.Picture(t.Context(), tenant, hash, want)
			if err != nil {
				t.Fatal(err)
			}
			if w, _ := size(t, got); w != min(want, edge) {
				t.Errorf("a poster of %d at %d has %d pixels", edge, want, w)
			}
		}
		if inline, err := m.Inline(t.Context(), tenant, hash); err != nil || len(inline) > MaxInline {
			t.Errorf("inline: %d bytes, %v", len(inline), err)
		}
	}
}

// A caller's deadline may pass while it waits for memory, or for a preview that somebody
// else makes. It is told what the budget's own limit would have told it.
func TestMaker_WhoseDeadlinePassesIsToldThatDecodingIsBusy(t *testing.T) {
	m, _, hash := keeper(t, picture(1400, 1400, true), memory.Config{})
	hold, held := make(chan struct{}), make(chan error, 1)
	go func() {
		held <- m.budget.Use(t.Context(), memory.DefaultShared, func() error { <-hold; return nil })
	}()
	for m.budget.Stats().Used == 0 {
		time.Sleep(time.Millisecond)
	}
	waits := make(chan error, 1)
	go func() { _, err := m.Inline(t.Context(), tenant, hash); waits <- err }()
	for m.budget.Stats().Waiting == 0 {
		time.Sleep(time.Millisecond)
	}
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for name, ask := range map[string]func() ([]byte, error){
		"inline":  func() ([]byte, error) { return m.Inline(late, tenant, hash) }, // made for another caller right now
		"picture": func() ([]byte, error) { return m.Picture(late, tenant, hash, 256) },
	} {
		_, err := ask()
		var f *library.Error
		if !errors.As(err, &f) || f.Kind != library.KindUnavailable || f.Code != library.CodeDecodingBusy || f.RetryAfter <= 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	close(hold)
	if err := errors.Join(<-held, <-waits); err != nil {
		t.Errorf("the one that waited without a deadline: %v", err)
	}
}

func TestMaker_WhatCannotBeMadeHasAReason(t *testing.T) {
	check := func(name string, data []byte, cfg memory.Config, kind library.ErrorKind, code string) {
		t.Helper()
		m, _, hash := keeper(t, data, cfg)
		_, err := m.Picture(t.Context(), tenant, hash, 512)
		if f := library.AsError(err); f.Kind != kind || f.Code != code {
			t.Errorf("%s: %v", name, err)
		}
	}
	damaged := picture(100, 100, true)
	damaged[5000] ^= 1
	check("too many pixels", previewtest.LosslessWebP(9000, 9000, false), memory.Config{}, library.KindUnprocessable, library.CodePreviewTooLarge)
	check("too much memory", previewtest.ProgressiveJPEG(8000, 8000, 0x11, 0x11, 0x11), memory.Config{}, library.KindUnprocessable, library.CodePreviewTooLarge)
	check("damaged", damaged, memory.Config{}, library.KindNotFound, library.CodeNotFound)
	check("no picture", []byte("text"), memory.Config{}, library.KindNotFound, library.CodeNotFound)

	m, _, hash := keeper(t, picture(100, 100, false), memory.Config{Wait: 20 * time.Millisecond})
	hold, held := make(chan struct{}), make(chan error, 1)
	go func() {
		held <- m.budget.Use(t.Context(), memory.DefaultShared, func() error { <-hold; return nil })
	}()
	for m.budget.Stats().Used == 0 {
		time.Sleep(time.Millisecond)
	}
	_, err := m.Picture(t.Context(), tenant, hash, 512)
	if f := library.AsError(err); f.Kind != library.KindUnavailable || f.Code != library.CodeDecodingBusy || f.RetryAfter <= 0 {
		t.Errorf("while others decode: %v", err)
	}
	close(hold)
	if _, again := m.Picture(t.Context(), tenant, hash, 512); errors.Join(<-held, again) != nil {
		t.Errorf("afterwards: %v", again)
	}
}
