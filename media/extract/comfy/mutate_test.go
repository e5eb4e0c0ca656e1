package comfy

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vitrine/internal/jsonscan"
	"vitrine/internal/randtest"
	"vitrine/library"
)

// mutation writes a graph another way that means the same run.
type mutation struct {
	name   string
	change func(m *mutator, doc value) value
	// anyOrder: ids or the editor's order break ties among models, texts and
	// outputs, and this mutation changes them.
	anyOrder bool
}

// mutator is what a mutation draws from and counts with.
type mutator struct {
	*rand.Rand
	next int
}

func (m *mutator) id(prefix string) string { m.next++; return fmt.Sprintf("%s%d", prefix, m.next) }

// TestMutate_ExecutedGraphsMeanTheSameHoweverTheyAreWritten reads the executed graphs of
// the cases and of the corpus as other editors, packs and versions write them.
func TestMutate_ExecutedGraphsMeanTheSameHoweverTheyAreWritten(t *testing.T) {
	checkMutations(t, executedMutations, func(in Input) ([]byte, Input) {
		return in.Prompt, Input{FileWidth: in.FileWidth, FileHeight: in.FileHeight, Filename: in.Filename, MIME: in.MIME}
	},
		func(in *Input, doc []byte) { in.Prompt = doc })
}

// TestMutate_EditorGraphsMeanTheSameHoweverTheyAreDrawn does so with the editor's graphs.
func TestMutate_EditorGraphsMeanTheSameHoweverTheyAreDrawn(t *testing.T) {
	checkMutations(t, editorMutations, func(in Input) ([]byte, Input) {
		return in.Workflow, Input{FileWidth: in.FileWidth, FileHeight: in.FileHeight, Filename: in.Filename, MIME: in.MIME}
	},
		func(in *Input, doc []byte) { in.Workflow = doc })
}

// checkMutations compares the reading of each graph with that of its mutations.
func checkMutations(t *testing.T, list []mutation, split func(Input) ([]byte, Input), put func(*Input, []byte)) {
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
	same, all := map[string]int{}, map[string]int{}
	seeds := append(randtest.Seeds(t), 5, 8) // finds of earlier runs
	for _, name := range names {
		raw, bare := split(graphs[name])
		doc, ok := decodeAlone(raw)
		if !ok {
			continue
		}
		plain := bare
		put(&plain, doc.Encode(nil))
		want, ok := Read(plain)
		if !ok {
			continue
		}
		for _, mu := range append(slices.Clone(list), severalOf(list)) {
			for _, seed := range seeds {
				of := fnv.New64()
				of.Write([]byte(name + mu.name))
				m := &mutator{Rand: rand.New(rand.NewPCG(of.Sum64(), seed)), next: 90_000}
				changed := bare
				put(&changed, mu.change(m, clone(doc)).Encode(nil))
				got, ok := Read(changed)
				if !ok {
					t.Errorf("%s, %s: no graph found", name, mu.name)
					continue
				}
				if ambiguous(want) && (mu.anyOrder || strings.Contains(name, "cyclic")) {
					continue
				}
				all[mu.name]++
				want := want
				if strings.Contains(mu.name, "pictures") || strings.Contains(mu.name, "four") {
					want = withoutSizeOf(want, got)
				}
				if diff := cmp.Diff(meaning(want, mu.anyOrder), meaning(got, mu.anyOrder), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s, %s (-as found +mutated)\n%s", name, mu.name, diff)
					continue
				}
				same[mu.name]++
			}
		}
	}
	for _, mu := range append(slices.Clone(list), severalOf(list)) {
		t.Logf("%-46s %d of %d read the same", mu.name, same[mu.name], all[mu.name])
	}
}

// severalOf makes four mutations in a row of those that change no order.
func severalOf(list []mutation) mutation {
	list = slices.DeleteFunc(slices.Clone(list), func(mu mutation) bool { return mu.anyOrder })
	return mutation{"four of these in a row", func(m *mutator, doc value) value {
		for range 4 {
			doc = list[m.IntN(len(list))].change(m, doc)
		}
		return doc
	}, false}
}

