package query

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"vitrine/internal/randtest"
	"vitrine/library"
)

const (
	tenantA = library.TenantID("11111111-1111-1111-1111-111111111111")
	tenantB = library.TenantID("22222222-2222-2222-2222-222222222222")
)

func isTooComplex(err error) bool {
	var f *library.Error
	return errors.As(err, &f) && f.Kind == library.KindInvalid && f.Code == library.CodeQueryTooComplex
}

func TestProperty_AnyTextIsReadLeniently(t *testing.T) {
	t.Parallel()
	randtest.Check(t, func(t *rapid.T) {
		text := queryText(14).Draw(t, "text")
		q, err := Parse(text, Options{})
		if err != nil {
			if !isTooComplex(err) {
				t.Fatalf("Parse(%q) = %v", text, err)
			}
			return
		}
		for _, w := range q.Warnings {
			if w.Offset < 0 || w.Length < 0 || w.Offset+w.Length > len(text) || w.RuneOffset > w.Offset || w.Message == "" {
				t.Fatalf("Parse(%q): warning %+v points outside the text or says nothing", text, w)
			}
			if utf8.ValidString(text) && !utf8.ValidString(text[w.Offset:w.Offset+w.Length]) {
				t.Fatalf("Parse(%q): warning %+v marks a part of a character", text, w)
			}
		}
		checkShape(t, text, q.Tree, true)
	})
}

// checkShape holds what every later stage relies on: constants only at the top,
// lists of two or more, no list in a list of its kind, no NOT of a NOT.
func checkShape(t *rapid.T, text string, n Node, top bool) {
	switch n := n.(type) {
	case *Const:
		if !top {
			t.Fatalf("Parse(%q): a constant inside the tree", text)
		}
	case *Not:
		if _, ok := n.Child.(*Not); ok {
			t.Fatalf("Parse(%q): NOT of NOT", text)
		}
		checkShape(t, text, n.Child, false)
	case *And:
		if len(n.Children) < 2 {
			t.Fatalf("Parse(%q): and of %d", text, len(n.Children))
		}
		for _, c := range n.Children {
			if _, ok := c.(*And); ok {
				t.Fatalf("Parse(%q): and in and", text)
			}
			checkShape(t, text, c, false)
		}
	case *Or:
		if len(n.Children) < 2 {
			t.Fatalf("Parse(%q): or of %d", text, len(n.Children))
		}
		for _, c := range n.Children {
			if _, ok := c.(*Or); ok {
				t.Fatalf("Parse(%q): or in or", text)
			}
			checkShape(t, text, c, false)
		}
	}
}

func TestProperty_PrintedTreeIsReadAsTheSameTree(t *testing.T) {
	t.Parallel()
	randtest.Check(t, func(t *rapid.T) {
		text := queryText(14).Draw(t, "text")
		q, err := Parse(text, Options{})
		if err != nil {
			return
		}
		printed := q.Repaired()
		if len(printed) > MaxBytes {
			return
		}
		again, err := Parse(printed, Options{Strict: true, StrictFields: true})
		if err != nil {
			t.Fatalf("%q was printed as %q, which is refused: %v", text, printed, err)
		}
		if got, want := again.Canonical(), q.Canonical(); got != want {
			t.Fatalf("%q was printed as %q\n got %s\nwant %s", text, printed, got, want)
		}
	})
}

func TestProperty_StrictReadingIsLenientReadingOrAFault(t *testing.T) {
	t.Parallel()
	randtest.Check(t, func(t *rapid.T) {
		text := queryText(8).Draw(t, "text")
		lenient, err := Parse(text, Options{})
		if err != nil {
			return
		}
		slips := 0
		for _, w := range lenient.Warnings {
			if !w.text() {
				slips++
			}
		}
		strict, err := Parse(text, Options{Strict: true})
		switch {
		case slips == 0 && err != nil:
			t.Fatalf("strict Parse(%q) = %v, though only unknown fields were found", text, err)
		case slips == 0 && strict.Canonical() != lenient.Canonical():
			t.Fatalf("strict Parse(%q) = %s, lenient %s", text, strict.Canonical(), lenient.Canonical())
		case slips > 0:
			var f *library.Error
			if !errors.As(err, &f) || (f.Code != library.CodeQuerySyntax && f.Code != library.CodeQueryValue) {
				t.Fatalf("strict Parse(%q) = %v, want a query error for %v", text, err, lenient.Warnings)
			}
			if p, ok := f.Extra.(Problem); !ok || len(p.Warnings) != len(lenient.Warnings) {
				t.Fatalf("strict Parse(%q): Extra = %#v", text, f.Extra)
			}
		}
	})
}

