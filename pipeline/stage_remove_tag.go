package pipeline

import (
	"path"
	"slices"
	"strings"

	"vitrine/library"
	"vitrine/store"
)

// removeTag takes tags away.
type removeTag struct {
	Tags []string `json:"tags" minItems:"1" maxItems:"50" doc:"The tags; * stands for any text and ? for one character."`
}

var kindRemoveTag = newKind[removeTag](Kind{Type: "remove_tag", Category: Transform, Doc: "Takes tags away from assets.", Args: []string{"tags"}, Example: map[string]any{"tags": []any{"wip*"}}})

func (s *removeTag) check(c *checking) (errs []library.FieldError) {
	for _, t := range s.Tags {
		if _, err := path.Match(tagPattern(t), ""); err != nil {
			errs = append(errs, library.FieldError{Field: c.at + ".tags", Code: "format", Message: "A tag with a wildcard cannot be read.", Hint: "Write wip* or draft-?."})
		}
	}
	return append(errs, checkTagList(c, s.Tags)...)
}

// tagPattern is a tag as a pattern of package path: of the wildcards only * and ? count, and a
// slash is a character as any other.
func tagPattern(tag string) string {
	return strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, "/", "\x00").Replace(library.FoldTag(tag))
}

func (s *removeTag) kinds() store.FactKinds { return store.FactKinds{} }

func (s *removeTag) edit(_ *exec, r *Row) error {
	r.Tags = slices.DeleteFunc(slices.Clone(r.Tags), func(have string) bool {
		return slices.ContainsFunc(s.Tags, func(tag string) bool {
			ok, _ := path.Match(tagPattern(tag), strings.ReplaceAll(library.FoldTag(have), "/", "\x00"))
			return ok
		})
	})
	return nil
}
