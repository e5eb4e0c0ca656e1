package comfy

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sort"
	"testing"

	"vitrine/internal/jsonscan"
	"vitrine/internal/randtest"
	"vitrine/library"
)

// TestUnknownClasses_LoseValuesButNeverGainAny renames every class of a graph, or some
// of them, to names that nothing is known of. What is then read is less, never
// something else: each value is one that the graph has under its own names.
func TestUnknownClasses_LoseValuesButNeverGainAny(t *testing.T) {
	graphs := inputsOfCases(t)
	t.Run("corpus", func(t *testing.T) {
		for _, f := range readCorpus(t) {
			graphs["corpus "+f.File] = inputOf(t, f.File)
		}
	})
	names := make([]string, 0, len(graphs))
	for name := range graphs {
		names = append(names, name)
	}
	sort.Strings(names)
	seeds := randtest.Seeds(t)
	kept, all := 0, 0
	for _, name := range names {
		in := graphs[name]
		doc, ok := decodeAlone(in.Prompt)
		if !ok {
			continue
		}
		in.Workflow = nil
		own, ok := Read(in)
		if !ok {
			continue
		}
		for _, seed := range seeds {
			of := fnv.New64()
			of.Write([]byte(name))
			draw := rand.New(rand.NewPCG(of.Sum64(), seed))
			for _, share := range []float64{1, 0.7, 0.3} {
				in.Prompt = renamed(draw, share, doc).Encode(nil)
				got, ok := Read(in)
				if !ok {
					t.Errorf("%s: no graph found", name)
					continue
				}
				reportGained(t, fmt.Sprintf("%s, seed %d, %.0f %% of the classes unknown", name, seed, 100*share), own, got)
				if share == 1 {
					kept, all = kept+count(mainValues(got)), all+count(mainValues(own))
				}
			}
		}
	}
	t.Logf("of %d values %d are read without knowing a class", all, kept)
	if kept == 0 {
		t.Error("nothing is read of unknown classes")
	}
}

// reportGained fails for every value of got that own does not have.
func reportGained(t *testing.T, name string, own, got library.Lineage) {
	t.Helper()
	have := valuesOf(own)
	for field, values := range mainValues(got) {
		for v := range values {
			if !have[field][v] {
				t.Errorf("%s: %s is read as %.80q, which the graph does not have; it has %.200v", name, field, v, have[field])
			}
		}
	}
}

// renamed returns an executed graph in which a share of the classes has names of no meaning.
func renamed(draw *rand.Rand, share float64, doc value) value {
	given := map[string]string{}
	doc = clone(doc)
	for i := range doc.Members {
		class := at(&doc.Members[i].Val, "class_type")
		if class.Kind != jsonscan.String {
			continue
		}
		if given[class.Text] == "" {
			given[class.Text] = class.Text
			if share == 1 || draw.Float64() < share {
				given[class.Text] = meaningless(draw)
			}
		}
		class.Text = given[class.Text]
	}
	return doc
}

// meaningless draws a name without vowels, of which no word of a class' name consists.
func meaningless(draw *rand.Rand) string {
	name := []byte{'X'}
	for range 3 + draw.IntN(10) {
		name = append(name, "bcdfghjkqrxz_ 0123456789"[draw.IntN(24)])
	}
	return string(name)
}

type fieldValues map[string]map[string]bool

func (f fieldValues) add(field string, v any) {
	s := ""
	switch v := v.(type) {
	case *string:
		if v == nil {
			return
		}
		s = *v
	case *int:
		if v == nil {
			return
		}
		s = fmt.Sprint(*v)
	case *uint64:
		if v == nil {
			return
		}
		s = fmt.Sprint(*v)
	case *float64:
		if v == nil {
			return
		}
		s = fmt.Sprint(*v)
	case string:
		s = v
	}
	if f[field] == nil {
		f[field] = map[string]bool{}
	}
	f[field][s] = true
}

func count(f fieldValues) (n int) {
	for _, values := range f {
		n += len(values)
	}
	return n
}

// mainValues are the values that a lineage states of the picture.
func mainValues(l library.Lineage) fieldValues {
	f := fieldValues{}
	f.add("positive", l.Positive)
	f.add("negative", l.Negative)
	for _, m := range l.Models {
		f.add("models", m.Name)
	}
	for _, p := range l.Parents {
		f.add("parents", p.Name)
	}
	gp := l.Parameters
	if gp == nil {
		return f
	}
	f.add("seed", gp.Seed)
	f.add("steps", gp.Steps)
	f.add("cfg", gp.CFGScale)
	f.add("guidance", gp.Guidance)
	f.add("sampler", gp.Sampler)
	f.add("scheduler", gp.Scheduler)
	f.add("denoise", gp.Denoise)
	f.add("model", gp.ModelName)
	f.add("width", gp.Width)
	f.add("height", gp.Height)
	f.add("frames", gp.Frames)
	return f
}

// valuesOf are the values of all passes and of every node that ran.
func valuesOf(l library.Lineage) fieldValues {
	f := mainValues(l)
	for _, p := range l.Samplers {
		f.add("positive", p.Positive)
		f.add("negative", p.Negative)
		f.add("seed", p.Seed)
		f.add("steps", p.Steps)
		f.add("cfg", p.CFGScale)
		f.add("guidance", p.Guidance)
		f.add("sampler", p.Sampler)
		f.add("scheduler", p.Scheduler)
		f.add("denoise", p.Denoise)
		f.add("model", p.Model)
	}
	return f
}
