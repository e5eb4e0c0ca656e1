package extract

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vitrine/library"
)

// The bar on the files of custom nodes and newer programs.
const (
	minWholeFiles  = 0.95 // share of files with every field right
	maxWrongValues = 3    // values that a file does not hold
)

// secondFile is one entry of the second corpus: files of 60 repositories. A member
// of Expected that is null must be read as nothing; a list is several texts that
// belong together.
type secondFile struct {
	Repo, Path, File, Wrap string
	Expected               map[string]any
	Derived                *struct {
		Models  []derivedModel
		Parents []string
	}
}

// TestCorpus2_SecondCorpus scores the readings of real files of custom nodes and newer
// programs by the rules of the corpus' own score.py.
func TestCorpus2_SecondCorpus(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "corpus-2")
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Skip("the second corpus of real files is not here (expected in ../shared/corpus-2 beside the project): its score is not measured")
	}
	var manifest struct{ Files []secondFile }
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&manifest); err != nil {
		t.Fatal(err)
	}
	var files, fields tally
	wrong, invented := 0, 0
	for _, f := range manifest.Files {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.File)))
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(f.File)
		if f.Wrap != "" {
			data, name = wrappedText(f.Wrap, data), "wrapped.png"
		}
		res, err := Read(context.Background(), bytes.NewReader(data), int64(len(data)), Options{Filename: name})
		if err != nil {
			t.Fatalf("%s: %v", f.Path, err)
		}
		whole := true
		for field, g := range f.grades(&res.Lineage) {
			fields.add(g == right)
			whole = whole && g == right
			if g == right {
				continue
			}
			t.Logf("%s %s: %s is %s", f.Repo, f.Path, field, g)
			if field == "blank" {
				invented++
			} else if g == notHeld && field != "models" && field != "loras" {
				wrong++
			}
		}
		files.add(whole)
	}
	t.Logf("files fully right %v = %.1f %%, fields %v, wrong values %d, files without generation metadata with values %d", files, 100*files.share(), fields, wrong, invented)
	if files.share() < minWholeFiles || wrong > maxWrongValues || invented > 0 {
		t.Errorf("the bar is %.0f %% of files, %d wrong values and no value in files without generation metadata", 100*minWholeFiles, maxWrongValues)
	}
}

// grade is what became of one field.
type grade string

const (
	right   grade = "right"
	missing grade = "missing"
	notHeld grade = "a value that the file does not hold"
)

// grades compares a lineage with what the file holds.
func (f secondFile) grades(l *library.Lineage) map[string]grade {
	e, out := f.Expected, map[string]grade{}
	gp := l.Parameters
	if gp == nil {
		gp = &library.GenerationParameters{}
	}
	if _, generated := e["seed"]; !generated {
		if l.Positive != nil && *l.Positive != "" || gp.Seed != nil || gp.ModelName != nil && *gp.ModelName != "" {
			return map[string]grade{"blank": notHeld}
		}
		return nil
	}
	put := func(field string, got any, ok func(want any) bool) {
		want, asked := e[field]
		switch {
		case !asked:
		case ok(want):
			out[field] = right
		case isNothing(got):
			out[field] = missing
		default:
			out[field] = notHeld
		}
	}
	for field, got := range map[string]any{"seed": gp.Seed, "steps": gp.Steps, "cfg": gp.CFGScale, "denoise": gp.Denoise, "width": gp.Width, "height": gp.Height, "guidance": gp.Guidance} {
		put(field, got, func(want any) bool { return nearNumber(got, want) })
	}
	sampler, scheduler := flatWord(gp.Sampler), flatWord(gp.Scheduler)
	put("sampler", gp.Sampler, func(want any) bool {
		w := flatWord(want)
		return gp.Sampler != nil && (sampler == w || sampler == w+flatWord(e["scheduler"]) || w == sampler+scheduler)
	})
	put("scheduler", gp.Scheduler, func(want any) bool {
		w := flatWord(want)
		return scheduler == w || w == "ays" && gp.Scheduler == nil || w != "" && strings.HasSuffix(sampler, w)
	})
	put("model", gp.ModelName, func(want any) bool {
		return gp.ModelName != nil && baseName(*gp.ModelName) == baseName(fmt.Sprint(want))
	})
	put("prompt", l.Positive, func(want any) bool { return sameTexts(l.Positive, want) })
	put("negative", l.Negative, func(want any) bool { return sameTexts(l.Negative, want) })
	f.gradeLists(l, out)
	return out
}

