package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/library"
	"vitrine/store"
	"vitrine/store/indexstate"
)

// from makes a file that names others as its parents.
func from(content string, parents ...string) store.NewAsset {
	n := file(content)
	for _, p := range parents {
		n.Lineage.Parents = append(n.Lineage.Parents, library.Parent{Kind: "input_image", Name: p + ".png", NodeID: "7"})
	}
	return n
}

// picture makes a file of the image tool; place is its place in the job's grid.
func picture(job string, place int, minute int, references ...string) store.NewAsset {
	n := file(fmt.Sprintf("heron_fox_%s_%d", job, place))
	n.Lineage.Tool, n.Lineage.ImageTool = "midjourney", &library.ImageTool{JobID: job, Command: "imagine"}
	n.Asset.CreatedAt = n.Asset.CreatedAt.Add(time.Duration(minute) * time.Minute)
	for _, r := range references {
		id, name, _ := strings.Cut(r, "/")
		n.Lineage.Parents = append(n.Lineage.Parents, library.Parent{Kind: "input_image", JobID: strings.ToUpper(id), Name: name})
	}
	return n
}

func job(n int) string { return fmt.Sprintf("%08d-0000-4000-8000-000000000000", n) }

// shape is a chain as tests compare it: names with depth, and links by names.
func shape(c store.LineageGraph) (assets, links []string) {
	names := map[library.AssetHash]string{}
	for _, a := range c.Nodes {
		names[a.Hash] = strings.TrimSuffix(a.Filename, ".png")
		assets = append(assets, fmt.Sprintf("%s %d", names[a.Hash], a.Depth))
	}
	for _, l := range c.Edges {
		parent := names[l.Asset]
		if parent == "" {
			parent = "?" + l.Name
		}
		links = append(links, names[l.Child]+"<"+parent+" "+l.Evidence)
	}
	slices.Sort(links)
	return assets, links
}

func (s bench) chain(t *testing.T, of store.NewAsset, up, down bool, depth, limit int) store.LineageGraph {
	t.Helper()
	c, err := s.Lineage.Graph(t.Context(), s.a, of.Asset.Hash, up, down, depth, limit)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLineageGraph_AChainIsWalkedBothWaysAndStopsWhereItWasAskedTo(t *testing.T) {
	t.Parallel()
	s := open(t)
	var all []store.NewAsset
	for i := range 12 {
		n := from(fmt.Sprint("link", i))
		if i > 0 {
			n = from(fmt.Sprint("link", i), fmt.Sprint("link", i-1))
		}
		all = append(all, n)
	}
	// The order of arrival must not matter.
	for _, i := range []int{11, 0, 5, 4, 6, 10, 1, 3, 2, 9, 7, 8} {
		add(t, s, s.a, all[i])
	}
	if c := s.chain(t, all[11], true, false, 20, 500); len(c.Nodes) != 12 || len(c.Edges) != 11 || c.HasMoreLevels || c.Truncated {
		t.Errorf("all ancestors: %d assets, %d links, deeper %v, truncated %v", len(c.Nodes), len(c.Edges), c.HasMoreLevels, c.Truncated)
	}
	c := s.chain(t, all[5], true, true, 2, 500)
	assets, links := shape(c)
	if diff := cmp.Diff([]string{"link5 0", "link4 -1", "link3 -2", "link6 1", "link7 2"}, assets); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"link4<link3 name", "link5<link4 name", "link6<link5 name", "link7<link6 name"}, links); diff != "" {
		t.Error(diff)
	}
	if !c.HasMoreLevels || c.Truncated {
		t.Errorf("deeper %v, truncated %v: there are more levels, and no more assets on these", c.HasMoreLevels, c.Truncated)
	}
	if c := s.chain(t, all[0], false, true, 20, 4); len(c.Nodes) != 4 || !c.Truncated {
		t.Errorf("%d assets, truncated %v: the limit is 4", len(c.Nodes), c.Truncated)
	}
}

func TestLineageGraph_FilesThatDescendFromEachOtherAreShownOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	a, b, c := from("a", "c"), from("b", "a"), from("c", "b", "missing")
	for _, n := range []store.NewAsset{a, b, c} {
		add(t, s, s.a, n)
	}
	got := s.chain(t, a, true, true, 20, 500)
	_, links := shape(got)
	if diff := cmp.Diff([]string{"a<c name", "b<a name", "c<?missing.png ", "c<b name"}, links); len(got.Nodes) != 3 || diff != "" {
		t.Errorf("%d assets, %s", len(got.Nodes), diff)
	}
}

