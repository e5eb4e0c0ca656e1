package store_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/library"
	"vitrine/store"
	"vitrine/store/indexstate"
)

func weightless(modelType string) bool { return modelType == "checkpoint" }

// uses makes a file that used these models, given as type and name.
func uses(content string, models ...string) store.NewAsset {
	n := file(content)
	n.Lineage.Models = nil
	for i := 0; i < len(models); i += 2 {
		n.Lineage.Models = append(n.Lineage.Models, library.ModelUse{Type: models[i], Name: models[i+1]})
	}
	return n
}

func found(t *testing.T, s bench, f store.ModelFilter) []string {
	t.Helper()
	if f.Limit == 0 {
		f.Limit = 50
	}
	list, total, err := s.Models.Search(t.Context(), s.a, f)
	if err != nil {
		t.Fatal(err)
	}
	if f.Offset == 0 && len(list) < f.Limit && total != len(list) {
		t.Errorf("%+v: total %d of %d models", f, total, len(list))
	}
	names := []string{}
	for _, m := range list {
		names = append(names, m.DisplayName)
	}
	return names
}

func TestModels_AreFoundByPartsOfTheirNameWhateverTheSeparators(t *testing.T) {
	t.Parallel()
	s := open(t)
	add(t, s, s.a, uses("one", "lora", "XL/Detail-Tweaker_XL.safetensors", "checkpoint", "juggernautXL_v9.safetensors"))
	add(t, s, s.a, uses("two", "lora", `more_details.safetensors`, "checkpoint", "juggernautXL_v9.safetensors", "embedding", "EasyNegative"))
	add(t, s, s.b, uses("three", "lora", "hidden_detail.safetensors"))
	for query, want := range map[string][]string{
		"":                    {"juggernautXL_v9", "Detail-Tweaker_XL", "EasyNegative", "more_details"},
		"detail":              {"Detail-Tweaker_XL", "more_details"},
		"detail tweaker":      {"Detail-Tweaker_XL"},
		"TWEAKER detail_":     {"Detail-Tweaker_XL"},
		"juggernaut-xl":       {"juggernautXL_v9"},
		"detail_tweaker xl":   {"Detail-Tweaker_XL"},
		"detail nothing":      {},
		"%":                   {},
		"hidden":              {},
		" _ - ":               {"juggernautXL_v9", "Detail-Tweaker_XL", "EasyNegative", "more_details"},
		"juggernautXL_v9.saf": {"juggernautXL_v9"},
		"xl/detail":           {"Detail-Tweaker_XL"},
		`XL\detail`:           {"Detail-Tweaker_XL"},
	} {
		if diff := cmp.Diff(want, found(t, s, store.ModelFilter{Query: query})); diff != "" {
			t.Errorf("%q (-want +got): %s", query, diff)
		}
	}
	if diff := cmp.Diff([]string{"Detail-Tweaker_XL", "more_details"}, found(t, s, store.ModelFilter{Type: "lora"})); diff != "" {
		t.Error("by type", diff)
	}
	for _, kind := range []string{"LoRA", "LORA", "lo-ra"} {
		if diff := cmp.Diff([]string{"Detail-Tweaker_XL", "more_details"}, found(t, s, store.ModelFilter{Type: kind})); diff != "" {
			t.Errorf("by the type %s: %s", kind, diff)
		}
	}
	if diff := cmp.Diff([]string{"EasyNegative"}, found(t, s, store.ModelFilter{Limit: 1, Offset: 2})); diff != "" {
		t.Error("the third page", diff)
	}
	if _, total, err := s.Models.Search(t.Context(), s.a, store.ModelFilter{Limit: 5, Offset: 100}); total != 4 || err != nil {
		t.Errorf("beyond the end the total is %d %v, not 4", total, err)
	}
}

func TestModels_AnEmbeddingsNameIsItsTriggerWord(t *testing.T) {
	t.Parallel()
	s := open(t)
	add(t, s, s.a, uses("one", "embedding", "folder/EasyNegative.pt", "lora", "x"))
	list, _, err := s.Models.Search(t.Context(), s.a, store.ModelFilter{Limit: 5})
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v %v", list, err)
	}
	for _, m := range list {
		if want := map[string][]string{"embedding": {"EasyNegative"}, "lora": {}}[m.Type]; !cmp.Equal(want, m.TriggerWords) {
			t.Errorf("the %s has the trigger words %q", m.Type, m.TriggerWords)
		}
	}
}

func TestModels_UsesCountAssetsOutsideTheTrashOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	lora := library.NewModelHash("lora", "detail")
	add(t, s, s.a, uses("one", "lora", "detail", "lora", "detail"))
	approved := add(t, s, s.a, uses("two", "lora", "detail"))
	gone := add(t, s, s.a, uses("three", "lora", "detail"))
	if _, err := s.Assets.Change(t.Context(), s.a, []library.AssetHash{approved.Asset.Hash},
		func(a *library.Asset) { a.Status = library.StatusApproved }); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Operations.Undo(t.Context(), s.a, gone.OperationID, anyone); err != nil {
		t.Fatal(err)
	}
	d, err := s.Models.Get(t.Context(), s.a, lora, 1)
	if err != nil || d.AssetCount != 2 || d.ImageCount != 2 || len(d.Previews) != 1 || d.Previews[0] != approved.Asset.Hash {
		t.Errorf("%+v %v", d, err)
	}
	if _, err := s.Models.Get(t.Context(), s.b, lora, 1); library.AsError(err).Kind != library.KindNotFound {
		t.Errorf("another tenant sees the model: %v", err)
	}
}

