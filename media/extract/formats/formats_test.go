package formats

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/library"
	"vitrine/media/extract/container"
)

// chunk makes a chunk as the container readers give it.
func chunk(place, key, text string) container.Chunk {
	return container.Chunk{Place: place, Key: key, Text: text}
}

// png makes a text chunk of a PNG file.
func png(key, text string) container.Chunk { return chunk("png:tEXt", key, text) }

// exif makes an EXIF comment, as JPEG and WebP files hold records.
func exif(text string) container.Chunk { return chunk("jpeg:exif", "UserComment", text) }

// open lays out the chunks of a file.
func open(chunks ...container.Chunk) *Source {
	return Open(container.File{MIME: "image/png", Chunks: chunks})
}

// readAs returns what one rule reads out of the chunks, and fails without it.
func readAs(t *testing.T, rule string, chunks ...container.Chunk) library.Lineage {
	t.Helper()
	for _, f := range Read(open(chunks...)) {
		if f.Rule == rule {
			return f.Lineage
		}
	}
	t.Fatalf("no record by %s", rule)
	return library.Lineage{}
}

// rules lists the rules that found something.
func rules(chunks ...container.Chunk) []string {
	var names []string
	for _, f := range Read(open(chunks...)) {
		names = append(names, f.Rule)
	}
	return names
}

// facts is a lineage cut down to what the table tests compare.
type facts struct {
	Tool, Version      string
	Positive, Negative string
	Seed               uint64
	Steps              int
	CFG, Guidance      float64
	Sampler, Scheduler string
	Denoise            float64
	W, H, ClipSkip     int
	Model              string
	Models             []string // "type name hash strength", what is there of it
	Parents            []string
	Hires              string // as JSON
}

func factsOf(l library.Lineage) facts {
	f := facts{Tool: l.Tool, Version: l.ToolVersion, Positive: val(l.Positive), Negative: val(l.Negative)}
	if p := l.Parameters; p != nil {
		f.Seed, f.Steps, f.CFG, f.Guidance, f.Denoise = val(p.Seed), val(p.Steps), val(p.CFGScale), val(p.Guidance), val(p.Denoise)
		f.Sampler, f.Scheduler, f.Model = val(p.Sampler), val(p.Scheduler), val(p.ModelName)
		f.W, f.H, f.ClipSkip = val(p.Width), val(p.Height), val(p.ClipSkip)
	}
	for _, m := range l.Models {
		f.Models = append(f.Models, modelText(m))
	}
	for _, p := range l.Parents {
		f.Parents = append(f.Parents, p.Kind+" "+p.Name+p.JobID)
	}
	if l.Hires != nil {
		b, _ := json.Marshal(l.Hires)
		f.Hires = string(b)
	}
	return f
}

func val[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func modelText(m library.ModelUse) string {
	s := m.Type + " " + m.Name
	if m.Hash != "" {
		s += " #" + m.Hash
	}
	if m.Strength != nil {
		b, _ := json.Marshal(*m.Strength)
		s += " *" + string(b)
	}
	return s
}

func diff(t *testing.T, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("want -, got +:\n%s", d)
	}
}

func TestFormats_ModelsAreNumberedInLoadOrder(t *testing.T) {
	l := readAs(t, "infotext", png("parameters", "<lora:b:1> <lora:a:1>\nSteps: 1, Sampler: Euler, Seed: 1, Model: m, VAE: v"))
	for i, m := range l.Models {
		if m.Sequence != i {
			t.Errorf("model %s has sequence %d, want %d", m.Name, m.Sequence, i)
		}
	}
	diff(t, []string{"checkpoint m", "vae v", "lora b *1", "lora a *1"}, factsOf(l).Models)
}

func TestFormats_PlainTextIsNoRecord(t *testing.T) {
	for name, c := range map[string]container.Chunk{
		"a caption":               png("Description", "A boat on the lake, painted in oil"),
		"a comment of a program":  png("Comment", "Created with GIMP"),
		"a recipe with steps":     png("Comment", "Steps: 3, wash the rice, Time: 20 minutes"),
		"a camera's description":  exif("OLYMPUS DIGITAL CAMERA"),
		"JSON of something else":  png("Comment", `{"title":"Lake","tags":["boat"],"rating":5}`),
		"a prompt alone in JSON":  png("Comment", `{"prompt":"a boat"}`),
		"JSON that is broken":     png("parameters", `{"prompt":"a boat","seed":`),
		"a link with two hyphens": png("Description", "see https://example.org/a--v page"),
	} {
		if got := rules(c); got != nil {
			t.Errorf("%s was read by %v", name, got)
		}
	}
}
