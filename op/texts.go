package op

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/library"
)

// textErrors finds strings that no text may be. U+0000 and bytes that are not UTF-8 fit
// into no text of the database, so that without this check they would fail late and as
// our defect. Unseen characters (library.Unseen) are refused where people read what was
// sent: in every argument that the schema describes, save those that quote others.
func textErrors(s *huma.Schema, path string, v any) (errs []library.FieldError) {
	switch v := v.(type) {
	case string:
		if problem := textProblem(v, s != nil); problem != "" {
			errs = append(errs, library.FieldError{Field: shorten(path), Code: "format", Message: problem})
		}
	case []any:
		var items *huma.Schema
		if s != nil {
			items = s.Items
		}
		for i, x := range v {
			switch x.(type) { // a vector has thousands of numbers, none of which needs a path
			case string, []any, map[string]any:
				if len(errs) < maxFieldErrors {
					errs = append(errs, textErrors(items, fmt.Sprintf("%s[%d]", path, i), x)...)
				}
			}
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if problem := textProblem(k, false); problem != "" {
				errs = append(errs, library.FieldError{Field: shorten(strings.ToValidUTF8(path, "")), Code: "format", Message: "A name in it is not allowed: " + problem})
			} else if len(errs) < maxFieldErrors {
				var member *huma.Schema
				if s != nil && !quotes[k] {
					member = s.Properties[k]
				}
				errs = append(errs, textErrors(member, strings.TrimPrefix(path+"."+k, "."), v[k])...)
			}
		}
	}
	return errs[:min(len(errs), maxFieldErrors)]
}

// quotes are arguments that hold text which others wrote: what is searched for, and
// files. Objects without a schema are such too.
var quotes = map[string]bool{"query": true, "text": true}

// notBlank are arguments that name something: a name of blanks is none.
var notBlank = map[string]bool{"tags": true, "name": true, "new_name": true, "display_name": true}

// TextPattern returns the pattern (ECMA-262) of what textErrors lets pass as the value of an
// argument.
func TextPattern(name string) string {
	const unseen = `\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069`
	switch {
	case quotes[name]:
		return `^[^\u0000]*$`
	case notBlank[name]:
		return "^[^" + unseen + "]*[^\\s" + unseen + "][^" + unseen + "]*$"
	}
	return "^[^" + unseen + "]*$"
}

// textProblem reports why a text is refused, or "".
func textProblem(text string, read bool) string {
	switch {
	case !utf8.ValidString(text):
		return "The text is not valid UTF-8."
	case strings.IndexByte(text, 0) >= 0:
		return "The character U+0000 is not allowed."
	case !read:
		return ""
	}
	if i := strings.IndexFunc(text, library.Unseen); i >= 0 {
		r, _ := utf8.DecodeRuneInString(text[i:])
		return fmt.Sprintf("The character %U is not allowed: readers do not see it.", r)
	}
	return ""
}

// repeatedName returns a name that an object of a valid JSON text has twice. Readers
// differ in which of the two values they take, so a check by one says nothing about another.
func repeatedName(raw []byte) (name string, repeated bool) {
	var open []map[string]bool // the names of each open object; nil for a list
	expectName := false
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{':
			open, expectName = append(open, map[string]bool{}), true
		case '[':
			open, expectName = append(open, nil), false
		case '}', ']':
			open, expectName = open[:len(open)-1], false
		case ',':
			expectName = len(open) > 0 && open[len(open)-1] != nil
		case '"':
			end := endOfString(raw, i)
			if expectName {
				var name string
				if json.Unmarshal(raw[i:end], &name) == nil && open[len(open)-1][name] {
					return name, true
				}
				open[len(open)-1][name], expectName = true, false
			}
			i = end - 1
		}
	}
	return "", false
}

// endOfString returns where a JSON string that begins at a place ends.
func endOfString(raw []byte, start int) int {
	for i := start + 1; ; i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}