func requests() *rapid.Generator[Request] {
	return rapid.Custom(func(t *rapid.T) Request {
		return Request{
			Mode: rapid.SampledFrom(Modes).Draw(t, "mode"), Tenant: tenantA, Limit: 20,
			Trashed: rapid.Bool().Draw(t, "trashed"), SeesPrivate: rapid.Bool().Draw(t, "private"),
			Viewer: rapid.SampledFrom([]string{"", "ann"}).Draw(t, "viewer"), Highlight: true,
		}
	})
}

func TestProperty_TheTenantWallStandsOutermost(t *testing.T) {
	t.Parallel()
	randtest.Check(t, func(t *rapid.T) {
		text := queryText(14).Draw(t, "text")
		q, err := Parse(text, Options{})
		if err != nil {
			return
		}
		req := requests().Draw(t, "request")
		s, err := Compile(q, req)
		if err != nil {
			if !isTooComplex(err) {
				t.Fatalf("Compile(%q) = %v", text, err)
			}
			return
		}
		for name, part := range map[string]map[string]any{"query": s.Query, "filter": s.KNNFilter} {
			if len(part) != 1 {
				t.Fatalf("%s of %q has %d top clauses", name, text, len(part))
			}
			b := part["bool"].(clause)
			if !reflect.DeepEqual(b["filter"].([]clause)[0], term("tenant_id", string(tenantA))) {
				t.Fatalf("%s of %q: the first filter is %v, not the tenant", name, text, b["filter"].([]clause)[0])
			}
			if _, ok := b["should"]; ok {
				t.Fatalf("%s of %q: a should beside the tenant", name, text)
			}
			if !reflect.DeepEqual(b["must_not"].([]clause)[0], term("deleted", true)) {
				t.Fatalf("%s of %q: tombstones are not left out", name, text)
			}
		}
		body, err := json.Marshal(s.Body())
		if err != nil {
			t.Fatalf("the body of %q does not marshal: %v", text, err)
		}
		for _, banned := range []string{`"regexp":`, `"query_string":`, `"simple_query_string":`, `"script":`, `"script_score":`} {
			if strings.Contains(string(body), banned) {
				t.Fatalf("the body of %q has %s", text, banned)
			}
		}
	})
}

func TestProperty_CompilingLeavesTheQueryAsItWas(t *testing.T) {
	t.Parallel()
	randtest.Check(t, func(t *rapid.T) {
		q, err := Parse(queryText(10).Draw(t, "text"), Options{})
		if err != nil {
			return
		}
		before := q.Canonical()
		req := requests().Draw(t, "request")
		first, err := Compile(q, req)
		if err != nil {
			return
		}
		second, _ := Compile(q, req)
		if q.Canonical() != before {
			t.Fatalf("Compile changed the tree from %s to %s", before, q.Canonical())
		}
		if !reflect.DeepEqual(first.Body(), second.Body()) || !reflect.DeepEqual(first.Terms(), second.Terms()) || !reflect.DeepEqual(first.KNNFilter, second.KNNFilter) {
			t.Fatalf("compiling %q twice gives two results", q.Text)
		}
	})
}

func TestProperty_DatesStayInsideTheirUnit(t *testing.T) {
	t.Parallel()
	zones := []*time.Location{time.UTC, time.FixedZone("", 14*3600), time.FixedZone("", -12*3600)}
	randtest.Check(t, func(t *rapid.T) {
		day := time.Date(rapid.IntRange(1000, 9999).Draw(t, "y"), time.Month(rapid.IntRange(1, 12).Draw(t, "m")), rapid.IntRange(1, 28).Draw(t, "d"), 0, 0, 0, 0, time.UTC)
		zone := rapid.SampledFrom(zones).Draw(t, "zone")
		for _, layout := range []string{"2006", "2006-01", "2006-01-02"} {
			v := day.Format(layout)
			start, end, ok := dateUnit(v, zone)
			if !ok || !start.Before(end) || start.In(zone).Format(layout) != v {
				t.Fatalf("dateUnit(%s) = %v, %v, %v", v, start, end, ok)
			}
			if next := end.Add(time.Millisecond).In(zone); end.Year() < 9999 && (next.Format(layout) == v || end.In(zone).Format(layout) != v) {
				t.Fatalf("dateUnit(%s) ends at %v, not with the unit", v, end)
			}
		}
	})
}
