package pipeline

import (
	"vitrine/library"
)

// count counts the set.
type count struct {
	GroupBy string `json:"group_by,omitempty" maxLength:"210" doc:"A field: counts for each of its values too."`
}

var kindCount = newKind[count](Kind{Type: "count", Category: Summarize, Doc: "Counts the assets, in all or by a field.", Args: []string{"group_by"}, Example: map[string]any{"group_by": "status"}})

func (s *count) check(c *checking) []library.FieldError {
	if s.GroupBy == "" {
		return nil
	}
	return checkField(c.at+".group_by", s.GroupBy, false)
}

func (s *count) run(x *exec) error {
	if s.GroupBy != "" {
		return x.group([]string{s.GroupBy}, defaultTop)
	}
	n := x.inputCount()
	x.trace().Result = &library.StageResult{Columns: []string{"count"}, Rows: [][]any{{n}}, Total: n}
	return nil
}
