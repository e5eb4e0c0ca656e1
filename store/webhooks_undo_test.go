package store_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"vitrine/library"
	"vitrine/store"
)

func (s bench) webhookChanges(t *testing.T) changes {
	return changes{trash: "deleted",
		read: `SELECT webhook_id, jsonb_build_object('name', name, 'url', url, 'events', array_to_string(events, ','), 'enabled', enabled, 'timeout', timeout_ms, 'deleted', deleted_at IS NOT NULL) FROM webhooks`,
		random: func(r *rand.Rand, keys []string) string {
			change := func(w *library.Webhook) {
				w.Name, w.URL = pick(r, "alpha", "beta", "gamma"), "https://"+pick(r, "a", "b", "c")+".example.com"
				w.Events, w.Enabled = []string{pick(r, "*", "asset.*", "asset.created"), "test.ping"}, r.IntN(2) == 0
				w.Timeout = time.Duration(1+r.IntN(3)) * time.Second
			}
			what := r.IntN(4)
			if len(keys) < 3 {
				what = 0
			}
			var id string
			var err error
			switch what {
			case 0:
				w := library.Webhook{ID: store.NewWebhookID()}
				change(&w)
				_, id, err = s.Webhooks.Add(t.Context(), s.a, w, []byte("sealed"), nil)
			case 1:
				id, err = s.Webhooks.Delete(t.Context(), s.a, pick(r, keys...))
			default:
				_, id, err = s.Webhooks.Change(t.Context(), s.a, pick(r, keys...), change)
			}
			if library.AsError(err).Kind == library.KindNotFound {
				return "" // it is deleted
			}
			return must[string](t)(id, err)
		}}
}
