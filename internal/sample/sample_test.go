package sample

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/library"
)

// small keeps tests quick: what is promised does not depend on the size.
const small = 64

func write(t *testing.T, opts Options) (string, Report) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "sample")
	report, err := Write(context.Background(), dir, opts, nil)
	if err != nil {
		t.Fatalf("Write: %v", err)
	}
	return dir, report
}

// listing is every file below dir with its time, size and digest.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		out = append(out, fmt.Sprintf("%s %s %d %x", rel, info.ModTime().UTC(), len(data), sha256.Sum256(data)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSample_EqualSeedAndCountGiveEqualFilesAndTimes(t *testing.T) {
	opts := Options{Count: 80, Seed: 11, MaxEdge: small}
	dirA, a := write(t, opts)
	dirB, b := write(t, opts)
	if diff := cmp.Diff(listing(t, dirA), listing(t, dirB)); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("two reports differ:\n%s", diff)
	}
}

func TestSample_AnotherSeedGivesAnotherLibrary(t *testing.T) {
	_, a := write(t, Options{Count: 20, Seed: 1, MaxEdge: small})
	_, b := write(t, Options{Count: 20, Seed: 2, MaxEdge: small})
	for i := range a.Files {
		if a.Files[i].Seed != nil && b.Files[i].Seed != nil && *a.Files[i].Seed == *b.Files[i].Seed {
			t.Errorf("file %d has generation seed %d under both sample seeds", i, *a.Files[i].Seed)
		}
	}
}

func TestSample_SixtyFilesShowEveryWriterAndManyScenes(t *testing.T) {
	for seed := range uint64(3) {
		_, report := write(t, Options{Count: 60, Seed: seed, MaxEdge: small})
		writers, kinds := map[string]int{}, map[string]int{}
		for _, f := range report.Files[:showcase] {
			writers[f.Writer]++
			kinds[f.Kind]++
		}
		for _, name := range Writers() {
			if writers[name] == 0 {
				t.Errorf("seed %d: no file of writer %s among the first %d", seed, name, showcase)
			}
		}
		if len(kinds) < 14 {
			t.Errorf("seed %d: only %d kinds of scene among the first %d files", seed, len(kinds), showcase)
		}
	}
}

func TestSample_CountIsTheNumberOfFiles(t *testing.T) {
	for _, count := range []int{1, 7, 60, 110} {
		dir, report := write(t, Options{Count: count, Seed: 3, MaxEdge: small})
		if got := len(listing(t, dir)); got != count || len(report.Files) != count {
			t.Errorf("asked for %d files: %d in the folder, %d in the report", count, got, len(report.Files))
		}
	}
}

