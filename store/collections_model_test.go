package store_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/internal/randtest"
	"vitrine/library"
	"vitrine/store"
	"vitrine/store/storetest"
)

// node is a collection of the naive model: items are its assets and cards in order.
type node struct {
	parent, name string
	items        []string
	frozen       bool
}

// tree is the naive model of a tenant's collections, by collection_h.
type tree map[string]node

func (m tree) clone() tree {
	out := tree{}
	for h, n := range m {
		n.items = slices.Clone(n.items)
		out[h] = n
	}
	return out
}

func (m tree) path(h string) string {
	n := m[h]
	if n.parent == "" {
		return n.name
	}
	return m.path(n.parent) + "." + n.name
}

func (m tree) depth(h string) int {
	if h == "" {
		return 0
	}
	return 1 + m.depth(m[h].parent)
}

func (m tree) inside(h, top string) bool {
	return h == top || h != "" && m.inside(m[h].parent, top)
}

func (m tree) height(h string) int {
	most := 0
	for other := range m {
		if m.inside(other, h) {
			most = max(most, m.depth(other)-m.depth(h))
		}
	}
	return most
}

// refuses returns the code with which h, or a new collection when it is empty, cannot be
// at a place, or nothing.
func (m tree) refuses(h, parent, name string) string {
	height := 0
	if h != "" {
		if m.inside(parent, h) {
			return library.CodeValidationFailed
		}
		height = m.height(h)
	}
	if m.depth(parent)+1+height > library.MaxCollectionDepth {
		return library.CodeValidationFailed
	}
	for other, n := range m {
		if other != h && n.parent == parent && n.name == name {
			return library.CodeNameTaken
		}
	}
	return ""
}

// listing is the model as it is compared with the library: path by path with the items.
func (m tree) listing() map[string][]string {
	out := map[string][]string{}
	for h, n := range m {
		out[m.path(h)] = append([]string{h}, n.items...)
	}
	return out
}

// collectionsTest drives the store and the model together.
type collectionsTest struct {
	bench
	t      *testing.T
	r      *rand.Rand
	model  tree
	assets []library.AssetHash
}

// TestCollections_RandomOperationsEqualANaiveTree compares the library with a naive tree
// after each of many random operations, and after each of their undos in reverse.
func TestCollections_RandomOperationsEqualANaiveTree(t *testing.T) {
	t.Parallel()
	for n, seed := range slices.Concat([]uint64{11, 12}, randtest.Seeds(t)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			c := &collectionsTest{bench: open(t, storetest.Plans[n%len(storetest.Plans)]...), t: t, r: rand.New(rand.NewPCG(seed, 3)), model: tree{}}
			for i := range 12 {
				c.assets = append(c.assets, add(t, c.bench, c.a, file(fmt.Sprint("member", i))).Asset.Hash)
			}
			type step struct {
				id     string
				before tree
			}
			var steps []step
			for range 90 {
				before := c.model.clone()
				if id := c.step(); id != "" {
					steps = append(steps, step{id, before})
				}
				c.compare("after an operation")
			}
			if len(steps) < 35 {
				t.Errorf("only %d operations changed something", len(steps))
			}
			for _, s := range slices.Backward(steps) {
				result, err := c.Operations.Undo(t.Context(), c.a, s.id, anyone)
				if err != nil || len(result.Outcomes) == 0 || result.Counts[library.OutcomeReverted] != int64(len(result.Outcomes)) {
					t.Fatalf("undoing gave %+v %v", result, err)
				}
				c.model = s.before
				c.compare("after an undo")
			}
		})
	}
}

