package pipeline

import (
	"vitrine/library"
)

// CheckSaved reports what is wrong with a pipeline that is to be saved. Samples stand for
// variables without a default, and what is wrong with a text only because of a sample is
// found when it is run.
func CheckSaved(p *library.Pipeline) []library.FieldError {
	if errs := CheckVars("vars", p.Vars, p.Stages); len(errs) > 0 {
		return errs
	}
	filled, err := Fill("vars", p.Stages, p.Vars, nil, true)
	if err != nil {
		return library.AsError(err).Fields
	}
	if _, err := Parse(filled, Options{}); err != nil {
		var errs []library.FieldError
		open := openVars(p)
		for _, e := range library.AsError(err).Fields {
			if !open || !isValue(e.Code) {
				errs = append(errs, e)
			}
		}
		if len(errs) > 0 {
			return errs
		}
	}
	for i, s := range p.Stages {
		if k := LookupKind(s.Type); k != nil {
			p.Stages[i].Type = k.Type
		}
		if s.Config == nil {
			p.Stages[i].Config = map[string]any{}
		}
	}
	return nil
}

// openVars reports whether a pipeline has variables without a default.
func openVars(p *library.Pipeline) bool {
	for _, v := range p.Vars {
		if v.Default == nil {
			return true
		}
	}
	return false
}

// isValue reports whether an error is about a value rather than about what there is.
func isValue(code string) bool {
	return code == "format" || code == "pattern" || code == "enum" || code == "range" || code == "length" || code == "type"
}
