package pipeline

import (
	"vitrine/library"
	"vitrine/pipeline/expr"
	"vitrine/store"
)

// setField sets a field to a value.
type setField struct {
	Field string `json:"field" minLength:"1" maxLength:"210" doc:"title, description, status, tags, rating, favorite or metadata.NAME."`
	Value any    `json:"value" doc:"Null empties the field."`
}

var kindSetField = newKind[setField](Kind{Type: "set_field", Category: Transform, Doc: "Sets a field of assets to a value.", Args: []string{"field", "value"},
	Example: map[string]any{"field": "metadata.project", "value": "spring"}})

func (s *setField) check(c *checking) []library.FieldError {
	if errs := checkField(c.at+".field", s.Field, true); len(errs) > 0 {
		return errs
	}
	if _, isObject := s.Value.(map[string]any); isObject {
		return []library.FieldError{{Field: c.at + ".value", Code: "type", Message: "Expected a text, a number, true, false, a list of texts or null."}}
	}
	// What no asset can have is refused before the run.
	if err := setValue(&Row{Facts: &store.AssetFacts{}}, s.Field, expr.OfJSON(s.Value)); err != nil {
		return []library.FieldError{{Field: c.at + ".value", Code: "range", Message: "This value cannot be set: " + err.Error() + "."}}
	}
	return nil
}

func (s *setField) kinds() store.FactKinds { return store.FactKinds{} }

func (s *setField) edit(_ *exec, r *Row) error { return setValue(r, s.Field, expr.OfJSON(s.Value)) }
