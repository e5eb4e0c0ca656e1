package publish

import (
	"fmt"
	"testing"
	"time"
)

func TestThrottle_SlowsDownWhoGuessesAndNobodyElse(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := newThrottle()
	s.now = func() time.Time { return now }
	for n := range wrongAtOnce {
		if wait := s.take("page", "one"); wait != 0 {
			t.Fatalf("the guess %d waits %s", n+1, wait)
		}
	}
	if wait := s.take("page", "one"); wait != wrongEvery {
		t.Errorf("the guess after all has to wait %s", wait)
	}
	if s.take("page", "two") != 0 || s.take("other page", "one") != 0 {
		t.Error("another address, or another page, has to wait as well")
	}
	now = now.Add(wrongEvery)
	if s.take("page", "one") != 0 || s.take("page", "one") == 0 {
		t.Error("after the wait one guess is taken, and one alone")
	}
	for range 100 * wrongAtOnce { // who knows the password never waits
		if s.take("page", "three") != 0 {
			t.Fatal("who knows the password has to wait")
		}
		s.giveBack("page", "three")
	}
	taken := 0
	for n := range 1000 {
		if s.take("page", fmt.Sprint("address ", n)) == 0 {
			taken++
		}
	}
	if taken < 60 || taken > fromAll*wrongAtOnce {
		t.Errorf("a thousand addresses guess %d times at once", taken)
	}
}
