package servicetest

import (
	"context"

	"github.com/jackc/pgx/v5"

	"vitrine/op/all"
)

// checkEvents fails the test for each event of its library that has a type which
// nobody declared, or a payload that breaks the type's schema.
func (e *Env) checkEvents() {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, e.Cfg.PostgresURL)
	if err != nil {
		return // the test took its database away
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, `SELECT type, payload FROM events UNION ALL SELECT type, payload FROM outbox WHERE topic = 'events'`)
	if err != nil {
		return // the test's database has another schema
	}
	catalog := all.DocumentedCatalog()
	var kind string
	var payload []byte
	_, err = pgx.ForEachRow(rows, []any{&kind, &payload}, func() error {
		declared, known := catalog.EventType(kind)
		if !known {
			e.T.Errorf("a write emitted an event of the type %q, which no package declares", kind)
		} else if wrong := declared.CheckPayload(payload); len(wrong) > 0 {
			e.T.Errorf("the payload %s of an event %s breaks its schema: %+v", payload, kind, wrong)
		}
		return nil
	})
	if err != nil {
		e.T.Errorf("reading the events: %v", err)
	}
}
