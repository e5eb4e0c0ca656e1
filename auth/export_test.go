package auth

import "time"

// NewSecret makes a well-formed key that nobody stored.
var NewSecret = newSecret

// SetClock makes the throttle go by another clock.
func (a *Authenticator) SetClock(now func() time.Time) { a.slow.now = now }

// Addresses counts the addresses that the throttle remembers.
func (a *Authenticator) Addresses() int { return a.slow.seen.Len() }