func (c *collectionsTest) compare(when string) {
	c.t.Helper()
	got := map[string][]string{}
	list, total, err := c.Collections.List(c.t.Context(), c.a, "", library.MaxCollectionDepth, true, 10_000, 0)
	if err != nil || total != len(list) {
		c.t.Fatalf("%s: %d of %d collections, %v", when, len(list), total, err)
	}
	for i, e := range list {
		if i > 0 && list[i-1].Path >= e.Path {
			c.t.Fatalf("%s: %s is listed before %s", when, list[i-1].Path, e.Path)
		}
		_, items, n, err := c.Collections.Items(c.t.Context(), c.a, e.Path, store.ItemsQuery{Limit: 1000})
		if err != nil || n != len(items) || int64(n) != e.Assets+e.Cards {
			c.t.Fatalf("%s: %d of %d items of %s, counted as %d and %d, %v", when, len(items), n, e.Path, e.Assets, e.Cards, err)
		}
		got[e.Path] = []string{string(e.Hash)}
		for j, it := range items {
			if it.Position != j || it.Path != e.Path {
				c.t.Fatalf("%s: item %d of %s has the position %d in %s", when, j, e.Path, it.Position, it.Path)
			}
			got[e.Path] = append(got[e.Path], it.ID)
		}
	}
	if diff := cmp.Diff(c.model.listing(), got); diff != "" {
		c.t.Fatalf("%s (-model +library)\n%s", when, diff)
	}
}

// step does something and returns its operation, empty where nothing changed.
func (c *collectionsTest) step() string {
	keys := slices.Sorted(maps.Keys(c.model))
	if len(keys) == 0 {
		return c.create("")
	}
	some := func() string { return keys[c.r.IntN(len(keys))] }
	ref := func(h string) string { // a collection is named by its path or its hash
		if c.r.IntN(2) == 0 {
			return h
		}
		return strings.ToUpper(c.model.path(h))
	}
	h := some()
	switch c.r.IntN(10) {
	case 0, 1:
		parent := some()
		if c.r.IntN(4) == 0 {
			parent = ""
		}
		return c.create(parent)
	case 2:
		return c.rename(h, ref(h))
	case 3, 4:
		parent, at := some(), ""
		if c.r.IntN(5) == 0 {
			parent = ""
		} else {
			at = ref(parent)
		}
		return c.move(h, ref(h), parent, at)
	case 5:
		if c.r.IntN(3) > 0 {
			return ""
		}
		return c.remove(h, ref(h))
	case 6, 7:
		return c.addAssets(h, ref(h))
	case 8:
		return c.takeOut(h, ref(h))
	}
	if c.r.IntN(2) == 0 {
		return c.card(h, ref(h))
	}
	return c.branch(h, ref(h))
}

// done compares an error with the code that the model expects, and reports success.
func (c *collectionsTest) done(what string, err error, want string) bool {
	c.t.Helper()
	got := ""
	if err != nil {
		got = library.AsError(err).Code
	}
	if got != want {
		c.t.Fatalf("%s gave %v, the model says %q", what, err, want)
	}
	return err == nil
}

var modelNames = []string{"alpha", "beta", "gamma", "delta"}

func (c *collectionsTest) name() string { return modelNames[c.r.IntN(len(modelNames))] }

func (c *collectionsTest) create(parent string) string {
	name := c.name()
	out, err := c.Collections.Create(c.t.Context(), c.a, library.Collection{Name: name, DisplayName: strings.ToUpper(name)}, parent)
	if c.done("create", err, c.model.refuses("", parent, name)) {
		c.model[string(out.Hash)] = node{parent: parent, name: name}
	}
	return out.OperationID
}

func (c *collectionsTest) rename(h, ref string) string {
	name := c.name()
	out, err := c.Collections.Change(c.t.Context(), c.a, ref, func(x *library.Collection) error { x.Name = name; return nil })
	if n := c.model[h]; c.done("rename", err, c.model.refuses(h, n.parent, name)) {
		n.name = name
		c.model[h] = n
	}
	return out.OperationID
}

func (c *collectionsTest) move(h, ref, parent, at string) string {
	out, err := c.Collections.Move(c.t.Context(), c.a, ref, at)
	if n := c.model[h]; c.done("move", err, c.model.refuses(h, parent, n.name)) {
		n.parent = parent
		c.model[h] = n
	}
	return out.OperationID
}

