package sample_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vitrine/internal/sample"
	"vitrine/library"
	"vitrine/media/extract"
)

// TestExtract_TheProductReadsTheSample closes the circle: what extraction finds in each
// file is what the sample says is there.
func TestExtract_TheProductReadsTheSample(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sample")
	report, err := sample.Write(context.Background(), dir, sample.Options{Count: 150, Seed: 77, MaxEdge: 64}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Files {
		if f.Size == 0 {
			continue
		}
		file, err := os.Open(filepath.Join(dir, f.Path))
		if err != nil {
			t.Fatal(err)
		}
		got, err := extract.Read(context.Background(), file, f.Size, extract.Options{Filename: path.Base(f.Path)})
		file.Close()
		if err != nil {
			t.Errorf("%s: %v", f.Path, err)
			continue
		}
		for _, d := range differences(f, got.Lineage) {
			t.Errorf("%s (%s): %s", f.Path, f.Writer, d)
		}
	}
}

func differences(f sample.Truth, l library.Lineage) (out []string) {
	check := func(what string, want, got any) {
		if fmt.Sprint(want) != fmt.Sprint(got) {
			out = append(out, fmt.Sprintf("%s: want %v, got %v", what, want, got))
		}
	}
	p := l.Parameters
	if p == nil {
		p = &library.GenerationParameters{}
	}
	check("tool", f.Tool, l.Tool)
	check("prompt", strings.TrimSpace(f.Prompt), strings.TrimSpace(deref(l.Positive)))
	check("negative", f.Negative, deref(l.Negative))
	check("seed", deref(f.Seed), deref(p.Seed))
	check("steps", f.Steps, deref(p.Steps))
	if math.Abs(f.CFG-deref(p.CFGScale)) > 1e-9 {
		check("cfg", f.CFG, deref(p.CFGScale))
	}
	check("guidance", f.Guidance, deref(p.Guidance))
	check("sampler", f.Sampler, deref(p.Sampler))
	check("scheduler", f.Scheduler, deref(p.Scheduler))
	if f.Denoise != 0 && f.Denoise != 1 {
		check("denoise", f.Denoise, deref(p.Denoise))
	}
	if f.Tool != "" && f.Tool != "midjourney" {
		check("size", fmt.Sprint(f.Width, f.Height), fmt.Sprint(deref(p.Width), deref(p.Height)))
	}
	want, got := models(f), found(l)
	if f.Tool != "comfyui" { // only a graph has an order of loading
		slices.Sort(want)
		slices.Sort(got)
	}
	check("models", want, got)
	check("parents", len(f.Parents), len(l.Parents))
	return out
}

func models(f sample.Truth) (out []string) {
	for _, m := range f.Models {
		out = append(out, m.Type+" "+m.Name+" "+m.NodeID)
	}
	return out
}

func found(l library.Lineage) (out []string) {
	for _, m := range l.Models {
		out = append(out, m.Type+" "+m.Name+" "+m.NodeID)
	}
	return out
}

func deref[T any](p *T) (v T) {
	if p != nil {
		return *p
	}
	return v
}
