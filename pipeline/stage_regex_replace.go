package pipeline

import (
	"regexp"
	"slices"

	"vitrine/library"
	"vitrine/pipeline/expr"
	"vitrine/store"
)

// regexReplace replaces what a pattern finds in a field.
type regexReplace struct {
	Field       string `json:"field" minLength:"1" maxLength:"210" doc:"title, description, tags or metadata.NAME."`
	Pattern     string `json:"pattern" minLength:"1" maxLength:"500" doc:"A regular expression in the syntax of RE2."`
	Replacement string `json:"replacement" maxLength:"500" doc:"$1 stands for the first group, ${name} for a named one, $$ for a dollar sign."`
	Flags       string `json:"flags,omitempty" pattern:"^[ims]*$" maxLength:"3" doc:"i: whatever the case. m: ^ and $ match at lines. s: . matches line ends."`

	re *regexp.Regexp
}

var kindRegexReplace = newKind[regexReplace](Kind{Type: "regex_replace", Category: Transform, Doc: "Replaces what a pattern finds in a text field.", Args: []string{"field", "pattern", "replacement"},
	Example: map[string]any{"field": "title", "pattern": `^IMG_(\d+)$`, "replacement": "Image $1"}})

func (s *regexReplace) check(c *checking) (errs []library.FieldError) {
	errs = checkField(c.at+".field", s.Field, true)
	if f := lookupField(s.Field); f != nil && len(errs) == 0 && f.Name != "title" && f.Name != "description" && f.Name != "tags" {
		errs = append(errs, library.FieldError{Field: c.at + ".field", Code: "enum", Message: "Allowed are title, description, tags and metadata.NAME.", Hint: "set_field sets other fields."})
	}
	var err error
	if s.re, err = expr.Pattern(s.Pattern, s.Flags); err != nil {
		errs = append(errs, library.FieldError{Field: c.at + ".pattern", Code: "format", Message: "The pattern cannot be read: " + err.Error() + ".", Hint: "The syntax is that of RE2, without back references and look-around."})
	}
	return errs
}

func (s *regexReplace) kinds() store.FactKinds { return store.FactKinds{} }

// maxReplaced bounds what a replacement may grow a text to.
const maxReplaced = 20_000

func (s *regexReplace) edit(_ *exec, r *Row) error {
	v := r.Field(s.Field)
	switch v.Type() {
	case expr.List:
		list := slices.Clone(v.Texts())
		for i, t := range list {
			var err error
			if list[i], err = s.replace(t); err != nil {
				return err
			}
		}
		return setValue(r, s.Field, expr.OfList(list))
	case expr.Text:
		now, err := s.replace(v.String())
		if err != nil {
			return err
		}
		return setValue(r, s.Field, expr.OfText(now))
	}
	return nil // nothing to replace in
}

func (s *regexReplace) replace(text string) (string, error) {
	found := s.re.FindAllStringSubmatchIndex(text, -1)
	if found == nil {
		return text, nil
	}
	var out []byte
	at := 0
	for _, m := range found {
		out = append(out, text[at:m[0]]...)
		out = s.re.ExpandString(out, s.Replacement, text, m)
		if at = m[1]; len(out) > maxReplaced {
			return "", cannot("%s would have more than %d bytes", s.Field, maxReplaced)
		}
	}
	return string(append(out, text[at:]...)), nil
}