func TestModels_ALinkIsKeptBesideTheFilesWordAndCanBeUndone(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	a := add(t, s, s.a, uses("one", "lora", "detail")).Asset
	add(t, s, s.a, uses("two", "lora", "style", "checkpoint", "base"))
	style, base := library.NewModelHash("lora", "style"), library.NewModelHash("checkpoint", "base")
	weight := func(f float64) *float64 { return &f }
	link := func(m library.ModelHash, w *float64) string {
		t.Helper()
		got, err := s.Models.Link(ctx, s.a, a.Hash, library.ModelLink{Model: m, Source: "manual_tag", Weight: w}, weightless)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	expect := func(what string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, linkedModels(t, s, a.Hash)); diff != "" {
			t.Errorf("%s (-want +got): %s", what, diff)
		}
	}
	first := link(style, weight(0.5))
	if v, err := s.Operations.Versions(ctx, s.a.Tenant, indexstate.AssetIndex, first); err != nil || len(v) != 1 || v[0].Key != string(a.Hash) || v[0].Version != a.DocVersion+1 {
		t.Errorf("a link must send the asset to the index again: %+v %v", v, err)
	}
	if again := link(style, weight(0.5)); again != "" {
		t.Errorf("the same link again counts as a change: %+v", again)
	}
	link(base, nil)
	expect("linked", "extracted detail", "manual_tag style half", "manual_tag base")
	second := link(style, weight(0.7))
	expect("weighed anew", "extracted detail", "manual_tag style", "manual_tag base")
	if undone, err := s.Operations.Undo(ctx, s.a, first, anyone); err != nil || undone.Counts["kept"] != 1 || undone.OperationID != "" {
		t.Errorf("a link that was changed since must stay: %+v %v", undone, err)
	}
	if _, err := s.Operations.Undo(ctx, s.a, second, anyone); err != nil {
		t.Error(err)
	}
	undone, err := s.Operations.Undo(ctx, s.a, first, anyone)
	if err != nil || undone.Counts["reverted"] != 1 {
		t.Errorf("%+v %v", undone, err)
	}
	expect("undone", "extracted detail", "manual_tag base")
	if _, err := s.Operations.Undo(ctx, s.a, undone.OperationID, anyone); err != nil {
		t.Error(err)
	}
	expect("the undo undone", "extracted detail", "manual_tag base", "manual_tag style half")
}

// linkedModels returns the models of an asset, each with where the asset has it from.
func linkedModels(t *testing.T, s bench, asset library.AssetHash) (names []string) {
	t.Helper()
	list, err := s.Models.OfAsset(t.Context(), s.a, asset)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		name := m.DetectionSource + " " + m.Name
		if m.Weight != nil && *m.Weight == 0.5 {
			name += " half"
		}
		names = append(names, name)
	}
	return names
}

func TestModels_ALinkNeedsAnAssetAModelAndAFittingWeight(t *testing.T) {
	t.Parallel()
	s := open(t)
	mine, theirs := add(t, s, s.a, uses("one", "checkpoint", "base")).Asset.Hash, add(t, s, s.b, uses("two", "lora", "other")).Asset.Hash
	one := 1.0
	base := library.NewModelHash("checkpoint", "base")
	for name, c := range map[string]struct {
		asset library.AssetHash
		link  library.ModelLink
		code  string
	}{
		"another tenant's asset": {theirs, library.ModelLink{Model: base, Source: "manual_tag"}, library.CodeNotFound},
		"another tenant's model": {mine, library.ModelLink{Model: library.NewModelHash("lora", "other"), Source: "manual_tag"}, library.CodeNotFound},
		"a weighed checkpoint":   {mine, library.ModelLink{Model: base, Source: "manual_tag", Weight: &one}, library.CodeValidationFailed},
	} {
		if _, err := s.Models.Link(t.Context(), s.a, c.asset, c.link, weightless); library.AsError(err).Code != c.code {
			t.Errorf("%s gave %v", name, err)
		}
	}
}

