package op_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/library"
	"vitrine/op"
)

type nested struct {
	op.TenantInput
	Assets []string `json:"asset_hs" id:"asset"`
	Files  []struct {
		SHA1 string `json:"sha1" id:"asset"`
		Name string `json:"name"`
	} `json:"files"`
	Ref *struct {
		Path string `json:"storagePath" id:"upload"`
	} `json:"ref,omitempty"`
}

func TestIdentifiers_AreFoundAndFilledInAtEveryDepth(t *testing.T) {
	o := op.Define(op.Meta{Name: "A", Title: "A", Doc: "A.", Domain: op.Assets, Method: "POST", Path: "/a", Permission: library.PermRead},
		func(_ context.Context, _ library.Actor, _ nested) (op.Indexed, error) { return op.Indexed{}, nil })
	var got []string
	args := map[string]any{"files": []any{map[string]any{"name": "a", "sha1": "x"}, map[string]any{"name": "b"}}}
	had := map[string]bool{}
	filled := args
	for _, id := range o.Identifiers {
		got = append(got, id.String()+" "+string(id.Kind))
		had[id.String()] = id.In(args)
		filled = id.With(filled, "new")
		if !id.In(filled) {
			t.Errorf("%s is not filled in: %v", id, filled)
		}
	}
	if diff := cmp.Diff([]string{"tenant_id tenant", "asset_hs[] asset", "files[].sha1 asset", "ref.storagePath upload"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]bool{"tenant_id": false, "asset_hs[]": false, "files[].sha1": true, "ref.storagePath": false}, had); diff != "" {
		t.Error(diff)
	}
	want := map[string]any{"tenant_id": "new", "asset_hs": []any{"new"}, "files": []any{map[string]any{"name": "a", "sha1": "new"}}, "ref": map[string]any{"storagePath": "new"}}
	if diff := cmp.Diff(want, filled); diff != "" {
		t.Error(diff)
	}
}

func TestIdentifiers_UnknownKindIsADefectOfTheDefinition(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it was accepted")
		}
	}()
	op.Define(op.Meta{Name: "A", Title: "A", Doc: "A.", Domain: op.Assets, Method: "POST", Path: "/a", Permission: library.PermRead},
		func(_ context.Context, _ library.Actor, _ struct {
			X string `json:"x" id:"nonsense"`
		}) (op.Indexed, error) {
			return op.Indexed{}, nil
		})
}
