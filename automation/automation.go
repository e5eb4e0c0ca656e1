// Package automation reacts to what happens in the library: it sends events to
// webhooks and runs rules.
//
// In come the events of the log and the time; out go signed requests and runs of pipelines. What
// it decides is in the database before it acts on it, so a process that is killed leaves work
// that another one takes up. Any number of processes may run it.
package automation

import (
	"strings"
	"sync"
	"time"

	"vitrine/library"
)

// Patterns returns what a subscriber to an event type may have written: the type, the types of its
// noun, or all.
func Patterns(kind string) []string {
	noun, _, _ := strings.Cut(kind, ".")
	return []string{kind, noun + ".*", "*"}
}

// interest remembers which event patterns somebody in a tenant subscribes to, so that events which
// nobody waits for cost nothing. What was read from the database after an event was written holds for
// that event: who subscribes later does not get it.
type interest struct {
	mu   sync.Mutex
	have map[library.TenantID]interests
}

type interests struct {
	patterns map[string]bool
	at       time.Time // of the database, when they were read
}

// maxInterests bounds how many tenants are remembered.
const maxInterests = 10_000

// in reports whether somebody subscribes to an event that was written at a time. read reads the
// patterns of the tenant.
func (x *interest) in(tenant library.TenantID, kind string, at time.Time, read func() ([]string, time.Time, error)) (bool, error) {
	x.mu.Lock()
	have, ok := x.have[tenant]
	x.mu.Unlock()
	if !ok || !have.at.After(at) {
		list, now, err := read()
		if err != nil {
			return false, err
		}
		have = interests{map[string]bool{}, now}
		for _, p := range list {
			have.patterns[p] = true
		}
		x.mu.Lock()
		if x.have == nil || len(x.have) >= maxInterests {
			x.have = map[library.TenantID]interests{}
		}
		x.have[tenant] = have
		x.mu.Unlock()
	}
	for _, p := range Patterns(kind) {
		if have.patterns[p] {
			return true, nil
		}
	}
	return false, nil
}