func TestSample_SharesHoldInALargePlan(t *testing.T) {
	const count = 20000
	entries, err := plan(Options{Count: count, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	foreign, swept := 0, 0
	for _, e := range entries {
		got[e.row.name]++
		if e.manner == "ja" || e.manner == "zh" || e.manner == "emoji" {
			foreign++
		}
		if e.index > 0 {
			swept++
		}
	}
	total := 0
	for _, s := range shares {
		total += s.perThousand
	}
	for _, s := range shares {
		want := float64(s.perThousand) * count / float64(total)
		if d := float64(got[s.name]) - want; d > 0.1*want+12 || d < -0.1*want-12 {
			t.Errorf("%s: %d files, the table says %.0f", s.name, got[s.name], want)
		}
	}
	if p := foreign * 100 / count; p < 5 || p > 11 {
		t.Errorf("%d %% of prompts are not plain English, want about 8", p)
	}
	if p := swept * 100 / count; p < 25 || p > 70 {
		t.Errorf("%d %% of files continue a seed sweep, want a third to two thirds", p)
	}
}

func TestSample_TimesRiseAndNeverPassTheLastDay(t *testing.T) {
	entries, err := plan(Options{Count: 5000, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range entries {
		if i > 0 && e.when.Before(entries[i-1].when) {
			t.Fatalf("file %d is older than the file before it", i)
		}
	}
	first, last := entries[0].when, entries[len(entries)-1].when
	if days := last.Sub(first).Hours() / 24; days < 200 {
		t.Errorf("5000 files span %.0f days, want most of a year", days)
	}
	if last.After(lastDay.AddDate(0, 0, 3)) {
		t.Errorf("the newest file is of %s, after the last day %s", last, lastDay)
	}
}

func TestSample_ParentsAreInTheSampleAndNamedAsTheToolsNameThem(t *testing.T) {
	dir, report := write(t, Options{Count: 150, Seed: 21, MaxEdge: small})
	seen := map[string]int{}
	base := map[string]int{}
	for _, f := range report.Files {
		base[filepath.Base(f.Path)]++
	}
	for _, f := range report.Files {
		if f.ParentPath == "" {
			if len(f.Parents) > 0 {
				t.Errorf("%s names a parent %q that is not in the sample", f.Path, f.Parents)
			}
			continue
		}
		seen[f.Writer]++
		if _, err := os.Stat(filepath.Join(dir, f.ParentPath)); err != nil {
			t.Errorf("parent of %s: %v", f.Path, err)
		}
		name := f.Parents[0]
		switch f.Tool {
		case "midjourney":
			job := strings.Split(strings.TrimPrefix(name, "https://cdn.midjourney.com/"), "/")[0]
			if !strings.Contains(f.ParentPath, job) {
				t.Errorf("%s refers to job %s, its parent is %s", f.Path, job, f.ParentPath)
			}
		default:
			name = filepath.Base(strings.TrimSuffix(name, " [output]"))
			if filepath.Base(f.ParentPath) != name {
				t.Errorf("%s names %q, its parent is %s", f.Path, name, f.ParentPath)
			}
			if base[name] != 1 {
				t.Errorf("the parent name %s is not unique in the sample", name)
			}
		}
	}
	for _, w := range []string{"comfyui-img2img", "comfyui-controlnet", "invokeai-img2img", "imagetool-variation"} {
		if seen[w] == 0 {
			t.Errorf("no file of %s with a parent", w)
		}
	}
}

func TestSample_OdditiesAreWhatTheirNamesSay(t *testing.T) {
	dir, report := write(t, Options{Count: 60, Seed: 4, MaxEdge: small})
	read := func(path string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for _, f := range report.Files {
		data := read(f.Path)
		switch f.Writer {
		case oddDuplicate:
			if !bytes.Equal(data, read(f.SourcePath)) {
				t.Errorf("%s is not a copy of %s", f.Path, f.SourcePath)
			}
		case oddTruncated:
			whole := read(f.SourcePath)
			if len(data) >= len(whole) || !bytes.HasPrefix(whole, data) || !bytes.Contains(data, []byte("IDAT")) {
				t.Errorf("%s is not %s cut off in its pixels", f.Path, f.SourcePath)
			}
		case oddEmpty:
			if len(data) != 0 {
				t.Errorf("%s has %d bytes", f.Path, len(data))
			}
		case oddMislabelled:
			if !bytes.HasPrefix(data, []byte{0xff, 0xd8}) || !strings.HasSuffix(f.Path, ".png") {
				t.Errorf("%s is not a JPEG named .png", f.Path)
			}
		case oddHidden:
			if !strings.HasPrefix(filepath.Base(f.Path), ".") {
				t.Errorf("%s is not hidden", f.Path)
			}
		case oddNotes:
			if !bytes.HasPrefix(data, []byte("Notes\n")) {
				t.Errorf("%s is not text", f.Path)
			}
		case "bare-png", "chat-jpeg":
			if f.Tool != "" || f.Prompt != "" || bytes.Contains(data, []byte("Steps")) || bytes.Contains(data, []byte("tEXt")) {
				t.Errorf("%s still tells how it was made", f.Path)
			}
		}
	}
}

func TestSample_OptionsAreChecked(t *testing.T) {
	dir := t.TempDir()
	tests := map[string]struct {
		opts  Options
		field string
	}{
		"no files":              {Options{Count: 0}, "count"},
		"too many files":        {Options{Count: maxCount + 1}, "count"},
		"edge too short":        {Options{Count: 1, MaxEdge: 8}, "max_edge"},
		"unknown writer":        {Options{Count: 1, Writers: []string{"crayon"}}, "writers"},
		"only copies":           {Options{Count: 1, Writers: []string{oddDuplicate}}, "writers"},
		"truth inside":          {Options{Count: 1, TruthPath: filepath.Join(dir, "truth.json")}, "truth_path"},
		"truth inside, by path": {Options{Count: 1, TruthPath: filepath.Join(dir, "a", "..", "t.json")}, "truth_path"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Write(context.Background(), dir, tt.opts, nil)
			var libErr *library.Error
			if !errors.As(err, &libErr) || len(libErr.Fields) != 1 || libErr.Fields[0].Field != tt.field {
				t.Errorf("got %v, want an error of the field %s", err, tt.field)
			}
		})
	}
}

func TestSample_AFolderWithFilesIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine.txt"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Write(context.Background(), dir, Options{Count: 3, MaxEdge: small}, nil)
	if f := library.AsError(err); f.Code != library.CodeConflict {
		t.Errorf("got %v, want a conflict", err)
	}
	if got := len(listing(t, dir)); got != 1 {
		t.Errorf("%d files in the folder, want the one that was there", got)
	}
}

func TestSample_WritersRestrictsTheMix(t *testing.T) {
	names := []string{"novelai", "fooocus"}
	_, report := write(t, Options{Count: 12, Seed: 8, MaxEdge: small, Writers: names})
	for _, f := range report.Files {
		if !slices.Contains(names, f.Writer) {
			t.Errorf("%s was written by %s", f.Path, f.Writer)
		}
	}
}

func TestSample_CancelStopsAndProgressCounts(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	_, err := Write(ctx, filepath.Join(t.TempDir(), "s"), Options{Count: 400, Seed: 1, MaxEdge: small}, func(done, total int) {
		if calls++; done != calls || total != 400 {
			t.Errorf("progress(%d, %d) on call %d", done, total, calls)
		}
		if done == 5 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the cancellation", err)
	}
	if calls > 100 {
		t.Errorf("%d files after the cancellation at 5", calls)
	}
}

func TestSample_TruthFileHoldsTheReport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "truth.json")
	_, report := write(t, Options{Count: 5, Seed: 1, MaxEdge: small, TruthPath: path})
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Files {
		if !bytes.Contains(data, []byte(f.Path)) {
			t.Errorf("%s is missing in the truth file", f.Path)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, edge := range []int{0, 256} {
		b.Run(fmt.Sprintf("edge%d", edge), func(b *testing.B) {
			for range b.N {
				if _, err := Write(context.Background(), filepath.Join(b.TempDir(), "s"), Options{Count: 100, Seed: 5, MaxEdge: edge}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