func TestLineageGraph_AParentIsRecognisedByTheBestEvidence(t *testing.T) {
	t.Parallel()
	s := open(t)
	named, real, hashed := file("named"), file("real"), file("hashed")
	blake := file("blake")
	blake.Asset.BLAKE3 = strings.Repeat("7", 64)
	child := file("child")
	child.Lineage.Parents = []library.Parent{
		{Kind: "input_image", Name: "NAMED.PNG", Hash: string(real.Asset.Hash)},             // a hash beats a name
		{Kind: "input_image", Name: "blake3:" + strings.Repeat("7", 64) + ".png"},           // the name is a hash
		{Kind: "input_image", Name: "other.png", Hash: "sha1:" + string(hashed.Asset.Hash)}, // with its scheme
		{Kind: "init_image", Hash: "pixels-md5:0123"},                                       // no hash of a file
	}
	for _, n := range []store.NewAsset{named, child} {
		add(t, s, s.a, n)
	}
	_, links := shape(s.chain(t, child, true, false, 1, 500))
	if diff := cmp.Diff([]string{"child<? ", "child<?blake3:" + strings.Repeat("7", 64) + ".png ", "child<?other.png ", "child<named name"}, links); diff != "" {
		t.Error("while the name is all there is:", diff)
	}
	for _, n := range []store.NewAsset{blake, hashed, real} {
		add(t, s, s.a, n)
	}
	_, links = shape(s.chain(t, child, true, false, 1, 500))
	if diff := cmp.Diff([]string{"child<? ", "child<blake hash", "child<hashed hash", "child<real hash"}, links); diff != "" {
		t.Error("once the files of the hashes have arrived:", diff)
	}
}

func TestLineageGraph_ANameThatSeveralAssetsBearCountsWhenOneIsOldEnough(t *testing.T) {
	t.Parallel()
	s := open(t)
	child := from("child", "same")
	old, young, older := file("old"), file("young"), file("older")
	for i, n := range []*store.NewAsset{&old, &young, &older} {
		n.Asset.Filename = "same.png"
		n.Asset.CreatedAt = child.Asset.CreatedAt.Add([]time.Duration{-time.Hour, time.Hour, -2 * time.Hour}[i])
	}
	parent := func() library.AssetHash {
		t.Helper()
		d, err := s.Assets.Get(t.Context(), s.a, child.Asset.Hash)
		if err != nil {
			t.Fatal(err)
		}
		return d.Parents[0].Asset
	}
	for _, step := range []struct {
		add  store.NewAsset
		want library.AssetHash
	}{{young, ""}, {child, young.Asset.Hash}, {old, old.Asset.Hash}, {older, ""}} {
		add(t, s, s.a, step.add)
		if step.add.Asset.Hash == young.Asset.Hash {
			continue
		}
		if got := parent(); got != step.want {
			t.Errorf("after %s the parent is %q, want %q", step.add.Asset.Filename, got, step.want)
		}
	}
}

func TestLineageGraph_APictureOfAJobIsToldByItsPlace(t *testing.T) {
	t.Parallel()
	s := open(t)
	second := picture(job(2), 0, 10, job(1)+"/0_2.png")
	nowhere := picture(job(3), 0, 20, job(1)+"/0_3.png")
	plain := picture(job(4), 0, 30, job(1)+"/")
	for _, n := range []store.NewAsset{second, picture(job(1), 0, 0), picture(job(1), 2, 1), nowhere, plain} {
		add(t, s, s.a, n)
	}
	for name, c := range map[string]struct {
		child store.NewAsset
		want  string
	}{"the third picture": {second, job(1) + "_2"}, "a picture that is not there": {nowhere, ""}, "no place, two pictures": {plain, ""}} {
		_, links := shape(s.chain(t, c.child, true, false, 1, 500))
		if len(links) != 1 || (c.want == "") != strings.Contains(links[0], "<?") || !strings.Contains(links[0], c.want) {
			t.Errorf("%s: %v", name, links)
		}
	}
}

