package pipeline

import (
	"context"
	"encoding/json"

	"vitrine/library"
	"vitrine/store"
)

// diff selects by comparing two selections.
type diff struct {
	SetA map[string]any `json:"set_a" doc:"A select stage, or {query}, {path} or {asset_ids}."`
	SetB map[string]any `json:"set_b" doc:"The other one."`
	Mode string         `json:"mode,omitempty" enum:"only_in_a,only_in_b,both,either" default:"only_in_a" doc:"Which assets are selected."`

	a, b Step
}

var kindDiff = newKind[diff](Kind{Type: "diff", Category: Select, Doc: "Selects the assets that are in one of two selections, or in both.", Args: []string{"mode"},
	Example: map[string]any{"set_a": map[string]any{"query": "status:Approved"}, "set_b": map[string]any{"path": "clients.spring"}, "mode": "only_in_a"}})

func (s *diff) check(c *checking) (errs []library.FieldError) {
	var wrong []library.FieldError
	if s.a, wrong = selection(c, "set_a", s.SetA); len(wrong) > 0 {
		errs = append(errs, wrong...)
	}
	if s.b, wrong = selection(c, "set_b", s.SetB); len(wrong) > 0 {
		errs = append(errs, wrong...)
	}
	return errs
}

// selection reads a select stage, whose type may follow from the keys that it has.
func selection(c *checking, key string, object map[string]any) (Step, []library.FieldError) {
	stage := StageFrom(object)
	if stage.Type == "" {
		for name, kind := range map[string]string{"query": "search", "path": "collection", "asset_ids": "ids", "asset_hs": "ids"} {
			if _, ok := stage.Config[name]; ok {
				stage.Type = kind
			}
		}
	}
	if k := LookupKind(stage.Type); k == nil || k.Category != Select || k.Type == "diff" {
		return Step{}, []library.FieldError{{Field: c.at + "." + key, Code: "format", Message: "Expected a selection.", Hint: `Write {"query": "..."}, {"path": "..."} or {"asset_ids": [...]}.`}}
	}
	return parseStage(stage, c.index, c.at+"."+key, Options{Now: c.now}, false)
}

func (s *diff) compile(ctx context.Context, e *Engine, actor library.Actor, at string) error {
	for name, step := range map[string]Step{"set_a": s.a, "set_b": s.b} {
		if w, ok := step.work.(*search); ok {
			if err := w.compile(ctx, e, actor, at+"."+name); err != nil {
				return err
			}
		}
	}
	return nil
}

// scratch numbers the sets that a stage only works with.
const scratch = 1000

func (s *diff) run(x *exec) error {
	for i, step := range []Step{s.a, s.b} {
		side := *x
		side.set, side.written, side.pending = scratch+2*x.index+i, 0, nil
		if err := x.save(func(t *store.Tx) error { return t.ClearSet(x.ctx, x.claim.ID, side.set) }); err != nil {
			return err
		}
		err := step.work.(runner).run(&side) //nolint:forcetypeassert // select stages are runners
		if err == nil {
			err = side.flush()
		}
		if err != nil {
			return err
		}
	}
	a, b := store.SetRows("$5::int"), store.SetRows("$6::int")
	picked := map[string]string{
		"only_in_a": `SELECT asset_h, place FROM ` + a + ` a WHERE NOT EXISTS (SELECT FROM ` + b + ` b WHERE b.asset_h = a.asset_h)`,
		"only_in_b": `SELECT asset_h, place FROM ` + b + ` b WHERE NOT EXISTS (SELECT FROM ` + a + ` a WHERE a.asset_h = b.asset_h)`,
		"both":      `SELECT a.asset_h, a.place FROM ` + a + ` a JOIN ` + b + ` b USING (asset_h)`,
		"either": `SELECT asset_h, place FROM ` + a + ` a UNION ALL SELECT asset_h, place + (1::bigint << 40) FROM ` + b + ` b
			WHERE NOT EXISTS (SELECT FROM ` + a + ` a WHERE a.asset_h = b.asset_h)`,
	}[s.Mode]
	return x.fromQuery(`SELECT asset_h, row_number() OVER (ORDER BY place) - 1 AS place FROM (`+picked+`) d`, scratch+2*x.index, scratch+2*x.index+1)
}

// fromQuery makes the output of a query; see store.Tx.SetFromQuery.
func (x *exec) fromQuery(query string, args ...any) error {
	return x.save(func(t *store.Tx) error {
		if err := t.ClearSet(x.ctx, x.claim.ID, x.set); err != nil {
			return err
		}
		n, sample, err := t.SetFromQuery(x.ctx, x.claim.ID, x.set, query, store.QueryArgs(args)...)
		if x.set == x.index {
			x.trace().Output = n
			x.sample(sample)
		}
		return err
	})
}

// decodeInto decodes JSON that may be absent.
func decodeInto(raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, into)
}