func (c *collectionsTest) remove(h, ref string) string {
	out, err := c.Collections.Delete(c.t.Context(), c.a, ref)
	if c.done("delete", err, "") {
		gone := 0
		for _, other := range slices.Collect(maps.Keys(c.model)) {
			if c.model.clone().inside(other, h) {
				defer delete(c.model, other)
				gone++
			}
		}
		if out.Collections != gone {
			c.t.Fatalf("%d collections were deleted, the model says %d", out.Collections, gone)
		}
	}
	return out.OperationID
}

func (c *collectionsTest) frozen(h string) string {
	if c.model[h].frozen {
		return library.CodeFrozen
	}
	return ""
}

func (c *collectionsTest) addAssets(h, ref string) string {
	in := store.NewItems{}
	for range 1 + c.r.IntN(3) {
		if a := c.assets[c.r.IntN(len(c.assets))]; !slices.Contains(in.Assets, a) {
			in.Assets = append(in.Assets, a)
		}
	}
	if c.r.IntN(2) == 0 {
		at := c.r.IntN(6)
		in.Position = &at
	}
	out, err := c.Collections.Add(c.t.Context(), c.a, ref, in)
	if !c.done("add", err, c.frozen(h)) {
		return ""
	}
	n := c.model[h]
	var placed []string
	for _, a := range in.Assets {
		if in.Position != nil || !slices.Contains(n.items, string(a)) {
			placed = append(placed, string(a))
		}
	}
	rest := slices.DeleteFunc(slices.Clone(n.items), func(x string) bool { return slices.Contains(placed, x) })
	at := len(rest)
	if in.Position != nil {
		at = min(at, *in.Position)
	}
	n.items = slices.Insert(rest, at, placed...)
	c.model[h] = n
	return out.OperationID
}

func (c *collectionsTest) takeOut(h, ref string) string {
	a := c.assets[c.r.IntN(len(c.assets))]
	out, err := c.Collections.Remove(c.t.Context(), c.a, ref, []library.AssetHash{a})
	if n := c.model[h]; c.done("remove", err, c.frozen(h)) {
		was := len(n.items)
		n.items = slices.DeleteFunc(n.items, func(x string) bool { return x == string(a) })
		c.model[h] = n
		if (len(out.Missing) == 0) != (len(n.items) < was) {
			c.t.Fatalf("removing reports %+v", out)
		}
	}
	return out.OperationID
}

func (c *collectionsTest) card(h, ref string) string {
	var position *int
	if at := c.r.IntN(4); at > 0 {
		position = &at
	}
	out, err := c.Collections.AddCard(c.t.Context(), c.a, ref, library.TextCard{Heading: "Chapter", Bullets: []string{"one"}}, position)
	if n := c.model[h]; c.done("card", err, c.frozen(h)) {
		at := len(n.items)
		if position != nil {
			at = min(at, *position)
		}
		if out.Position != at {
			c.t.Fatalf("the card is said to be at %d, the model says %d", out.Position, at)
		}
		n.items = slices.Insert(n.items, at, out.ID)
		c.model[h] = n
	}
	return out.OperationID
}

func (c *collectionsTest) branch(h, ref string) string {
	kind := []library.BranchType{library.BranchEditable, library.BranchSnapshot, library.BranchTemplateInstance}[c.r.IntN(3)]
	name := c.name()
	out, err := c.Collections.Branch(c.t.Context(), c.a, ref, store.NewBranch{Name: name, Type: kind})
	if n := c.model[h]; c.done("branch", err, c.model.refuses("", n.parent, name)) {
		c.model[string(out.Hash)] = node{parent: n.parent, name: name, items: slices.Clone(n.items), frozen: kind == library.BranchSnapshot}
		if out.Items != int64(len(n.items)) {
			c.t.Fatalf("%d items were copied, the model says %d", out.Items, len(n.items))
		}
	}
	return out.OperationID
}
