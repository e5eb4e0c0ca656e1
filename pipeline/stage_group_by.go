package pipeline

import (
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/pipeline/expr"
	"vitrine/store"
)

// groupBy counts by one or two fields.
type groupBy struct {
	Field string `json:"field" minLength:"1" maxLength:"210" doc:"A field. An asset with several values counts for each."`
	Then  string `json:"then,omitempty" maxLength:"210" doc:"A second field."`
	Top   int    `json:"top,omitempty" minimum:"1" maximum:"1000" default:"50" doc:"How many groups are listed, the largest first."`
}

var kindGroupBy = newKind[groupBy](Kind{Type: "group_by", Category: Summarize, Doc: "Counts the assets by the values of one or two fields.", Args: []string{"field", "then"}, Example: map[string]any{"field": "checkpoint", "then": "status"}})

func (s *groupBy) check(c *checking) []library.FieldError {
	errs := checkField(c.at+".field", s.Field, false)
	if s.Then != "" {
		errs = append(errs, checkField(c.at+".then", s.Then, false)...)
	}
	return errs
}

// defaultTop is how many groups are listed unless more are asked for.
const defaultTop = 50

func (s *groupBy) run(x *exec) error {
	if s.Then == "" {
		return x.group([]string{s.Field}, s.Top)
	}
	return x.group([]string{s.Field, s.Then}, s.Top)
}

// values returns what a row counts for of a field: each value of a list, or one, which is nil
// where there is none.
func (r *Row) values(name string) []any {
	v := r.Field(name)
	if v.Type() != expr.List {
		return []any{v.JSON()}
	}
	var out []any
	for _, s := range v.Texts() {
		out = append(out, s)
	}
	return out
}

// group counts by fields. Values that differ in case alone are counted apart.
func (x *exec) group(fields []string, top int) error {
	return x.withKeys(fieldKinds(fields...), func(r *Row) ([]store.SortKey, error) {
		combined := [][]any{{}}
		for _, f := range fields {
			var next [][]any
			for _, head := range combined {
				for _, v := range r.values(f) {
					next = append(next, append(head[:len(head):len(head)], v))
				}
			}
			combined = next
		}
		keys := make([]store.SortKey, len(combined))
		for i, values := range combined {
			raw, err := json.Marshal(values)
			if err != nil {
				return nil, err
			}
			keys[i].Key = raw
		}
		return keys, nil
	}, func(t *store.Tx) error {
		result := &library.StageResult{Columns: append(append([]string{}, fields...), "count"), Rows: [][]any{}, Total: x.inputCount()}
		err := t.KeysQuery(x.ctx, `SELECT key, n, count(*) OVER () FROM (SELECT key, count(*) AS n FROM pipeline_keys GROUP BY key) g ORDER BY n DESC, key LIMIT $1`, []any{top}, func(rows pgx.Rows) error {
			var key []byte
			var n, groups int64
			if err := rows.Scan(&key, &n, &groups); err != nil {
				return err
			}
			var values []any
			if err := decodeExact(key, &values); err != nil {
				return err
			}
			result.Rows, result.More = append(result.Rows, append(values, n)), groups-int64(len(result.Rows))-1
			return nil
		})
		x.trace().Result = result
		return err
	})
}
