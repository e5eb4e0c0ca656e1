package store

import (
	"context"
	"time"
)

// OutboxChannel is the NOTIFY channel on which the relay is woken.
const OutboxChannel = "outbox"

// notifyOutbox tells the relay that there is something new, after the commit and off
// the request's path. Calls that come while one is under way fold into one. A
// lost wake-up costs a second: the relay also polls.
func (s *Store) notifyOutbox() {
	select {
	case s.notifications <- struct{}{}:
	default:
	}
}

func (s *Store) notifyLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.notifications:
			short, cancel := context.WithTimeout(ctx, time.Second)
			// An error means the database is away; the relay will find the rows by polling.
			_, _ = s.app.Exec(short, `SELECT pg_notify($1, '')`, OutboxChannel)
			cancel()
		}
	}
}
