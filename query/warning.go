package query

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"vitrine/library"
)

// Codes of warnings. Those of values (BadValue and the ones after it) concern a
// known field, which Warning.Field names; UnknownField names the unknown one.
const (
	UnknownField     = "unknown_field"     // the prefix is no field; its value was read as text
	UnclosedParen    = "unclosed_paren"    // closed at the end
	UnopenedParen    = "unopened_paren"    // left out
	EmptyGroup       = "empty_group"       // (), left out
	UnclosedQuote    = "unclosed_quote"    // closed at the end
	DanglingOperator = "dangling_operator" // AND, OR or NOT without an operand: left out, or a word where nothing else is there
	DanglingEscape   = "dangling_escape"   // a backslash at the end, read as itself
	SpaceAfterColon  = "space_after_colon" // "tag: cat" was read as tag:cat
	TrailingComma    = "trailing_comma"    // behind a value, left out
	MissingColon     = "missing_colon"     // steps>20 was read as text: a condition is steps:>20
	NotAnOperator    = "not_an_operator"   // && and || mean nothing here
	QuestionMark     = "question_mark"     // inside a word, read as itself: the wildcard is *
	EmptyValue       = "empty_value"       // an empty phrase or a field without a value, left out
	InvalidEncoding  = "invalid_encoding"  // bytes that are no UTF-8, read as blanks
	BadValue         = "bad_value"         // the clause matches nothing
	NoSuchValue      = "no_such_value"     // the caller sees no asset with this value
	ReversedRange    = "reversed_range"    // the two ends were swapped
	ShortGlob        = "short_glob"        // fewer than two letters beside *: read as "has any value"
)

// Warning is one thing in a query text that was not read as it stands.
type Warning struct {
	Code       string `json:"code" doc:"Stable code, for example unknown_field or bad_value."`
	Field      string `json:"field,omitempty" doc:"The field concerned, when there is one."`
	Offset     int    `json:"offset" doc:"Where it begins, in bytes of UTF-8."`
	Length     int    `json:"length" doc:"How long it is, in bytes."`
	RuneOffset int    `json:"rune_offset" doc:"Where it begins, in characters."`
	Message    string `json:"message" doc:"What was wrong and how it was read."`
	Suggestion string `json:"suggestion,omitempty" doc:"What to write instead."`
}

// Key is the code, followed by a colon and the field when there is one. The test
// catalogues name warnings this way.
func (w Warning) Key() string {
	if w.Field == "" {
		return w.Code
	}
	return w.Code + ":" + w.Field
}

// text reports whether a warning says no more than that something was read as text.
// Strict reading accepts that too: the interface says so of unknown fields.
func (w Warning) text() bool {
	return w.Code == UnknownField || w.Code == MissingColon || w.Code == NotAnOperator || w.Code == QuestionMark
}

// maxWarnings is how many warnings of one code a query gets; more of the same
// teach nothing.
const maxWarnings = 20

func (r *reader) warn(code string, at span, format string, args ...any) *Warning {
	if r.counts == nil {
		r.counts = map[string]int{}
	}
	if r.counts[code]++; r.counts[code] > maxWarnings {
		return &Warning{}
	}
	r.warnings = append(r.warnings, Warning{
		Code: code, Offset: at.start, Length: at.end - at.start, Message: fmt.Sprintf(format, args...),
	})
	return &r.warnings[len(r.warnings)-1]
}

func (r *reader) sortedWarnings() []Warning {
	ws := r.warnings
	sort.SliceStable(ws, func(i, j int) bool { return ws[i].Offset < ws[j].Offset })
	bytes, runes := 0, 0
	for i := range ws {
		runes += utf8.RuneCountInString(r.text[bytes:ws[i].Offset])
		bytes = ws[i].Offset
		ws[i].RuneOffset = runes
	}
	return ws
}

// strictError turns the first offending warning into the answer of strict reading.
func strictError(q *Query, first Warning) *library.Error {
	code := library.CodeQuerySyntax
	switch first.Code {
	case BadValue, ReversedRange, ShortGlob:
		code = library.CodeQueryValue
	}
	detail := fmt.Sprintf("The query cannot be read strictly at character %d: %s", first.RuneOffset+1, first.Message)
	if first.Suggestion != "" {
		detail += " Suggestion: " + first.Suggestion
	}
	f := library.NewError(library.KindInvalid, code, "%s", detail)
	p := Problem{Warnings: q.Warnings, Expected: expected(first)}
	if code == library.CodeQuerySyntax && (first.Code != EmptyValue || first.Field == "") {
		p.Suggestion = q.Repaired()
	} else { // without the clause the query would find more
		p.Suggestion = first.Suggestion
	}
	f.Extra = p
	return f
}

// expected lists what may stand where a warning points.
func expected(w Warning) []string {
	switch w.Code {
	case UnclosedParen:
		return []string{")"}
	case UnclosedQuote:
		return []string{`"`}
	case UnopenedParen, DanglingOperator, EmptyGroup, DanglingEscape, InvalidEncoding:
		return []string{"a word", "a \"phrase\"", "field:value", "a (group)"}
	case UnknownField:
		return fieldNames()
	case SpaceAfterColon, TrailingComma, EmptyValue, BadValue, ReversedRange, ShortGlob:
		if f := LookupField(w.Field); f != nil {
			return f.Accepts()
		}
	}
	return nil
}

// excerpt shortens a value for a message: a message never repeats a long value.
func excerpt(s string) string {
	const most = 40
	s = strings.ToValidUTF8(s, "")
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
