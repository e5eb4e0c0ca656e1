package export

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"vitrine/library"
	"vitrine/media/strip"
	"vitrine/media/strip/striptest"
)

// told is what the presets say of the files of the matrix.
var told = About{SourceType: strip.SourceTypes + "trainedAlgorithmicMedia", System: "ComfyUI", Creator: "Ada <&> Lovelace", Rights: "© Ada"}

// matrix are the ways in which each file is written: every preset by its name, and custom with its formats.
func matrix() map[string]library.ExportSpec {
	custom := func(format string) library.ExportSpec {
		s := library.SpecOf(library.ExportCustom)
		s.Format, s.Disclosure = format, false
		return s
	}
	small := custom("jpeg")
	small.MaxEdge, small.Keep.ICC = 32, false
	return map[string]library.ExportSpec{
		"share-disclosed": library.SpecOf(library.ExportShare), "portfolio-disclosed": library.SpecOf(library.ExportPortfolio), "client-disclosed": library.SpecOf(library.ExportClient),
		"custom": custom("preserve"), "png": custom("png"), "webp": custom("webp"), "small": small,
	}
}

// refused are kinds of files that presets refuse to write, because metadata cannot be taken out of them.
var refused = []string{".avi", ".flac", ".ogg", ".opus", ".mp3", ".wav", ".svg", ".safetensors"}

func TestPresets_IndependentReadersFindNothingThatWasInTheFilesOfManyWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	encoder := striptest.WebP(t)
	b := &Builder{WebP: func() strip.WebPEncoder { return encoder }}
	files := striptest.Planted(t)
	maps.Copy(files, striptest.Written(t))
	kinds, seen := map[string]int{}, map[string]bool{}
	var mu sync.Mutex
	work := make(chan struct{}, 2)
	var all sync.WaitGroup
	for name, file := range files {
		for way, spec := range matrix() {
			if !strings.HasPrefix(name, "planted") && slices.Contains([]string{"png", "webp", "small"}, way) {
				continue // the presets and custom as it is do for these
			}
			all.Go(func() {
				work <- struct{}{}
				defer func() { <-work }()
				got, mime, err := b.Bytes(t.Context(), bytes.NewReader(file), int64(len(file)), spec, told)
				var why *strip.Error
				if errors.As(err, &why) && why.Code == strip.CodeUnsupported && slices.Contains(refused, filepath.Ext(name)) {
					return
				}
				if err != nil {
					t.Errorf("%s as %s: %v", name, way, err)
					return
				}
				ext := map[string]string{"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp", "video/quicktime": ".mov"}[mime]
				if ext == "" {
					ext = filepath.Ext(name)
				}
				once := fmt.Sprintf("%x %t", sha256.Sum256(got), strings.HasSuffix(way, "-disclosed"))
				mu.Lock()
				again := seen[once] // films are the same in many ways
				kinds[mime], seen[once] = kinds[mime]+1, true
				mu.Unlock()
				if again {
					return
				}
				if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, ".", "_")+"-"+way+ext), got, 0o600); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	if len(kinds) < 10 {
		t.Errorf("only files of %d kinds were written: %v", len(kinds), kinds)
	}
	striptest.Check(t, dir)
}
