package assets

import (
	"fmt"
	"unicode/utf8"

	"vitrine/library"
)

// tagErrors checks tags by what is left of them once cleaned: a tag of blanks is
// no tag.
func tagErrors(field string, tags []string) []library.FieldError {
	var errs []library.FieldError
	for i, t := range tags {
		switch n := utf8.RuneCountInString(library.CleanTag(t)); {
		case n == 0:
			errs = append(errs, library.FieldError{Field: fmt.Sprintf("%s[%d]", field, i), Code: "length",
				Message: "A tag needs at least 1 character that is not a space."})
		case n > library.MaxTag:
			errs = append(errs, library.FieldError{Field: fmt.Sprintf("%s[%d]", field, i), Code: "length",
				Message: fmt.Sprintf("A tag has at most %d characters; this one has %d.", library.MaxTag, n)})
		}
	}
	return errs
}