func TestLineageGraph_AnUploadersParentIsALink(t *testing.T) {
	t.Parallel()
	s := open(t)
	parent, child := file("parent"), file("child")
	child.Asset.Parent = parent.Asset.Hash
	add(t, s, s.a, parent)
	add(t, s, s.a, child)
	_, links := shape(s.chain(t, parent, false, true, 1, 500))
	if diff := cmp.Diff([]string{"child<parent uploader"}, links); diff != "" {
		t.Error(diff)
	}
	if d, err := s.Assets.Get(t.Context(), s.a, parent.Asset.Hash); err != nil || d.Asset.DocVersion != 2 {
		t.Errorf("version %d %v: the index must hear that the parent has a child", d.Asset.DocVersion, err)
	}
	docs, _, err := s.Documents.Read(t.Context(), []indexstate.DocumentKey{{Tenant: s.a.Tenant, Key: string(parent.Asset.Hash)}})
	if err != nil || docs[0].Children != 1 {
		t.Errorf("%d children %v", docs[0].Children, err)
	}
}

func TestLineageGraph_TheIndexHearsOfEveryPlaceThatChanged(t *testing.T) {
	t.Parallel()
	s := open(t)
	grandchild, child, parent := from("grandchild", "child"), from("child", "parent"), file("parent")
	for _, n := range []store.NewAsset{grandchild, child, parent} {
		add(t, s, s.a, n)
	}
	for name, want := range map[string]int64{"grandchild": 3, "child": 2, "parent": 1} {
		d, err := s.Assets.Get(t.Context(), s.a, file(name).Asset.Hash)
		if err != nil || d.Asset.DocVersion != want {
			t.Errorf("%s has version %d, want %d: linked once, and told of its new root", name, d.Asset.DocVersion, want)
		}
	}
}

func TestLineageGraph_AChainNeverLeavesItsTenant(t *testing.T) {
	t.Parallel()
	s := open(t)
	parent, child := file("parent"), from("child", "parent")
	child.Asset.Parent = parent.Asset.Hash
	child.Lineage.Parents[0].Hash = string(parent.Asset.Hash)
	add(t, s, s.b, parent)
	add(t, s, s.a, child)
	theirJob, ourJob := picture(job(1), 0, 0), picture(job(2), 0, 1, job(1)+"/0_0.png")
	add(t, s, s.b, theirJob)
	add(t, s, s.a, ourJob)
	if c := s.chain(t, child, true, true, 20, 500); len(c.Nodes) != 1 || len(c.Edges) != 2 {
		t.Errorf("%d assets and %d links of another tenant's", len(c.Nodes), len(c.Edges))
	}
	if _, err := s.Lineage.Graph(t.Context(), s.a, parent.Asset.Hash, true, true, 5, 500); library.AsError(err).Kind != library.KindNotFound {
		t.Errorf("another tenant's asset: %v", err)
	}
	j, err := s.Lineage.ImagetoolJobChain(t.Context(), s.a, ourJob.Asset.Hash, 10, 500)
	if err != nil || len(j.Steps) != 2 || len(j.Steps[1].Assets) != 0 {
		t.Errorf("steps %+v %v", j.Steps, err)
	}
}

func TestLineageGraph_AParentInTheTrashIsAFileThatIsNotThere(t *testing.T) {
	t.Parallel()
	s := open(t)
	parent, child := file("parent"), from("child", "parent")
	stored := add(t, s, s.a, parent)
	add(t, s, s.a, child)
	if _, err := s.Operations.Undo(t.Context(), s.a, stored.OperationID, anyone); err != nil {
		t.Fatal(err)
	}
	c := s.chain(t, child, true, true, 5, 500)
	if len(c.Nodes) != 1 || len(c.Edges) != 1 || c.Edges[0].Asset != "" || c.Edges[0].Name != "parent.png" {
		t.Errorf("%+v", c)
	}
}

