package pipeline

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"vitrine/library"
	"vitrine/store"
)

// setTag adds tags, or replaces all tags by them.
type setTag struct {
	Tags []string `json:"tags" minItems:"1" maxItems:"50" doc:"The tags."`
	Mode string   `json:"mode,omitempty" enum:"add,replace" default:"add" doc:"replace takes all other tags away."`
}

var kindSetTag = newKind[setTag](Kind{Type: "set_tag", Category: Transform, Doc: "Adds tags to assets.", Args: []string{"tags"}, Example: map[string]any{"tags": []any{"best"}}})

func (s *setTag) check(c *checking) []library.FieldError { return checkTagList(c, s.Tags) }

// checkTagList reports tags that no asset can have.
func checkTagList(c *checking, tags []string) (errs []library.FieldError) {
	for i, t := range tags {
		if clean := library.CleanTag(t); clean == "" || utf8.RuneCountInString(clean) > library.MaxTag {
			errs = append(errs, library.FieldError{Field: fmt.Sprintf("%s.tags[%d]", c.at, i), Code: "length", Message: fmt.Sprintf("A tag has 1 to %d characters.", library.MaxTag)})
		}
	}
	return errs
}

func (s *setTag) kinds() store.FactKinds { return store.FactKinds{} }

func (s *setTag) edit(_ *exec, r *Row) error {
	have := r.Tags
	if s.Mode == "replace" {
		have = nil
	}
	tags := library.MergeTags(slices.Clone(have), s.Tags)
	if err := checkTags(tags); err != nil {
		return err
	}
	r.Tags = tags
	return nil
}
