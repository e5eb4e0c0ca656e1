package query

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/library"
)

func queryError(t *testing.T, err error) *library.Error {
	t.Helper()
	var f *library.Error
	if !errors.As(err, &f) {
		t.Fatalf("error %v is no error", err)
	}
	return f
}

func TestParse_LimitsAnswerWithTheirNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, fits, passes, number string }{
		{"bytes", strings.Repeat("a", MaxBytes), strings.Repeat("a", MaxBytes+1), "4096"},
		{"leaves", strings.Repeat("a ", MaxLeaves), strings.Repeat("a ", MaxLeaves+1), "256"},
		{"field values", strings.Repeat("tag:a ", MaxLeaves), strings.Repeat("tag:a ", MaxLeaves+1), "256"},
		{"depth", strings.Repeat("(", MaxDepth) + "a" + strings.Repeat(")", MaxDepth), strings.Repeat("(", MaxDepth+1) + "a" + strings.Repeat(")", MaxDepth+1), "32"},
		{"open depth", strings.Repeat("(", MaxDepth) + "a", strings.Repeat("(", MaxDepth+1) + "a", "32"},
		{"globs", strings.Repeat("ab* ", MaxGlobs), strings.Repeat("ab* ", MaxGlobs+1), "8"},
		{"wildcards of a value", strings.Repeat("ab*", MaxStars), strings.Repeat("ab*", MaxStars+1), "8"},
	} {
		if _, err := Parse(c.fits, Options{}); err != nil {
			t.Errorf("%s: a query at the limit is refused: %v", c.name, err)
		}
		for _, opts := range []Options{{}, {Strict: true}} {
			_, err := Parse(c.passes, opts)
			if err == nil {
				t.Errorf("%s: a query beyond the limit is read", c.name)
				continue
			}
			f := queryError(t, err)
			if f.Kind != library.KindInvalid || f.Code != library.CodeQueryTooComplex || !strings.Contains(f.Detail, c.number) {
				t.Errorf("%s: error %v does not name the limit %s", c.name, f, c.number)
			}
		}
	}
}

func TestParse_WarningsSayWhereAndWhatInstead(t *testing.T) {
	t.Parallel()
	q, err := Parse("猫 tga:x created:2024-13", Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Warning{
		{Code: UnknownField, Field: "tga", Offset: 4, Length: 4, RuneOffset: 2, Suggestion: "tag"},
		{Code: BadValue, Field: "created", Offset: 10, Length: 15, RuneOffset: 8, Suggestion: "created:2024-01-01..2024-01-31"},
	}
	got := append([]Warning(nil), q.Warnings...)
	for i := range got {
		if got[i].Message == "" {
			t.Errorf("warning %d says nothing", i)
		}
		got[i].Message = ""
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestParse_StrictFaultsTeach(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, code, suggestion string }{
		{"(a OR b", library.CodeQuerySyntax, "a OR b"},
		{"a AND", library.CodeQuerySyntax, "a"},
		{`"red cat`, library.CodeQuerySyntax, `"red cat"`},
		{"status:aproved", library.CodeQueryValue, "status:Approved"},
		{"created:2024-03..2024-01", library.CodeQueryValue, "created:2024-01..2024-03"},
		{"steps:many", library.CodeQueryValue, "steps:20..30"},
	} {
		_, err := Parse(c.text, Options{Strict: true})
		f := queryError(t, err)
		p := f.Extra.(Problem)
		if f.Code != c.code || p.Suggestion != c.suggestion || len(p.Expected) == 0 || len(p.Warnings) == 0 {
			t.Errorf("%s: %s with %+v, want %s and the suggestion %s", c.text, f.Code, p, c.code, c.suggestion)
		}
	}
}

func TestParse_UnknownFieldsAreRefusedOnlyOnRequest(t *testing.T) {
	t.Parallel()
	if _, err := Parse("foo:bar", Options{Strict: true}); err != nil {
		t.Errorf("strict reading refuses an unknown field: %v", err)
	}
	_, err := Parse("foo:bar", Options{StrictFields: true})
	if f := queryError(t, err); f.Code != library.CodeQuerySyntax {
		t.Errorf("strict fields: %v", f)
	}
}

func TestParse_MessagesDoNotRepeatLongValues(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("s", 300)
	q, err := Parse("status:"+secret+" "+secret+":x steps:"+secret, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range q.Warnings {
		if strings.Contains(w.Message, secret) {
			t.Errorf("the message of %s repeats the whole value", w.Key())
		}
	}
	if len(q.Warnings) != 3 {
		t.Errorf("warnings = %v", q.Warnings)
	}
}

func TestParse_DatesAreReadInTheGivenZone(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 9*3600)
	q, err := Parse("created:2024-01-31", Options{Zone: zone})
	if err != nil {
		t.Fatal(err)
	}
	p := q.Tree.(*Pred)
	if got, want := instant(p.Lo.Start), "2024-01-30T15:00:00.000Z"; got != want {
		t.Errorf("the day begins at %s, want %s", got, want)
	}
	if got, want := instant(p.Hi.End), "2024-01-31T14:59:59.999Z"; got != want {
		t.Errorf("the day ends at %s, want %s", got, want)
	}
}

func TestParse_InvalidUTF8IsReadAsBlanks(t *testing.T) {
	t.Parallel()
	q, err := Parse("red\xffcat", Options{})
	if err != nil || q.Canonical() != "and(T(red), T(cat))" || q.Warnings[0].Code != InvalidEncoding {
		t.Errorf("got %v, %v", q, err)
	}
}

func TestParse_DatesByHowLongAgo(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, 3, 1, 1, 30, 0, 0, time.UTC)
	west := time.FixedZone("west", -2*3600) // where it is still February 29
	for text, want := range map[string]struct{ from, to string }{
		"created:today":     {"2024-02-29T02:00:00.000Z", "2024-03-01T01:59:59.999Z"},
		"created:yesterday": {"2024-02-28T02:00:00.000Z", "2024-02-29T01:59:59.999Z"},
		"created:7d":        {"2024-02-22T02:00:00.000Z", ""},
		"created:2w":        {"2024-02-15T02:00:00.000Z", ""},
		"created:1w..2d":    {"2024-02-22T02:00:00.000Z", "2024-02-28T01:59:59.999Z"},
		"created:1m":        {"2024-01-29T02:00:00.000Z", ""},
		"created:>=1y":      {"2023-03-01T02:00:00.000Z", ""},
	} {
		q, err := Parse(text, Options{Strict: true, Zone: west, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		p, from, to := q.Tree.(*Pred), "", ""
		if p.Lo != nil {
			from = instant(p.Lo.Start)
		}
		if p.Hi != nil {
			to = instant(p.Hi.End)
		}
		if from != want.from || to != want.to {
			t.Errorf("%s is from %s to %s, want from %s to %s", text, from, to, want.from, want.to)
		}
	}
}
