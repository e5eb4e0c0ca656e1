package prompt_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/prompt"
)

func parse(t testing.TB, text string) *prompt.Template {
	t.Helper()
	p, errs := prompt.Parse(text)
	if len(errs) > 0 {
		t.Fatalf("%q: %v", text, errs)
	}
	return p
}

func TestTemplate_DeclaresVariablesByTypeOptionsAndDefault(t *testing.T) {
	got := parse(t, "a {{mood|calm}} {{ subject }} {{light:enum(soft, hard)|soft}} {{n:integer}} {{mood}} {{w:number|1.5}} {{extra|}} {{größe}}").Variables()
	text := func(s string) *string { return &s }
	want := []prompt.Variable{
		{Name: "mood", Type: prompt.TypeText, Default: text("calm")}, {Name: "subject", Type: prompt.TypeText},
		{Name: "light", Type: prompt.TypeEnum, Options: []string{"soft", "hard"}, Default: text("soft")},
		{Name: "n", Type: prompt.TypeInteger}, {Name: "w", Type: prompt.TypeNumber, Default: text("1.5")},
		{Name: "extra", Type: prompt.TypeText, Default: text("")}, {Name: "größe", Type: prompt.TypeText},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTemplate_BracesThatAreNoVariableAreText(t *testing.T) {
	for text, want := range map[string]string{
		"{{{masterpiece}}} {{{{best}}}}": "{{{masterpiece}}} {{{{best}}}}",
		"{{best quality, 4k}} fox":       "{{best quality, 4k}} fox",
		`\{{mood}} fox`:                  "{{mood}} fox",
		"{{}} { } {{":                    "{{}} { } {{",
		"{{x\ny}}":                       "{{x\ny}}",
		"{{x}}}":                         "{{x}}}",
	} {
		p := parse(t, text)
		got, _, errs := p.Render(nil)
		if got != want || len(errs) > 0 || len(p.Variables()) > 0 {
			t.Errorf("%q renders as %q, not %q (%v)", text, got, want, errs)
		}
	}
	if w := parse(t, "{{hair color}} fox").Warnings; len(w) != 1 || !strings.Contains(w[0], "hair color") {
		t.Errorf("no warning about a name with a space: %v", w)
	}
}

func TestTemplate_ErrorsSayWhatIsAllowed(t *testing.T) {
	for text, want := range map[string]string{
		"{{x:strnig}}":                   "no known type",
		"{{x:enum()}}":                   "no options",
		"{{x:integer(1,2)}}":             "only the type enum",
		"{{x:integer|many}}":             "Expected an integer",
		"{{x:enum(a,b)|c}}":              "one of a, b",
		"{{x|a}} {{x|b}}":                "two different defaults",
		"{{x:integer}} {{x:number}}":     "two different types",
		"{{x:enum(a,b)}} {{x:enum(a)}}":  "two different types",
		"{{x|many}} {{x:integer}}":       "Expected an integer",
		strings.Repeat("x", 20_001):      "at most 20000",
		strings.Repeat("{{x:bad}} ", 12): "no known type",
	} {
		_, errs := prompt.Parse(text)
		if len(errs) == 0 || !strings.Contains(errs[0].Message, want) || errs[0].Field != "prompt_text" {
			t.Errorf("%.40q: %v, want %q", text, errs, want)
		}
	}
}

func TestRender_ReportsAllThatIsWrongAtOnce(t *testing.T) {
	p := parse(t, "{{a}} {{b:integer}} {{c:enum(x, y)}} {{d|calm}} {{e:number}} {{f}}")
	_, _, errs := p.Render(map[string]any{"b": "three", "c": "z", "nope": 1, "zip": nil, "e": json.Number("1.25"), "f": []any{}, "d": " "})
	var got []string
	for _, e := range errs {
		got = append(got, e.Field+" "+e.Code)
	}
	want := []string{"variables.a required", "variables.b type", "variables.c enum", "variables.d required", "variables.f type", "variables.nope unknown", "variables.zip unknown"}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	text, used, errs := p.Render(map[string]any{"a": "{{b}}", "b": 3, "c": "x", "e": 2.5, "f": true})
	if text != "{{b}} 3 x calm 2.5 true" || len(errs) > 0 || used["d"] != "calm" {
		t.Errorf("%q %v %v", text, used, errs)
	}
}

func TestRender_RefusesTextsWithoutBound(t *testing.T) {
	if _, _, errs := parse(t, strings.Repeat("{{a}} ", 50)).Render(map[string]any{"a": strings.Repeat("x", 5000)}); len(errs) != 1 || errs[0].Field != "variables" {
		t.Errorf("%v", errs)
	}
	if _, _, errs := parse(t, "{{a}}").Render(map[string]any{"a": strings.Repeat("x", 5001)}); len(errs) != 1 || errs[0].Code != "length" {
		t.Errorf("%v", errs)
	}
}