// gradeLists grades LoRAs, models and parents.
func (f secondFile) gradeLists(l *library.Lineage, out map[string]grade) {
	if want, _ := f.Expected["loras"].([]any); len(want) > 0 {
		have := map[string]*float64{}
		for _, m := range l.Models {
			if m.Type == "lora" {
				have[baseName(m.Name)] = m.Strength
			}
		}
		out["loras"] = right
		for _, w := range want {
			entry, _ := w.([]any)
			strength, ok := have[baseName(fmt.Sprint(entry[0]))]
			if !ok || !nearNumber(strength, entry[1]) {
				out["loras"] = notHeld
			}
		}
	}
	if f.Derived == nil {
		return
	}
	if len(f.Derived.Models) > 0 {
		var have, want []string
		for _, m := range l.Models {
			have = append(have, baseName(m.Name)+"@"+m.NodeID)
		}
		for _, m := range f.Derived.Models {
			want = append(want, baseName(m.Name)+"@"+m.NodeID)
		}
		slices.Sort(have)
		slices.Sort(want)
		out["models"] = right
		if !slices.Equal(slices.Compact(have), slices.Compact(want)) {
			out["models"] = missing
		}
	}
	for _, p := range f.Derived.Parents {
		if out["parents"] == "" {
			out["parents"] = right
		}
		if !slices.ContainsFunc(l.Parents, func(have library.Parent) bool { return path.Base(have.Name) == p }) {
			out["parents"] = missing
		}
	}
}

func isNothing(v any) bool {
	s := pointed(v)
	return s == ""
}

// pointed returns the text of what a pointer points to, "" for nil.
func pointed(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case *string:
		if v != nil {
			return *v
		}
	case *int:
		if v != nil {
			return fmt.Sprint(*v)
		}
	case *uint64:
		if v != nil {
			return fmt.Sprint(*v)
		}
	case *float64:
		if v != nil {
			return fmt.Sprint(*v)
		}
	default:
		return fmt.Sprint(v)
	}
	return ""
}

func nearNumber(got, want any) bool {
	var a, b float64
	if _, err := fmt.Sscan(pointed(got), &a); err != nil {
		return false
	}
	if _, err := fmt.Sscan(pointed(want), &b); err != nil {
		return false
	}
	return max(a-b, b-a) <= 1e-6*max(1, b, -b)
}

var (
	notWord = regexp.MustCompile(`[^a-z0-9+]`)
	ending  = regexp.MustCompile(`\.(safetensors|ckpt|pth|pt|sft|gguf)$`)
)

func flatWord(v any) string { return notWord.ReplaceAllString(strings.ToLower(pointed(v)), "") }

func baseName(s string) string {
	return strings.ToLower(ending.ReplaceAllString(path.Base(strings.ReplaceAll(s, `\`, "/")), ""))
}

// sameTexts compares a text with the one expected, or with several that belong
// together in any order, white space folded.
func sameTexts(got *string, want any) bool {
	var parts []string
	switch w := want.(type) {
	case string:
		parts = append(parts, fold(w))
	case []any:
		for _, p := range w {
			if s, ok := p.(string); ok {
				parts = append(parts, fold(s))
			}
		}
	}
	g := fold(pointed(got))
	if strings.Join(parts, "") == "" {
		return g == ""
	}
	if g == fold(strings.Join(parts, " ")) {
		return true
	}
	slices.SortFunc(parts, func(a, b string) int { return len(b) - len(a) })
	for _, p := range parts {
		if len(parts) < 2 || !strings.Contains(g, p) {
			return false
		}
		g = strings.Replace(g, p, "", 1)
	}
	return strings.Trim(g, " ,") == ""
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// wrappedText is a PNG of one pixel with a text in an iTXt chunk.
func wrappedText(key string, text []byte) []byte {
	chunk := func(kind string, body []byte) []byte {
		out := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
		out = append(append(out, kind...), body...)
		return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
	}
	out := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", []byte{0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0})...)
	out = append(out, chunk("iTXt", append([]byte(key+"\x00\x00\x00\x00\x00"), text...))...)
	return append(out, chunk("IEND", nil)...)
}
