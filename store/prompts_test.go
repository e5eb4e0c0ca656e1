package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/library"
	"vitrine/store"
)

// prompted makes a file with a prompt.
func prompted(name, positive string) store.NewAsset {
	f := file(name)
	f.Lineage = library.Lineage{Tool: "comfyui", Positive: &positive}
	return f
}

func (s bench) prompt(t *testing.T, text string, labels ...string) store.PromptChange {
	t.Helper()
	got, err := s.Prompts.Create(t.Context(), s.a, store.NewPrompt{Text: text, Labels: labels, Prompt: library.Prompt{Name: text}})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// addVersion adds a version and returns it.
func (s bench) addVersion(t *testing.T, p library.PromptHash, text string, labels ...string) store.PromptChange {
	t.Helper()
	got, err := s.Prompts.Change(t.Context(), s.a, p, store.PromptEdit{Text: text, Labels: labels})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// images returns the names of the images of a version.
func (s bench) images(t *testing.T, actor library.Actor, p library.PromptHash, ref string) []string {
	t.Helper()
	_, list, total, err := s.Prompts.Images(t.Context(), actor, p, ref, 100, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, a := range list {
		names = append(names, strings.TrimSuffix(a.Filename, ".png"))
	}
	slices.Sort(names)
	if len(names) != total {
		t.Errorf("%d images, counted %d", len(names), total)
	}
	return names
}

func (s bench) link(t *testing.T) {
	t.Helper()
	if _, err := s.Prompts.LinkPending(t.Context(), s.a.Tenant, time.Minute); err != nil {
		t.Fatal(err)
	}
}

func TestPrompts_ATextIsThereOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	first := s.prompt(t, "a {{mood}} fox in snow", "production")
	second := s.addVersion(t, first.Prompt.Hash, "a {{mood}} fox in deep snow")
	if !first.Created || first.Version.Number != 1 || !second.Created || second.Version.Number != 2 {
		t.Fatalf("%+v %+v", first, second)
	}
	for _, text := range []string{"a {{mood}} fox in snow", " a {{mood}} fox in deep snow\r\n"} {
		again := s.prompt(t, text)
		if again.Created || again.OperationID != "" || again.Prompt.Hash != first.Prompt.Hash {
			t.Errorf("%q was written again: %+v", text, again)
		}
	}
	if again := s.addVersion(t, first.Prompt.Hash, "a {{mood}} fox in snow"); again.Created || again.Version.Number != 1 || again.OperationID != "" {
		t.Errorf("a version was written again: %+v", again)
	}
	other := s.prompt(t, "an owl at night")
	if _, err := s.Prompts.Change(t.Context(), s.a, other.Prompt.Hash, store.PromptEdit{Text: "a {{mood}} fox in snow"}); library.AsError(err).Kind != library.KindInvalid ||
		!strings.Contains(fmt.Sprint(library.AsError(err).Fields), string(first.Prompt.Hash)) {
		t.Errorf("a text of another prompt: %v", err)
	}
	theirs, err := s.Prompts.Create(t.Context(), s.b, store.NewPrompt{Text: "a {{mood}} fox in snow"})
	if err != nil || !theirs.Created {
		t.Errorf("another tenant's prompt: %+v %v", theirs, err)
	}
	if _, _, err := s.Prompts.Version(t.Context(), s.b, other.Prompt.Hash, ""); library.AsError(err).Kind != library.KindNotFound {
		t.Errorf("another tenant sees it: %v", err)
	}
}

func TestPrompts_TheSameTextAtOnceIsOnePrompt(t *testing.T) {
	t.Parallel()
	s := open(t)
	createdOnce(t, func() (bool, error) {
		got, err := s.Prompts.Create(t.Context(), s.a, store.NewPrompt{Text: "a fox in snow"})
		return got.Created, err
	})
}

func TestPrompts_LabelsMoveAndNameVersions(t *testing.T) {
	t.Parallel()
	s := open(t)
	p := s.prompt(t, "a fox in snow", "production").Prompt.Hash
	number := func(ref string) int {
		t.Helper()
		_, v, err := s.Prompts.Version(t.Context(), s.a, p, ref)
		if err != nil && library.AsError(err).Kind != library.KindNotFound {
			t.Fatal(err)
		}
		return v.Number
	}
	second := s.addVersion(t, p, "a fox in deep snow", "draft")
	for ref, want := range map[string]int{"": 1, "production": 1, "draft": 2, "latest": 2, "1": 1, "2": 2, string(second.Version.Hash): 2, "3": 0, "9007199254740993": 0, "staging": 0} {
		if got := number(ref); got != want {
			t.Errorf("%q is version %d, want %d", ref, got, want)
		}
	}
	moved, err := s.Prompts.Change(t.Context(), s.a, p, store.PromptEdit{Version: "2", Labels: []string{"production"}, RemoveLabels: []string{"draft"}})
	if err != nil || !slices.Equal(moved.Version.Labels, []string{"production"}) || number("production") != 2 || number("draft") != 0 {
		t.Errorf("%+v %v", moved, err)
	}
	if _, err := s.Operations.Undo(t.Context(), s.a, moved.OperationID, anyone); err != nil || number("production") != 1 || number("draft") != 2 {
		t.Errorf("undone, production is %d and draft %d: %v", number("production"), number("draft"), err)
	}
	undone, err := s.Operations.Undo(t.Context(), s.a, second.OperationID, anyone)
	if err != nil || number("latest") != 1 || number("draft") != 0 {
		t.Errorf("the second version is still there: %+v %v", undone, err)
	}
}

func TestPrompts_DeletingAndUndoingKeepWhatBelongsTogether(t *testing.T) {
	t.Parallel()
	s := open(t)
	add(t, s, s.a, prompted("one", "a red fox in snow"))
	made := s.prompt(t, "a {{color}} fox in snow", "production")
	p := made.Prompt.Hash
	s.addVersion(t, p, "a {{color}} owl in snow")
	s.link(t)
	undo := func(id string) store.UndoResult {
		t.Helper()
		got, err := s.Operations.Undo(t.Context(), s.a, id, anyone)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := undo(made.OperationID); got.Counts[library.OutcomeConflict] != 2 { // the label goes, the prompt and its first version stay
		t.Errorf("a prompt with two versions: %+v", got)
	}
	deleted, err := s.Prompts.Delete(t.Context(), s.a, p)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Prompts.Version(t.Context(), s.a, p, ""); library.AsError(err).Kind != library.KindNotFound {
		t.Errorf("it is still there: %v", err)
	}
	undo(deleted.OperationID)
	s.link(t)
	if got := s.images(t, s.a, p, "1"); !slices.Equal(got, []string{"one"}) {
		t.Errorf("its images are %v", got)
	}
	if deleted, err = s.Prompts.Delete(t.Context(), s.a, p); err != nil {
		t.Fatal(err)
	}
	again := s.prompt(t, "a {{color}} owl in snow") // the second version's text is a prompt of its own now
	if !again.Created || again.Prompt.Hash == p {
		t.Errorf("%+v", again)
	}
	if got := undo(deleted.OperationID); got.Counts[library.OutcomeConflict] != 1 || got.Counts[library.OutcomeReverted] != 2 {
		t.Errorf("%+v", got)
	}
	back := s.prompt(t, "a {{color}} fox in snow")
	if back.Created || back.Prompt.Hash != p {
		t.Errorf("%+v", back)
	}
}

// TestPrompts_LinksFollowFromPromptsAndVersionsAlone adds images and versions, removes and
// undoes versions, in any order: what is linked must be what a naive comparison of all with
// all says.
func TestPrompts_LinksFollowFromPromptsAndVersionsAlone(t *testing.T) {
	t.Parallel()
	s := open(t)
	r := rand.New(rand.NewPCG(5, 5))
	texts := []string{"a {{c}} fox in the snow", "a {{c}} fox in the {{d}}", "a {{c}} fox in the snow, 4k", "a {{e}} in the {{d}}, 4k", "red fox", "{{x}}, photo", "a red fox in the snow"}
	prompts := []string{"a red fox in the snow", "a red fox in the snow, 4k", "a (blue:1.2) fox in the snow", "a fox in the snow", "Red fox", "red fox, photo",
		"a blue owl in the dark wood, 4k", "a red fox\nin the deep snow <lora:x:1>", "a fox"}
	var p library.PromptHash
	have, deleted := map[string]string{}, map[string]bool{} // images by name; undone texts
	operations := map[string]string{}
	for i := range 60 {
		switch text := texts[r.IntN(len(texts))]; {
		case i == 0:
			p = s.prompt(t, "the first version of it all").Prompt.Hash
		case r.IntN(2) == 0:
			name := fmt.Sprint("image", i)
			have[name] = prompts[r.IntN(len(prompts))]
			add(t, s, s.a, prompted(name, have[name]))
		case operations[text] == "":
			operations[text] = s.addVersion(t, p, text).OperationID
			delete(deleted, text)
		case r.IntN(2) == 0:
			got, err := s.Operations.Undo(t.Context(), s.a, operations[text], anyone)
			if err != nil {
				t.Fatal(err)
			}
			operations[text], deleted[text] = "", got.Counts[library.OutcomeReverted] > 0
		}
		if r.IntN(3) == 0 {
			s.link(t)
			s.checkLinks(t, p, operations, have)
		}
	}
}

// checkLinks compares the images of each version with the naive comparison.
func (s bench) checkLinks(t *testing.T, p library.PromptHash, live, have map[string]string) {
	t.Helper()
	want := map[string][]string{}
	for name, text := range have {
		for _, version := range naiveRenders(text, live) {
			want[version] = append(want[version], name)
		}
	}
	d, err := s.Prompts.Get(t.Context(), s.a, p, "1", 1000, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range d.Versions {
		if !v.Linked {
			t.Errorf("%q is still to be linked", v.Text)
		}
		slices.Sort(want[v.Text])
		if got := s.images(t, s.a, p, string(v.Hash)); !slices.Equal(got, want[v.Text]) || v.Images != len(got) {
			t.Fatalf("%q has %v (%d), want %v", v.Text, got, v.Images, want[v.Text])
		}
	}
}

// naiveRenders says which texts of the test a prompt is a render of, by hand.
func naiveRenders(text string, live map[string]string) []string {
	by := map[string][]string{ // the most specific first
		"a red fox in the snow":                  {"a red fox in the snow", "a {{c}} fox in the snow", "a {{c}} fox in the {{d}}"},
		"a red fox in the snow, 4k":              {"a {{c}} fox in the snow, 4k", "a {{e}} in the {{d}}, 4k|a {{c}} fox in the {{d}}"},
		"a (blue:1.2) fox in the snow":           {"a {{c}} fox in the snow", "a {{c}} fox in the {{d}}"},
		"Red fox":                                {"red fox"},
		"a blue owl in the dark wood, 4k":        {"a {{e}} in the {{d}}, 4k"},
		"a red fox\nin the deep snow <lora:x:1>": {"a {{c}} fox in the {{d}}"},
	}
	for _, group := range by[text] {
		var list []string
		for _, version := range strings.Split(group, "|") {
			if live[version] != "" {
				list = append(list, version)
			}
		}
		if len(list) > 0 {
			return list
		}
	}
	return nil
}

func TestPrompts_AnUploadDuringACreationIsLinked(t *testing.T) {
	t.Parallel()
	s := open(t)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if _, err := s.Assets.Add(t.Context(), s.a, prompted(fmt.Sprint("image", i), fmt.Sprintf("a render of prompt %d", i%5))); err != nil {
				t.Error(err)
			}
		})
		if i < 5 {
			wg.Go(func() {
				if _, err := s.Prompts.Create(t.Context(), s.a, store.NewPrompt{Text: fmt.Sprintf("a {{x}} of prompt %d", i)}); err != nil {
					t.Error(err)
				}
				if _, err := s.Prompts.LinkPending(t.Context(), s.a.Tenant, time.Minute); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	s.link(t) // what came while another compared
	for i := range 5 {
		p := s.prompt(t, fmt.Sprintf("a {{x}} of prompt %d", i))
		if got := s.images(t, s.a, p.Prompt.Hash, ""); len(got) != 4 {
			t.Errorf("prompt %d has %v", i, got)
		}
	}
}

func TestPrompts_ImagesAndScoresAreThoseThatTheCallerSees(t *testing.T) {
	t.Parallel()
	s := open(t)
	var hashes []library.AssetHash
	for i := range 4 {
		hashes = append(hashes, add(t, s, s.a, prompted(fmt.Sprint("image", i), fmt.Sprintf("a number %d in snow", i))).Asset.Hash)
	}
	edit := func(h library.AssetHash, change func(*library.Asset)) {
		t.Helper()
		if _, err := s.Assets.Change(t.Context(), s.a, []library.AssetHash{h}, change); err != nil {
			t.Fatal(err)
		}
	}
	edit(hashes[0], func(a *library.Asset) { a.Rating = 5 })
	edit(hashes[1], func(a *library.Asset) { a.Rating = 2 })
	edit(hashes[2], func(a *library.Asset) {
		a.Rating, a.Visibility, a.Owner = 1, library.VisibilityPrivate, s.a.ID
	})
	p := s.prompt(t, "a number {{n:integer}} in snow").Prompt.Hash
	s.link(t)
	for _, score := range []float64{2, 5} {
		if _, err := s.Prompts.Change(t.Context(), s.a, p, store.PromptEdit{Version: store.LatestVersion,
			Evaluation: &library.PromptEvaluation{Scores: map[string]float64{"adherence": score, "light": 3}, Evaluator: "human"}}); err != nil {
			t.Fatal(err)
		}
	}
	other := s.a
	other.ID, other.Permissions = "key-other", []library.Permission{library.PermRead}
	for _, c := range []struct {
		actor  library.Actor
		images int
		mean   float64
	}{{s.a, 4, 8. / 3}, {other, 3, 3.5}} {
		d, err := s.Prompts.Get(t.Context(), c.actor, p, "", 10, 2)
		if err != nil {
			t.Fatal(err)
		}
		v := d.Selected
		if v.Images != c.images || v.Rated.Mean < c.mean-.01 || v.Rated.Mean > c.mean+.01 || len(d.Samples) != 2 || d.Samples[0].Hash != hashes[0] {
			t.Errorf("%+v %d samples", v, len(d.Samples))
		}
		if v.Evaluations != 2 || v.Scores["adherence"] != (store.MeanScore{Mean: 3.5, Count: 2}) || v.Scores["light"] != (store.MeanScore{Mean: 3, Count: 2}) {
			t.Errorf("evaluations %d %v", v.Evaluations, v.Scores)
		}
		if list, _, err := s.Prompts.Search(t.Context(), c.actor, store.PromptFilter{Limit: 10}); err != nil || len(list) != 1 || list[0].Images != c.images {
			t.Errorf("%+v %v", list, err)
		}
	}
}

func TestPrompts_SearchFindsByWordsFieldsTagsAndLabels(t *testing.T) {
	t.Parallel()
	s := open(t)
	make := func(p library.Prompt, text string, labels ...string) {
		t.Helper()
		if _, err := s.Prompts.Create(t.Context(), s.a, store.NewPrompt{Prompt: p, Text: text, Labels: labels}); err != nil {
			t.Fatal(err)
		}
	}
	make(library.Prompt{Name: "Studio portrait", Category: "Portrait", TargetModel: "Flux.1 Dev", Tags: []string{"People"}}, "a portrait of {{subject}} in studio light", "production")
	make(library.Prompt{Name: "Neon streets", Category: "city", TargetModel: "sdxl", Tags: []string{"night"}}, "neon streets at night, portraits of rain")
	make(library.Prompt{Name: "夜の猫", Description: "Cats"}, "夜の猫と月")
	s.addVersion(t, s.prompt(t, "a plain one").Prompt.Hash, "with later words about foxes")
	for _, c := range []struct {
		f    store.PromptFilter
		want string
	}{
		{store.PromptFilter{}, "a plain one|夜の猫|Neon streets|Studio portrait"},
		{store.PromptFilter{Query: "portrait"}, "Studio portrait|Neon streets"},
		{store.PromptFilter{Query: "portraits -neon"}, "Studio portrait"},
		{store.PromptFilter{Query: `"studio light"`}, "Studio portrait"},
		{store.PromptFilter{Query: "fox"}, "a plain one"},
		{store.PromptFilter{Query: "猫"}, "夜の猫"},
		{store.PromptFilter{Query: "people studio"}, "Studio portrait"},
		{store.PromptFilter{Query: "nothing like it"}, ""},
		{store.PromptFilter{Category: "portrait"}, "Studio portrait"},
		{store.PromptFilter{TargetModel: "flux.1-dev"}, "Studio portrait"},
		{store.PromptFilter{Tag: "NIGHT"}, "Neon streets"},
		{store.PromptFilter{Label: "production"}, "Studio portrait"},
		{store.PromptFilter{Query: "portrait", Label: "draft"}, ""},
	} {
		c.f.Limit = 10
		list, total, err := s.Prompts.Search(t.Context(), s.a, c.f)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range list {
			names = append(names, e.Name)
		}
		if got := strings.Join(names, "|"); got != c.want || total != len(list) {
			t.Errorf("%+v finds %s (%d), want %s", c.f, got, total, c.want)
		}
	}
	if _, total, err := s.Prompts.Search(t.Context(), s.a, store.PromptFilter{Limit: 10, Offset: 50}); err != nil || total != 4 {
		t.Errorf("behind the last page there are %d: %v", total, err)
	}
}