func TestModels_AVersionsTagIsUniqueUntilItsAdditionIsUndone(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	add(t, s, s.a, uses("one", "lora", "detail"))
	add(t, s, s.b, uses("two", "lora", "detail"))
	lora := library.NewModelHash("lora", "detail")
	version := func(actor library.Actor) (string, error) {
		_, operation, err := s.Models.AddVersion(ctx, actor, library.ModelVersion{Model: lora, Tag: "v1", TrainingConfig: []byte(`{"note":"a\u0000b"}`)})
		return operation, err
	}
	first, err := version(s.a)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := version(s.a); library.AsError(err).Code != library.CodeNameTaken {
		t.Errorf("the same tag again gave %v", err)
	}
	if list, err := s.Models.Versions(ctx, s.b, lora, true); err != nil || len(list) != 0 {
		t.Errorf("another tenant sees the version: %+v %v", list, err)
	}
	if _, err := version(s.b); err != nil {
		t.Errorf("another tenant's tag is taken: %v", err)
	}
	undone, err := s.Operations.Undo(ctx, s.a, first, anyone)
	if err != nil || undone.Counts["reverted"] != 1 || undone.Outcomes[0].Name != "v1" || undone.OperationID == "" {
		t.Fatalf("%+v %v", undone, err)
	}
	if versionCount(t, s, lora, false) != 0 || versionCount(t, s, lora, true) != 1 {
		t.Errorf("%d versions, %d with the deleted", versionCount(t, s, lora, false), versionCount(t, s, lora, true))
	}
	back, err := s.Operations.Undo(ctx, s.a, undone.OperationID, anyone)
	if err != nil || back.Counts["reverted"] != 1 || versionCount(t, s, lora, false) != 1 {
		t.Fatalf("%+v %v", back, err)
	}
	if _, err := s.Operations.Undo(ctx, s.a, back.OperationID, anyone); err != nil || versionCount(t, s, lora, false) != 0 {
		t.Errorf("%d versions, %v", versionCount(t, s, lora, false), err)
	}
	again, err := version(s.a)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Operations.Undo(ctx, s.a, again, anyone); err != nil {
		t.Error(err)
	}
	if _, err := version(s.a); err != nil || versionCount(t, s, lora, false) != 1 || versionCount(t, s, lora, true) != 3 {
		t.Errorf("%d versions, %d with the deleted, %v", versionCount(t, s, lora, false), versionCount(t, s, lora, true), err)
	}
	if _, _, err := s.Models.AddVersion(ctx, s.a, library.ModelVersion{Model: library.NewModelHash("lora", "none"), Tag: "v"}); library.AsError(err).Kind != library.KindNotFound {
		t.Errorf("a version of no model gave %v", err)
	}
}

// versionCount returns how many versions a model has, with those that are deleted or without them.
func versionCount(t *testing.T, s bench, model library.ModelHash, deleted bool) int {
	t.Helper()
	list, err := s.Models.Versions(t.Context(), s.a, model, deleted)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestModels_WhatIsLearnedOfAModelReachesTheAssetsThatUseIt: the base model and the hashes
// of a model stand in the documents of all its assets, so those go to the index again
// when a file tells more of it, and only then.
func TestModels_WhatIsLearnedOfAModelReachesTheAssetsThatUseIt(t *testing.T) {
	t.Parallel()
	s := open(t)
	early := add(t, s, s.a, uses("early", "checkpoint", "SDXL/dream.safetensors", "lora", "detail")).Asset.Hash
	gone := add(t, s, s.a, uses("gone", "checkpoint", "dream"))
	add(t, s, s.a, uses("other", "checkpoint", "another"))
	add(t, s, s.b, uses("elsewhere", "checkpoint", "dream"))
	if _, err := s.Operations.Undo(t.Context(), s.a, gone.OperationID, anyone); err != nil {
		t.Fatal(err)
	}
	told := func() (list []library.AssetHash) {
		t.Helper()
		for {
			n, err := s.Outbox.Claim(t.Context(), 100, func(rows []store.OutboxRow) error {
				for _, r := range rows {
					if r.Reason == "model_updated" {
						list = append(list, library.AssetHash(r.Key))
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				return list
			}
		}
	}
	told()
	telling := uses("telling", "checkpoint", "dream.ckpt", "lora", "new")
	telling.Lineage.Models[0].BaseModel, telling.Lineage.Models[0].Hash = "sdxl", "blake3:aa"
	again := add(t, s, s.a, telling).Asset.Hash
	if diff := cmp.Diff([]library.AssetHash{early}, told()); diff != "" {
		t.Errorf("a file told the base model and a hash (-want +got)\n%s", diff)
	}
	rows, _, err := s.Documents.Read(t.Context(), []indexstate.DocumentKey{{Tenant: s.a.Tenant, Key: string(early)}})
	if err != nil || rows[0].Models[0].BaseModel != "sdxl" || len(rows[0].Models[0].ContentHashes) != 1 || rows[0].Version != 1 {
		t.Errorf("the earlier asset's document: %+v %v", rows, err)
	}
	telling.Asset.Hash = file("repeating").Asset.Hash
	add(t, s, s.a, telling)
	if list := told(); len(list) != 0 {
		t.Errorf("a file told what was known, and %v went to the index", list)
	}
	telling.Asset.Hash, telling.Lineage.Models[0].Hash = early, "blake3:bb"
	s.reread(t, telling)
	if list := told(); len(list) != 2 || !slices.Contains(list, again) {
		t.Errorf("reading a file again told another hash, and %v went to the index", list)
	}
}
