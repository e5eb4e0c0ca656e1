package op

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// IDKind is what an identifier in an input names. An input declares it with the tag
// id:"…"; the tests over all operations (parity, permissions, tenants) fill in an
// identifier of that kind, their own or another tenant's.
type IDKind string

// The kinds of identifiers.
const (
	IDTenant      IDKind = "tenant"
	IDAsset       IDKind = "asset"
	IDModel       IDKind = "model"
	IDSavedSearch IDKind = "saved_search"
	IDCollection  IDKind = "collection" // a collection_h, which stands for a path too
	IDTextCard    IDKind = "text_card"
	IDNode        IDKind = "workflow_node" // or what else can be annotated
	IDAnnotation  IDKind = "annotation"
	IDPrompt      IDKind = "prompt"
	IDExperiment  IDKind = "experiment" // the collection_h of one, which stands for a path too
	IDRun         IDKind = "run"        // of an experiment
	IDProspect    IDKind = "prospect"
	IDImport      IDKind = "import"
	IDOtherRun    IDKind = "other_run" // another one of the same experiment
	IDPipeline    IDKind = "pipeline"
	IDPipelineRun IDKind = "pipeline_run" // of a pipeline
	IDEarlierRun  IDKind = "earlier_run"  // another one
	IDRule        IDKind = "rule"
	IDWebhook     IDKind = "webhook"
	IDDelivery    IDKind = "delivery"  // to a webhook
	IDOperation   IDKind = "operation" // of a write that can be taken back
	IDUpload      IDKind = "upload"    // where uploaded bytes wait
	IDIndexToken  IDKind = "index_token"
	IDExport      IDKind = "export" // of the calling key
	IDShare       IDKind = "share"  // a share link
	IDCursor      IDKind = "cursor"
	IDQuery       IDKind = "query" // a text that is searched for, which may name anything
	IDNone        IDKind = "none"  // looks like an identifier and names nothing that a tenant has
)

// IDKinds lists the kinds.
var IDKinds = []IDKind{IDTenant, IDAsset, IDModel, IDSavedSearch, IDCollection, IDTextCard, IDNode, IDAnnotation, IDPrompt, IDExperiment, IDRun, IDOtherRun, IDProspect, IDPipeline, IDPipelineRun, IDEarlierRun, IDRule, IDWebhook, IDDelivery, IDImport, IDOperation, IDUpload, IDIndexToken, IDExport, IDShare, IDCursor, IDQuery, IDNone}

// idForms are the forms of identifiers that have one, for inputs that state none.
var idForms = map[IDKind]struct{ pattern, words string }{
	IDAsset:      {"^[0-9a-fA-F]{40}$", "a SHA-1 of 40 hex digits"},
	IDModel:      {"^[0-9a-fA-F]{40}$", "a hash of 40 hex digits"},
	IDNode:       {"^[0-9a-fA-F]{40}$", "an identifier of 40 hex digits"},
	IDAnnotation: {"^[0-9a-fA-F]{40}$", "an identifier of 40 hex digits"},
	IDRun:        {"^[0-9a-fA-F]{40}$", "an identifier of 40 hex digits"},
	IDOtherRun:   {"^[0-9a-fA-F]{40}$", "an identifier of 40 hex digits"},
	IDProspect:   {"^[0-9a-fA-F]{40}$", "an identifier of 40 hex digits"},
	IDIndexToken: {"^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?$", "the index_token of a write, as it was returned"},
}

// Identifier is a place in an operation's input that names something.
type Identifier struct {
	// Path has the names of the fields that lead to it, the outermost first. A name
	// that ends with [] is that of a list.
	Path []string
	Kind IDKind
}

// String returns the path as it is written in errors: "files[].sha1".
func (id Identifier) String() string { return strings.Join(id.Path, ".") }

// identifiersOf lists the declared identifiers of an input. It fails on a kind that
// there is not.
func identifiersOf(t reflect.Type, path []string) (list []Identifier, err error) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || len(path) > maxIDDepth {
		return nil, nil
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		at := path
		if !f.Anonymous {
			if name == "" || name == "-" {
				continue
			}
			if f.Type.Kind() == reflect.Slice {
				name += "[]"
			}
			at = append(slices.Clone(path), name)
		}
		if kind := IDKind(f.Tag.Get("id")); kind != "" {
			if !slices.Contains(IDKinds, kind) {
				return nil, fmt.Errorf("%s has the tag id:%q; the kinds are %v", strings.Join(at, "."), kind, IDKinds)
			}
			list = append(list, Identifier{Path: at, Kind: kind})
			continue
		}
		inner, err := identifiersOf(f.Type, at)
		if err != nil {
			return nil, err
		}
		list = append(list, inner...)
	}
	return list, nil
}

// maxIDDepth bounds how deep identifiers are looked for in an input.
const maxIDDepth = 4

// In reports whether some arguments have a value at the identifier's place.
func (id Identifier) In(args map[string]any) bool { return within(args, id.Path) }

func within(v any, path []string) bool {
	if len(path) == 0 {
		return v != nil
	}
	m, _ := v.(map[string]any)
	name, list := strings.CutSuffix(path[0], "[]")
	v = m[name]
	if items, _ := v.([]any); list && len(items) > 0 {
		v = items[0]
	}
	return within(v, path[1:])
}

// With returns a copy of some arguments with a value at the identifier's place. Of a
// list it fills the first element, and leaves no other.
func (id Identifier) With(args map[string]any, value string) map[string]any {
	out, _ := with(args, id.Path, value).(map[string]any)
	return out
}

func with(v any, path []string, value string) any {
	if len(path) == 0 {
		return value
	}
	m, _ := v.(map[string]any)
	out := map[string]any{}
	maps.Copy(out, m)
	name, list := strings.CutSuffix(path[0], "[]")
	if !list {
		out[name] = with(m[name], path[1:], value)
		return out
	}
	items, _ := m[name].([]any)
	var first any
	if len(items) > 0 {
		first = items[0]
	}
	out[name] = []any{with(first, path[1:], value)}
	return out
}
