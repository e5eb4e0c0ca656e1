package pipeline

import (
	"fmt"

	"vitrine/library"
	"vitrine/pipeline/expr"
	"vitrine/store"
)

// sorting orders the set.
type sorting struct {
	By    string    `json:"by,omitempty" maxLength:"210" doc:"A field."`
	Order string    `json:"order,omitempty" enum:"asc,desc" default:"asc" doc:"The order. Assets without a value come last in either."`
	Keys  []sortKey `json:"keys,omitempty" maxItems:"4" doc:"Several fields instead of by: the next one decides where those before are equal."`
}

// sortKey is one of several fields to sort by.
type sortKey struct {
	By    string `json:"by" maxLength:"210"`
	Order string `json:"order,omitempty" enum:"asc,desc" default:"asc"`
}

var kindSort = newKind[sorting](Kind{Type: "sort", Category: Filter, Doc: "Orders the set by fields. Equal assets are ordered by their hashes.", Args: []string{"by", "order"}, Example: map[string]any{"by": "created", "order": "desc"}})

func (s *sorting) check(c *checking) (errs []library.FieldError) {
	switch {
	case s.By != "" && len(s.Keys) > 0:
		return []library.FieldError{{Field: c.at + ".keys", Code: "conflict", Message: "by and keys exclude each other."}}
	case s.By != "":
		s.Keys = []sortKey{{s.By, s.Order}}
		return checkSortable(c.at+".by", s.By)
	case len(s.Keys) == 0:
		return []library.FieldError{{Field: c.at + ".by", Code: "required", Message: "It is required: a field to sort by.", Hint: `For example "created" with order "desc".`}}
	}
	for i, k := range s.Keys {
		errs = append(errs, checkSortable(fmt.Sprintf("%s.keys[%d].by", c.at, i), k.By)...)
	}
	return errs
}

// checkSortable refuses fields without an order.
func checkSortable(at, name string) []library.FieldError {
	if f := lookupField(name); f != nil && f.Type == expr.List {
		return []library.FieldError{{Field: at, Code: "type", Message: f.Name + " is a list, which has no order."}}
	}
	return checkField(at, name, false)
}

func (s *sorting) run(x *exec) error {
	var names []string
	for _, k := range s.Keys {
		names = append(names, k.By)
	}
	return x.withKeys(fieldKinds(names...), func(r *Row) ([]store.SortKey, error) {
		var key []byte
		for _, k := range s.Keys {
			key = appendKey(key, r.Field(k.By), k.Order == "desc")
		}
		return []store.SortKey{{Key: key}}, nil
	}, func(t *store.Tx) error {
		return x.pick(t, `SELECT asset_h, row_number() OVER (ORDER BY key, asset_h) - 1 AS place FROM pipeline_keys`)
	})
}

// withKeys collects, in one transaction, keys of every row of the input in the table
// pipeline_keys and calls use. Asset and Place of the keys are filled in.
func (x *exec) withKeys(kinds store.FactKinds, keys func(*Row) ([]store.SortKey, error), use func(*store.Tx) error) error {
	return x.save(func(t *store.Tx) error {
		stop, err := t.MakeKeys(x.ctx)
		if err != nil {
			return err
		}
		defer stop()
		place := int64(0)
		err = x.parts(func(assets []library.AssetHash) error {
			rows, err := x.rows(assets, kinds)
			if err != nil {
				return err
			}
			list := make([]store.SortKey, 0, len(rows))
			for _, r := range rows {
				own, err := keys(r)
				if err != nil {
					return err
				}
				for _, k := range own {
					k.Asset, k.Place = r.Hash, place
					list = append(list, k)
				}
				place++
			}
			return t.PutKeys(x.ctx, list)
		})
		if err != nil {
			return err
		}
		return use(t)
	})
}

// pick makes the output of what a query picks of pipeline_keys.
func (x *exec) pick(t *store.Tx, query string, args ...any) error {
	n, sample, err := t.SetFromQuery(x.ctx, x.claim.ID, x.index, query, args...)
	if err != nil {
		return err
	}
	x.trace().Output = n
	x.sample(sample)
	return nil
}