func TestLineageGraph_ParentAndChildThatArriveAtOnceAreLinked(t *testing.T) {
	t.Parallel()
	s := open(t)
	var wg sync.WaitGroup
	const pairs = 40
	for i := range pairs {
		for _, n := range []store.NewAsset{file(fmt.Sprint("parent", i)), from(fmt.Sprint("child", i), fmt.Sprint("parent", i))} {
			n.Lineage.Models = nil // a model that both use would make one wait for the other
			n.Asset.BLAKE3 = strings.Repeat(string(n.Asset.Hash[:8]), 8)
			wg.Go(func() {
				if _, err := s.Assets.Add(context.Background(), s.a, n); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	missing := 0
	for i := range pairs {
		if c := s.chain(t, file(fmt.Sprint("child", i)), true, false, 1, 500); len(c.Nodes) != 2 {
			missing++
		}
	}
	if missing > 0 {
		t.Errorf("%d of %d pairs missed each other", missing, pairs)
	}
}

func TestLineageGraph_JobsAreStepsWithAllTheirPictures(t *testing.T) {
	t.Parallel()
	s := open(t)
	middle := picture(job(2), 1, 10, job(1)+"/0_0.png")
	for _, n := range []store.NewAsset{picture(job(3), 0, 20, job(2)+"/"), middle, picture(job(2), 0, 10),
		picture(job(1), 0, 0, job(9)+"/0_1.png"), from("other", middle.Asset.Filename[:len(middle.Asset.Filename)-4])} {
		add(t, s, s.a, n)
	}
	c, err := s.Lineage.ImagetoolJobChain(t.Context(), s.a, middle.Asset.Hash, 10, 500)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, j := range c.Steps {
		got = append(got, fmt.Sprintf("%s %d %d from %d", j.JobID[:8], j.Depth, len(j.Assets), len(j.From)))
	}
	want := []string{"00000002 0 2 from 1", "00000001 -1 1 from 1", "00000009 -2 0 from 0", "00000003 1 1 from 1"}
	if diff := cmp.Diff(want, got); diff != "" || c.HasMoreLevels || c.Truncated {
		t.Error("what another tool made of it is no step:", diff, c.HasMoreLevels, c.Truncated)
	}
	if c, err := s.Lineage.ImagetoolJobChain(t.Context(), s.a, middle.Asset.Hash, 1, 500); err != nil || len(c.Steps) != 3 || !c.HasMoreLevels {
		t.Errorf("one step each way: %d, deeper %v, %v", len(c.Steps), c.HasMoreLevels, err)
	}
}

func TestLineageGraph_OneRunRepeatedWithTheSameSeedIsAlike(t *testing.T) {
	t.Parallel()
	s := open(t)
	alike := func(name, hash string, seed uint64) store.NewAsset {
		n := file(name)
		w := *n.Lineage.Workflow
		w.Hash = hash
		n.Lineage.Workflow, n.Lineage.Parameters = &w, &library.GenerationParameters{Seed: &seed}
		return n
	}
	one := alike("one", "h", 1<<63+1)
	for _, n := range []store.NewAsset{one, alike("two", "h", 1<<63+1), alike("three", "h", 1<<63+2), alike("four", "x", 1<<63+1), file("plain")} {
		add(t, s, s.a, n)
	}
	list, err := s.Lineage.SameWorkflowAndSeed(t.Context(), s.a, one.Asset.Hash, 50)
	if err != nil || len(list) != 1 || list[0].Filename != "two.png" {
		t.Errorf("%+v %v", list, err)
	}
}

func TestLineageGraph_MadeAroundGivesTheNearestOnEachSide(t *testing.T) {
	t.Parallel()
	s := open(t)
	var at store.NewAsset
	for i := range 7 {
		n := picture(job(i), 0, i)
		if add(t, s, s.a, n); i == 3 {
			at = n
		}
	}
	add(t, s, s.a, file("of another tool"))
	m, err := s.Lineage.Get(t.Context(), s.a, at.Asset.Hash)
	if err != nil {
		t.Fatal(err)
	}
	for each, want := range map[int]int{1: 3, 2: 5, 50: 7} {
		list, err := s.Lineage.CreatedAround(t.Context(), s.a, m, m.CreatedAt.Add(-time.Hour), m.CreatedAt.Add(time.Hour), each)
		if err != nil || len(list) != want || !slices.IsSortedFunc(list, func(a, b store.AssetWithLineage) int { return a.CreatedAt.Compare(b.CreatedAt) }) {
			t.Errorf("%d on each side: %d, want %d, %v", each, len(list), want, err)
		}
	}
}
