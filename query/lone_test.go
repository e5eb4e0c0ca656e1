package query

import (
	"errors"
	"testing"

	"vitrine/library"
)

func TestParse_OperatorsAloneAreWordsAndNotEverything(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"OR": "T(OR)", "NOT": "T(NOT)", "AND": "T(AND)", "(OR)": "T(OR)", " OR OR ": "T(OR)", "NOT AND": "and(T(NOT), T(AND))",
		"OR ,": "and(T(OR), T(,))", `"" OR`: "T(OR)", "a OR": "T(a)", "OR a": "T(a)",
	} {
		q := parsed(t, text)
		if got := q.Canonical(); got != want {
			t.Errorf("%q is read as %s, want %s", text, got, want)
		}
		warned := false
		for _, w := range q.Warnings {
			warned = warned || w.Code == DanglingOperator
		}
		if !warned {
			t.Errorf("%q: no warning of an operator without an operand: %v", text, q.Warnings)
		}
		if _, err := Parse(text, Options{Strict: true}); err == nil {
			t.Errorf("strict reading takes %q", text)
		}
	}
}

func TestParse_PunctuationAloneIsNoTerm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"fox ,": "T(fox)", ", fox": "T(fox)", "fox , cat": "and(T(fox), T(cat))", "fox -, cat": "and(T(fox), T(cat))", "fox -> cat": "and(T(fox), T(cat))",
		"fox OR ,": "T(fox)", "NOT , fox": "T(fox)", "tag:fox ,": "tag=fox", "tag:(fox , cat)": "and(tag=fox, tag=cat)",
		",": "T(,)", "-,": "T(-,)", `fox \, cat`: "and(T(fox), T(,), T(cat))", `fox ","`: "and(T(fox), P(,))", "tag:^_^": "tag=^_^",
		"? \u0300": "and(T(?), T(\u0300))", "note:,": "T(note)", "-*": "FALSE", "fox -(cat)": "and(T(fox), not(T(cat)))",
	} {
		q := parsed(t, text)
		if got := q.Canonical(); got != want {
			t.Errorf("%q is read as %s, want %s", text, got, want)
		}
		if again := parsed(t, q.Repaired()).Canonical(); again != want {
			t.Errorf("%q is printed as %q, which is read as %s", text, q.Repaired(), again)
		}
	}
}

func TestParse_AFieldWithoutAValueIsIgnoredUnlessStrict(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"tag:": "ALL", "-tag:": "ALL", "NOT tag:": "ALL", `tag:""`: "ALL", "tag:()": "ALL", "cat tag:": "T(cat)", "cat -tag:": "T(cat)", "cat OR tag:": "T(cat)",
		"cat OR tag: OR dog": "or(T(cat), T(dog))", "NOT (cat OR tag:)": "not(T(cat))", "cat steps:>": "T(cat)", "cat created:..": "T(cat)",
		"cat similar:": "T(cat)", "status:Nope tag:": "FALSE", "-status:Nope": "FALSE",
	} {
		q := parsed(t, text)
		if got := q.Canonical(); got != want {
			t.Errorf("%q is read as %s, want %s", text, got, want)
		}
		_, err := Parse(text, Options{Strict: true})
		var e *library.Error
		if !errors.As(err, &e) {
			t.Errorf("strict reading takes %q", text)
			continue
		}
		if p := e.Extra.(Problem); p.Suggestion == "*" {
			t.Errorf("strict reading of %q proposes to find everything", text)
		}
	}
}

func TestParse_TypingAConditionNeverEmptiesTheResults(t *testing.T) {
	t.Parallel()
	const whole = `fox tag:cat OR -lora:"detail" (steps:>20 cfg:7..8) ,`
	for n := range len(whole) {
		s, err := Compile(parsed(t, whole[:n]), Request{Tenant: tenantA})
		if err != nil || s.MatchesNothing {
			t.Errorf("while %q is typed: nothing is found, %v", whole[:n], err)
		}
	}
}