// inputsOfCases returns every case, those with an executed graph also with the
// editor's graph that goes with it.
func inputsOfCases(t *testing.T) map[string]Input {
	graphs := map[string]Input{}
	for name, c := range readCases(t) {
		in := c.input()
		if in.Workflow == nil && !c.NoEditorVersion {
			in.Workflow = editorVersion(t, c.Prompt)
		}
		graphs["case "+name] = in
	}
	return graphs
}

// ambiguous reports whether ties decided what was read.
func ambiguous(l library.Lineage) bool {
	for _, w := range l.Warnings {
		if strings.Contains(w, "several outputs") || strings.Contains(w, "cycle") {
			return true
		}
	}
	return false
}

// meaning is a lineage without what names nodes, documents and layout.
// withoutSizeOf opens the size that a reading has from the file where another has
// none: behind a step that is not known the file's size is not the pass's.
func withoutSizeOf(l, other library.Lineage) library.Lineage {
	if l.Parameters != nil && other.Parameters != nil && other.Parameters.Width == nil {
		p := *l.Parameters
		p.Width, p.Height = nil, nil
		l.Parameters = &p
	}
	return l
}

func meaning(l library.Lineage, anyOrder bool) library.Lineage {
	l.Evidence, l.Conflicts, l.Warnings, l.Workflow, l.Extra = nil, nil, nil, nil, nil
	l.Models = slices.Clone(l.Models)
	for i := range l.Models {
		l.Models[i].NodeID = ""
	}
	l.Samplers = slices.Clone(l.Samplers)
	for i := range l.Samplers {
		l.Samplers[i].NodeID = ""
	}
	l.Parents = slices.Clone(l.Parents)
	for i := range l.Parents {
		l.Parents[i].NodeID = ""
	}
	l.Regions = slices.Clone(l.Regions)
	for i := range l.Regions {
		l.Regions[i].NodeID = ""
	}
	if anyOrder {
		for i := range l.Models {
			l.Models[i].Sequence = 0
		}
		slices.SortFunc(l.Models, func(a, b library.ModelUse) int {
			return strings.Compare(fmt.Sprint(a.Type, a.Name), fmt.Sprint(b.Type, b.Name))
		})
		slices.SortFunc(l.Samplers, func(a, b library.SamplerPass) int { return strings.Compare(show(a), show(b)) })
		slices.SortFunc(l.Parents, func(a, b library.Parent) int { return strings.Compare(a.Name, b.Name) })
	}
	return l
}

func clone(v value) value {
	v.List, v.Members = slices.Clone(v.List), slices.Clone(v.Members)
	for i := range v.List {
		v.List[i] = clone(v.List[i])
	}
	for i := range v.Members {
		v.Members[i].Val = clone(v.Members[i].Val)
	}
	return v
}

// at returns a pointer to a member's value, which is made when it is not there.
func at(v *value, name string) *value {
	for i := range v.Members {
		if v.Members[i].Name == name {
			return &v.Members[i].Val
		}
	}
	v.Kind = jsonscan.Object
	v.Members = append(v.Members, member{Name: name})
	return &v.Members[len(v.Members)-1].Val
}

func textValue(s string) value { return value{Kind: jsonscan.String, Text: s} }
func numberValue(n any) value  { return value{Kind: jsonscan.Number, Text: fmt.Sprint(n)} }
func listValue(v ...value) value {
	return value{Kind: jsonscan.Array, List: v}
}

func objectValue(pairs ...any) value {
	v := value{Kind: jsonscan.Object}
	for i := 0; i < len(pairs); i += 2 {
		v.Members = append(v.Members, pair(pairs[i].(string), pairs[i+1].(value)))
	}
	return v
}

func pair(name string, v value) member { return member{Name: name, Val: v} }
