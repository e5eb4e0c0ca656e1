package query

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestReference_EveryFieldHasADocumentedWorkingExample(t *testing.T) {
	t.Parallel()
	page := Reference()
	for _, f := range Fields() {
		if f.Doc == "" || f.Group == "" || strings.HasSuffix(f.Doc, ".") {
			t.Errorf("%s: a row needs a group and a clause without a full stop", f.Name)
		}
		if !strings.Contains(page, "`"+f.Name+"`") || !strings.Contains(page, f.Example) {
			t.Errorf("%s is missing in the reference", f.Name)
		}
		q, err := Parse(f.Example, Options{Strict: true, StrictFields: true})
		if err != nil {
			t.Errorf("%s: its example %s is refused: %v", f.Name, f.Example, err)
			continue
		}
		found := false
		Visit(q.Tree, func(n Node, _ bool) bool {
			if p, ok := n.(*Pred); ok && (p.Field == f || p.Field.Key != "" && f.Name == "metadata") {
				found = true
			}
			return true
		})
		if !found {
			t.Errorf("%s: its example %s is read as %s", f.Name, f.Example, q.Canonical())
		}
		if _, err := Compile(q, Request{Tenant: tenantA}); err != nil {
			t.Errorf("%s: its example does not compile: %v", f.Name, err)
		}
	}
}

func TestReference_SpecifiedFieldsAreThere(t *testing.T) {
	t.Parallel()
	for _, name := range strings.Fields(`title description filename tag status mime_type dimensions created updated tool prompt version job_type
		batch_size parameters ai chain model checkpoint lora model_name model_type base_model trigger_word model_weight graphtool_node
		graphtool_workflow graphtool_model graphtool_model_type graphtool_model_hash imagetool_command imagetool_version imagetool_type imagetool_batch
		seed steps cfg sampler scheduler denoise width height aspect negative_prompt collection similar parent has is`) {
		if f := LookupField(name); f == nil || f.Name != name {
			t.Errorf("the field %s is missing", name)
		}
	}
}

func TestSummary_FitsAToolDescriptionAndNamesFieldsThatExist(t *testing.T) {
	t.Parallel()
	summary := Summary()
	if n := utf8.RuneCountInString(summary); n > 500 {
		t.Errorf("the summary has %d characters, allowed are 500", n)
	}
	_, list, _ := strings.Cut(summary, "Fields: ")
	list, _, found := strings.Cut(list, ";")
	if !found || len(strings.Fields(list)) < 15 {
		t.Fatalf("the summary lists too few fields: %s", summary)
	}
	for _, name := range strings.Fields(list) {
		if f := LookupField(name); f == nil || f.Name != name {
			t.Errorf("the summary names %s, which is no field", name)
		}
	}
	_, example, _ := strings.Cut(summary, "Example: ")
	example, _, _ = strings.Cut(example, ". Fields")
	if q, err := Parse(example, Options{Strict: true, StrictFields: true}); err != nil || len(q.Warnings) > 0 {
		t.Errorf("the example %q is refused or warned about: %v", example, err)
	}
}

func TestReference_MistypedFieldsAreSuggested(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"tga": "tag", "titel": "title", "promt": "prompt", "modle": "model", "cratedd": "created", "TAGG": "tag",
		"graphtol_node": "graphtool_node", "chekpoint": "checkpoint", "foo": "", "xyzzy": "", "a": "",
	} {
		if got := nearestField(typed); got != want {
			t.Errorf("nearestField(%q) = %q, want %q", typed, got, want)
		}
	}
}
