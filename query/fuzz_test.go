package query

import (
	"encoding/json"
	"testing"

	"vitrine/query/internal/samples"
)

// FuzzQuery reads, prints and compiles any text in every mode. Nothing may
// panic, only limits may refuse, and what was printed is read as the same tree.
func FuzzQuery(f *testing.F) {
	for i, p := range samples.Pieces {
		f.Add(p+" "+samples.Pieces[(i*7+3)%len(samples.Pieces)], uint8(i))
	}
	for i, t := range samples.Terms {
		f.Add(t, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, mode uint8) {
		q, err := Parse(text, Options{})
		if err != nil {
			if !isTooComplex(err) {
				t.Fatalf("Parse(%q) = %v", text, err)
			}
			return
		}
		for _, w := range q.Warnings {
			if w.Offset < 0 || w.Length < 0 || w.Offset+w.Length > len(text) {
				t.Fatalf("Parse(%q): %+v points outside the text", text, w)
			}
		}
		if printed := q.Repaired(); len(printed) <= MaxBytes {
			again, err := Parse(printed, Options{Strict: true, StrictFields: true})
			if err != nil || again.Canonical() != q.Canonical() {
				t.Fatalf("%q was printed as %q, read again as %v, %v", text, printed, again, err)
			}
		}
		s, err := Compile(q, Request{Mode: Modes[int(mode)%len(Modes)], Tenant: tenantA, Highlight: true})
		if err != nil {
			if !isTooComplex(err) {
				t.Fatalf("Compile(%q) = %v", text, err)
			}
			return
		}
		if _, err := json.Marshal(s.Body()); err != nil {
			t.Fatalf("the body of %q does not marshal: %v", text, err)
		}
	})
}
