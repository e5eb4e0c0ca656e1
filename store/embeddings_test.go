package store_test

import (
	"crypto/sha256"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/store/indexstate"
)

func textHash(s string) indexstate.TextHash { return sha256.Sum256([]byte(s)) }

func TestEmbeddings_VectorsAreKeptByConfigurationAndText(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	made := map[indexstate.TextHash]indexstate.EmbeddingVector{textHash("a"): {0.25, -1}, textHash("refused"): nil}
	if err := s.Embeddings.Save(ctx, "one", made); err != nil {
		t.Fatal(err)
	}
	if err := s.Embeddings.Save(ctx, "one", map[indexstate.TextHash]indexstate.EmbeddingVector{textHash("a"): {9, 9}, textHash("b"): {1, 0}}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Embeddings.Get(ctx, "one", []indexstate.TextHash{textHash("a"), textHash("refused"), textHash("unknown")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(made, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, err := s.Embeddings.Get(ctx, "two", []indexstate.TextHash{textHash("a")}); err != nil || len(got) != 0 {
		t.Errorf("under another configuration: %v, %v", got, err)
	}
}

func TestEmbeddings_VectorsOfConfigurationsThatNothingUsesAreForgotten(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	for _, configuration := range []string{"used", "mine", "old"} {
		if err := s.Embeddings.Save(ctx, configuration, map[indexstate.TextHash]indexstate.EmbeddingVector{textHash("a"): {1}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Generations.Set(ctx, indexstate.AssetIndex, "", "assets-v1-1", indexstate.GenerationLive, "used"); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Embeddings.DeleteUnused(ctx, "mine"); n != 1 || err != nil {
		t.Errorf("forgot %d, %v; want 1", n, err)
	}
	for configuration, want := range map[string]int{"used": 1, "mine": 1, "old": 0} {
		if got, err := s.Embeddings.Get(ctx, configuration, []indexstate.TextHash{textHash("a")}); err != nil || len(got) != want {
			t.Errorf("%s: %d vectors, %v; want %d", configuration, len(got), err, want)
		}
	}
}

func TestEmbeddings_AGenerationKeepsItsEmbeddingConfiguration(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	if err := s.Generations.Set(ctx, indexstate.AssetIndex, "", "assets-v1-1", indexstate.GenerationBuilding, "one"); err != nil {
		t.Fatal(err)
	}
	if err := s.Generations.Set(ctx, indexstate.AssetIndex, "", "assets-v1-1", indexstate.GenerationLive, "two"); err != nil {
		t.Fatal(err)
	}
	list, err := s.Generations.List(ctx)
	if err != nil || len(list) != 1 || list[0].Embedding != "one" || list[0].State != indexstate.GenerationLive {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestEmbeddings_OnlyOneProcessEmbedsWhatWasLeftBehind(t *testing.T) {
	t.Parallel()
	s := open(t)
	err := s.Embeddings.LockBackfill(t.Context(), func() error {
		return s.Embeddings.LockBackfill(t.Context(), func() error { t.Error("two hold the lock"); return nil })
	})
	if !errors.Is(err, indexstate.ErrEmbeddingBackfillBusy) {
		t.Errorf("the second gets %v", err)
	}
	if err := s.Embeddings.LockBackfill(t.Context(), func() error { return nil }); err != nil {
		t.Errorf("after the first has ended: %v", err)
	}
}
