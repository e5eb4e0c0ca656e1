package pipeline

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/pipeline/expr"
	"vitrine/store"
)

// stats describes the numbers of a field.
type stats struct {
	Field string `json:"field" minLength:"1" maxLength:"210" doc:"A field with numbers or dates."`
}

var kindStats = newKind[stats](Kind{Type: "stats", Category: Summarize, Doc: "Describes the numbers of a field: how many there are, smallest, largest, mean, standard deviation, percentiles.", Args: []string{"field"}, Example: map[string]any{"field": "steps"}})

func (s *stats) check(c *checking) []library.FieldError { return checkNumeric(c.at+".field", s.Field) }

// checkNumeric refuses fields without numbers.
func checkNumeric(at, name string) []library.FieldError {
	if errs := checkField(at, name, false); len(errs) > 0 {
		return errs
	}
	switch t, _ := fieldType(name); t {
	case expr.Number, expr.Date, expr.Any:
		return nil
	default:
		return []library.FieldError{{Field: at, Code: "type", Message: "This field is a " + string(t) + ", not a number or a date.", Hint: "group_by counts its values."}}
	}
}

// numberOf returns a value as a number: of a date, its milliseconds.
func numberOf(v expr.Value) (float64, bool) {
	if v.Type() == expr.Date {
		return float64(v.Millis()), true
	}
	return v.As(expr.Number).Float()
}

// shown returns a number that was made of values of a field as such a value.
func shown(field string, n *float64) any {
	if n == nil {
		return nil
	}
	if t, _ := fieldType(field); t == expr.Date {
		return expr.OfDate(time.UnixMilli(int64(*n))).JSON()
	}
	return *n
}

// withNumbers collects the numbers of a field in pipeline_keys.
func (x *exec) withNumbers(field string, use func(*store.Tx) error) error {
	return x.withKeys(fieldKinds(field), func(r *Row) ([]store.SortKey, error) {
		if n, ok := numberOf(r.Field(field)); ok {
			return []store.SortKey{{Key: []byte{}, Value: n}}, nil
		}
		return nil, nil
	}, use)
}

func (s *stats) run(x *exec) error {
	return x.withNumbers(s.Field, func(t *store.Tx) error {
		result := &library.StageResult{Columns: []string{"field", "count", "nulls", "min", "max", "mean", "stddev", "p50", "p90", "p99"}, Total: x.inputCount()}
		err := t.KeysQuery(x.ctx, `SELECT count(*), min(value), max(value), avg(value), stddev_samp(value), percentile_cont(0.5) WITHIN GROUP (ORDER BY value),
				percentile_cont(0.9) WITHIN GROUP (ORDER BY value), percentile_cont(0.99) WITHIN GROUP (ORDER BY value) FROM pipeline_keys`, nil, func(rows pgx.Rows) error {
			var n int64
			var low, high, mean, deviation, p50, p90, p99 *float64
			if err := rows.Scan(&n, &low, &high, &mean, &deviation, &p50, &p90, &p99); err != nil {
				return err
			}
			spread := any(nil)
			if t, _ := fieldType(s.Field); deviation != nil && t != expr.Date {
				spread = *deviation
			}
			of := func(v *float64) any { return shown(s.Field, v) }
			result.Rows = [][]any{{s.Field, n, x.inputCount() - n, of(low), of(high), of(mean), spread, of(p50), of(p90), of(p99)}}
			return nil
		})
		x.trace().Result = result
		return err
	})
}

// decodeExact decodes JSON and keeps its numbers exact.
func decodeExact(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into)
}
