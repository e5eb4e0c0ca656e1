package webhook

import (
	"math/rand/v2"
	"time"
)

// Delays are the times between the attempts at one message, of which the first is made at once:
// ten attempts in about 75 hours.
var Delays = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}

// Next returns how long after an attempt, of which there were so many with this one, a message is
// tried again. Up to a tenth is added at random, so that what failed together does not come back
// together; an endpoint may ask for more. ok is false when the attempts are used up.
func Next(attempts int, retryAfter time.Duration) (in time.Duration, ok bool) {
	if attempts > len(Delays) {
		return 0, false
	}
	delay := Delays[attempts-1]
	return max(delay, retryAfter) + rand.N(delay/10), true
}

// Pause returns how long nothing is sent to an endpoint after so many attempts in a row that
// failed, this one included; 0: messages go on. An endpoint that refuses one message may take the
// next, so the first two failures change nothing unless the endpoint asks for time.
func Pause(failures int, r Response) time.Duration {
	if r.RetryAfter > 0 {
		return r.RetryAfter
	}
	if failures < 3 {
		return 0
	}
	return min(5*time.Second<<min(failures-3, 6), 5*time.Minute)
}
