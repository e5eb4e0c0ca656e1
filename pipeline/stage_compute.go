package pipeline

import (
	"errors"
	"time"

	"vitrine/library"
	"vitrine/pipeline/expr"
	"vitrine/store"
)

// compute sets a field to the value of an expression.
type compute struct {
	Field      string `json:"field" minLength:"1" maxLength:"210" doc:"title, description, status, tags, rating, favorite or metadata.NAME."`
	Expression string `json:"expression" minLength:"1" maxLength:"2000" doc:"Such as round(width / height, 2), or concat(tool, \" \", seed). A missing value empties the field."`

	expression *expr.Expr
}

var kindCompute = newKind[compute](Kind{Type: "compute", Category: Transform, Doc: "Sets a field of each asset to what an expression computes from its others.", Args: []string{"field", "expression"},
	Example: map[string]any{"field": "metadata.ratio", "expression": "round(width / height, 2)"}})

func (s *compute) check(c *checking) (errs []library.FieldError) {
	errs = checkField(c.at+".field", s.Field, true)
	e, err := parseExpression(c.at+".expression", s.Expression, c.now, expr.Parse)
	if s.expression = e; err != nil {
		return append(errs, *err)
	}
	f := lookupField(s.Field)
	if f == nil || e.Type == expr.Any || e.Type == f.Type || f.Type == expr.Text || f.Type == expr.List && e.Type == expr.Text {
		return errs
	}
	return append(errs, library.FieldError{Field: c.at + ".expression", Code: "type", Message: "The expression is a " + string(e.Type) + ", and " + f.Name + " takes a " + string(f.Type) + ".", Hint: "text(x) and number(x) convert."})
}

// parseExpression reads an expression and names where it is wrong.
func parseExpression(at, text string, now time.Time, parse func(string, expr.Fields, time.Time) (*expr.Expr, error)) (*expr.Expr, *library.FieldError) {
	e, err := parse(text, fieldType, now)
	var wrong *expr.SyntaxError
	if errors.As(err, &wrong) {
		return nil, &library.FieldError{Field: at, Code: "format", Message: wrong.Message + position(text, wrong.Offset), Hint: wrong.Hint}
	}
	return e, nil
}

func (s *compute) kinds() store.FactKinds { return fieldKinds(s.expression.Fields...) }

func (s *compute) edit(_ *exec, r *Row) error { return setValue(r, s.Field, s.expression.Eval(r)) }
