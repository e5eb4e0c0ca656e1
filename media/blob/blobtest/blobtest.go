// Package blobtest is the contract of blob.Store as a test suite. Every kind of
// place that keeps bytes runs it unchanged.
package blobtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"vitrine/library"
	"vitrine/media/blob"
)

const (
	alice = library.TenantID("00000000-0000-4000-8000-00000000000a")
	bob   = library.TenantID("00000000-0000-4000-8000-00000000000b")
)

// Run holds a store to the contract. open gives a store over an empty place.
func Run(t *testing.T, open func(t *testing.T) blob.Store) {
	for name, test := range map[string]func(*testing.T, blob.Store){
		"staged bytes come back under their hashes": staging,
		"an empty file is refused":                  empty,
		"a file over the limit leaves nothing":      limit,
		"a broken upload leaves nothing":            broken,
		"a commit may be repeated":                  commitTwice,
		"staging under an id again replaces":        stageAgain,
		"the size is that of what is committed":     size,
		"tenants do not see each other's bytes":     tenants,
		"names that are no identifiers are refused": names,
		"old staged bytes are swept, young stay":    sweep,
		"walk lists what is committed":              walk,
		"derived files are replaced":                derived,
		"lost bytes go, young ones stay":            lost,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func stage(t *testing.T, s blob.Store, tenant library.TenantID, content string) blob.Staged {
	t.Helper()
	got, err := s.Stage(t.Context(), tenant, blob.NewStagingID(), strings.NewReader(content), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func read(t *testing.T, o blob.Object, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	b, err := io.ReadAll(io.NewSectionReader(o, 0, o.Size()))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if err == nil || library.AsError(err).Code != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

// left counts what a failed upload left behind.
func left(t *testing.T, s blob.Store) int {
	t.Helper()
	n, _, err := s.SweepStaged(t.Context(), -time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func staging(t *testing.T, s blob.Store) {
	got := stage(t, s, alice, "hello")
	want := blob.Staged{ID: got.ID, Size: 5, SHA1: "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d",
		SHA256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
		BLAKE3: "ea8f163db38682925e4491c5e58d4bb3506ef8c14eb78a86e908c5624a67200f"}
	if got != want {
		t.Errorf("got %+v", got)
	}
	o, again, err := s.OpenStaged(t.Context(), alice, got.ID)
	if content := read(t, o, err); content != "hello" || again != want {
		t.Errorf("staged bytes are %q, %+v", content, again)
	}
	if err := s.Discard(t.Context(), alice, got.ID); err != nil {
		t.Error(err)
	}
	_, _, err = s.OpenStaged(t.Context(), alice, got.ID)
	wantCode(t, err, library.CodeNotFound)
}

func stageAgain(t *testing.T, s blob.Store) {
	id := blob.NewStagingID()
	for _, content := range []string{"first", "second"} {
		if _, err := s.Stage(t.Context(), alice, id, strings.NewReader(content), 100); err != nil {
			t.Fatal(err)
		}
	}
	o, got, err := s.OpenStaged(t.Context(), alice, id)
	if content := read(t, o, err); content != "second" || got.Size != 6 {
		t.Errorf("staged bytes are %q, %+v", content, got)
	}
	if n := left(t, s); n != 1 {
		t.Errorf("%d files staged", n)
	}
}

func empty(t *testing.T, s blob.Store) {
	_, err := s.Stage(t.Context(), alice, blob.NewStagingID(), strings.NewReader(""), 10)
	wantCode(t, err, library.CodeEmptyFile)
	if n := left(t, s); n != 0 {
		t.Errorf("%d files left", n)
	}
}

func limit(t *testing.T, s blob.Store) {
	if _, err := s.Stage(t.Context(), alice, blob.NewStagingID(), strings.NewReader("12345"), 5); err != nil {
		t.Errorf("exactly the limit was refused: %v", err)
	}
	left(t, s)
	_, err := s.Stage(t.Context(), alice, blob.NewStagingID(), strings.NewReader("123456"), 5)
	wantCode(t, err, library.CodePayloadTooLarge)
	if n := left(t, s); n != 0 {
		t.Errorf("%d files left", n)
	}
}

func broken(t *testing.T, s blob.Store) {
	gone := errors.New("connection reset")
	_, err := s.Stage(t.Context(), alice, blob.NewStagingID(), io.MultiReader(bytes.NewReader(make([]byte, 100)), failing{gone}), 1000)
	if !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Stage(ctx, alice, blob.NewStagingID(), strings.NewReader("abc"), 10); err == nil {
		t.Error("a cancelled request stored its bytes")
	}
	if n := left(t, s); n != 0 {
		t.Errorf("%d files left", n)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func commitTwice(t *testing.T, s blob.Store) {
	first := stage(t, s, alice, "hello")
	for range 2 {
		if err := s.Commit(t.Context(), alice, first.ID, first.SHA1); err != nil {
			t.Fatal(err)
		}
	}
	second := stage(t, s, alice, "hello")
	if err := s.Commit(t.Context(), alice, second.ID, second.SHA1); err != nil {
		t.Errorf("the same bytes again: %v", err)
	}
	o, err := s.Open(t.Context(), alice, first.SHA1)
	if content := read(t, o, err); content != "hello" {
		t.Errorf("committed bytes are %q", content)
	}
	if n := left(t, s); n != 0 {
		t.Errorf("%d staged files left after the commits", n)
	}
	if err := s.Remove(t.Context(), alice, first.SHA1); err != nil {
		t.Error(err)
	}
	wantCode(t, s.Commit(t.Context(), alice, first.ID, first.SHA1), library.CodeNotFound)
}

func tenants(t *testing.T, s blob.Store) {
	mine := stage(t, s, alice, "secret")
	_, _, err := s.OpenStaged(t.Context(), bob, mine.ID)
	wantCode(t, err, library.CodeNotFound)
	wantCode(t, s.Commit(t.Context(), bob, mine.ID, mine.SHA1), library.CodeNotFound)
	if err := s.Commit(t.Context(), alice, mine.ID, mine.SHA1); err != nil {
		t.Fatal(err)
	}
	_, err = s.Open(t.Context(), bob, mine.SHA1)
	wantCode(t, err, library.CodeNotFound)
}

func names(t *testing.T, s blob.Store) {
	for _, bad := range []string{"", "..", "../../etc/passwd", "/etc/passwd", strings.Repeat("a", 40) + "/..", "A\x00B"} {
		_, _, err := s.OpenStaged(t.Context(), alice, bad)
		wantCode(t, err, library.CodeNotFound)
		_, err = s.Open(t.Context(), alice, library.AssetHash(bad))
		wantCode(t, err, library.CodeNotFound)
		_, err = s.Open(t.Context(), library.TenantID(bad), "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d")
		wantCode(t, err, library.CodeNotFound)
		if s.PutDerived(t.Context(), alice, "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d", bad, []byte("x")) == nil {
			t.Errorf("derived name %q was taken", bad)
		}
	}
}

func sweep(t *testing.T, s blob.Store) {
	kept := stage(t, s, alice, "hello")
	if n, _, err := s.SweepStaged(t.Context(), time.Hour); n != 0 || err != nil {
		t.Errorf("a young upload was swept: %d %v", n, err)
	}
	if n, bytes, err := s.SweepStaged(t.Context(), -time.Minute); n != 1 || bytes != kept.Size || err != nil {
		t.Errorf("swept %d files of %d bytes, %v", n, bytes, err)
	}
}

func size(t *testing.T, s blob.Store) {
	a := stage(t, s, alice, "hello")
	_, err := s.Size(t.Context(), alice, a.SHA1)
	wantCode(t, err, library.CodeNotFound)
	if err := s.Commit(t.Context(), alice, a.ID, a.SHA1); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Size(t.Context(), alice, a.SHA1); n != 5 || err != nil {
		t.Errorf("got %d %v", n, err)
	}
	_, err = s.Size(t.Context(), bob, a.SHA1)
	wantCode(t, err, library.CodeNotFound)
	_, err = s.Size(t.Context(), alice, "../../x")
	wantCode(t, err, library.CodeNotFound)
}

func walk(t *testing.T, s blob.Store) {
	a := stage(t, s, alice, "hello")
	if err := s.Commit(t.Context(), alice, a.ID, a.SHA1); err != nil {
		t.Fatal(err)
	}
	stage(t, s, bob, "only staged")
	var got []blob.Entry
	if err := s.Walk(t.Context(), func(e blob.Entry) error { got = append(got, e); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Tenant != alice || got[0].Hash != a.SHA1 || got[0].Size != 5 || time.Since(got[0].ModTime) > time.Minute {
		t.Errorf("walk gave %+v", got)
	}
}

func derived(t *testing.T, s blob.Store) {
	const h = "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"
	_, err := s.GetDerived(t.Context(), alice, h, "512.jpg")
	wantCode(t, err, library.CodeNotFound)
	for _, content := range []string{"one", "two"} {
		if err := s.PutDerived(t.Context(), alice, h, "512.jpg", []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.GetDerived(t.Context(), alice, h, "512.jpg"); string(got) != "two" || err != nil {
		t.Errorf("got %q %v", got, err)
	}
	_, err = s.GetDerived(t.Context(), bob, h, "512.jpg")
	wantCode(t, err, library.CodeNotFound)
	for range 2 { // there may be none
		if err := s.DropDerived(t.Context(), alice, h); err != nil {
			t.Error(err)
		}
	}
	_, err = s.GetDerived(t.Context(), alice, h, "512.jpg")
	wantCode(t, err, library.CodeNotFound)
}

func lost(t *testing.T, s blob.Store) {
	a := stage(t, s, alice, "hello")
	if err := s.Commit(t.Context(), alice, a.ID, a.SHA1); err != nil {
		t.Fatal(err)
	}
	if gone, err := s.RemoveLost(t.Context(), alice, a.SHA1, time.Now().Add(-time.Hour)); gone || err != nil {
		t.Errorf("young bytes: removed %v, %v", gone, err)
	}
	o, err := s.Open(t.Context(), alice, a.SHA1)
	if content := read(t, o, err); content != "hello" {
		t.Errorf("young bytes became %q", content)
	}
	if gone, err := s.RemoveLost(t.Context(), alice, a.SHA1, time.Now().Add(time.Hour)); !gone || err != nil {
		t.Errorf("old bytes: removed %v, %v", gone, err)
	}
	_, err = s.Open(t.Context(), alice, a.SHA1)
	wantCode(t, err, library.CodeNotFound)
	if gone, err := s.RemoveLost(t.Context(), alice, a.SHA1, time.Now()); gone || err != nil {
		t.Errorf("bytes that are gone: removed %v, %v", gone, err)
	}
}
