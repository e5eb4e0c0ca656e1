package store_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"vitrine/library"
)

func (s bench) ruleChanges(t *testing.T) changes {
	return changes{trash: "deleted",
		read: `SELECT rule_id, jsonb_build_object('name', name, 'description', description, 'trigger_config', trigger_config, 'trigger_type', trigger_type, 'enabled', enabled, 'deleted', deleted_at IS NOT NULL) FROM rules`,
		refused: func(now things, key string, as thing) bool {
			for k, v := range now {
				if k != key && v["deleted"] != "true" && as["deleted"] != "true" && v["name"] == as["name"] {
					return true
				}
			}
			return false
		},
		random: func(r *rand.Rand, keys []string) string {
			trigger := library.Trigger{Type: library.TriggerEvent, EventType: pick(r, "asset.created", "asset.updated")}
			if r.IntN(2) == 0 {
				trigger = library.Trigger{Type: library.TriggerSchedule, Cron: pick(r, "0 9 * * 1", "0 9 * * 2"), Missed: "once"}
			}
			what := r.IntN(4)
			if len(keys) < 3 {
				what = 0
			}
			var id string
			var err error
			switch what {
			case 0:
				_, id, err = s.Rules.Add(t.Context(), s.a, library.Rule{Name: pick(r, "alpha", "beta", "gamma", "delta", "epsilon", "zeta"), Trigger: trigger, Enabled: true, Through: time.Now()}, nil)
			case 1:
				id, err = s.Rules.Delete(t.Context(), s.a, pick(r, keys...))
			default:
				name, enabled := pick(r, "alpha", "beta", "gamma", "delta", "epsilon", "zeta"), r.IntN(2) == 0
				_, id, err = s.Rules.Change(t.Context(), s.a, pick(r, keys...), nil, func(x *library.Rule) (bool, error) {
					x.Name, x.Trigger, x.Enabled = name, trigger, enabled
					return false, nil
				})
			}
			if library.AsError(err).Kind == library.KindNotFound {
				return "" // it is deleted
			}
			return must[string](t)(id, err)
		}}
}
