// Package schedule reads cron expressions and finds the times at which they are due, in a time
// zone with its changes of the clock.
//
// A time of day that the clock jumps over is due at the jump, one that comes twice is due the
// first time; so "30 2 * * *" is due once a day. An expression with * or */n for the hour is due as
// often as the hours that really pass.
package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // zones are known on every machine

	"github.com/robfig/cron/v3"
)

// Schedule is a cron expression in a time zone.
type Schedule struct {
	spec  *cron.SpecSchedule
	zone  *time.Location
	every bool // its hour is * or */n
}

// starBit marks a field of a cron.SpecSchedule that was written with a star.
const starBit = 1 << 63

var parser = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// maxExpression bounds a cron expression, in characters.
const maxExpression = 200

// Parse reads a cron expression of five fields, or @hourly and the like, and the name of a time
// zone; empty means UTC. It fails on an expression that is never due.
func Parse(expression, zone string) (s Schedule, err error) {
	if s.zone, err = time.LoadLocation(zone); err != nil || zone == "Local" {
		return s, fmt.Errorf("there is no time zone %q; zones are called as Europe/Berlin", zone)
	}
	expression = strings.TrimSpace(expression)
	if len(expression) > maxExpression || strings.Contains(expression, "=") || strings.HasPrefix(expression, "@every") {
		return s, errors.New("expected five fields: minute, hour, day of month, month, day of week")
	}
	parsed, err := parse(expression)
	if err != nil {
		return s, err
	}
	s.spec, s.every = parsed, parsed.Hour&starBit != 0
	if s.Next(time.Now()).IsZero() {
		return s, errors.New("it is never due")
	}
	return s, nil
}

// parse is the library's parser, which panics on some input.
func parse(expression string) (s *cron.SpecSchedule, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("it is not a cron expression")
		}
	}()
	parsed, err := parser.Parse(expression)
	if err != nil {
		return nil, err
	}
	s, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, errors.New("it is not a cron expression")
	}
	return s, nil
}

// Next returns the first time after another at which the schedule is due; zero when there is none
// within five years.
func (s Schedule) Next(after time.Time) time.Time {
	if s.every {
		spec := *s.spec
		spec.Location = s.zone
		return spec.Next(after.In(s.zone)).UTC()
	}
	spec := *s.spec
	spec.Location = time.UTC
	wall := after.In(s.zone)
	// What the clock shows, as if it were UTC. A day earlier nothing is missed, whatever the clock did.
	shown := time.Date(wall.Year(), wall.Month(), wall.Day()-1, wall.Hour(), wall.Minute(), 0, 0, time.UTC)
	for {
		if shown = spec.Next(shown); shown.IsZero() {
			return time.Time{}
		}
		if at := s.instant(shown); at.After(after) {
			return at.UTC()
		}
	}
}

// instant returns when the clock of the zone first shows a time, or jumps over it.
func (s Schedule) instant(shown time.Time) time.Time {
	offset := func(at time.Time) time.Duration {
		_, seconds := at.In(s.zone).Zone()
		return time.Duration(seconds) * time.Second
	}
	before, after := shown.Add(-offset(shown.Add(-26*time.Hour))), shown.Add(-offset(shown.Add(26*time.Hour)))
	first, second := before, after
	if second.Before(first) {
		first, second = second, first
	}
	for _, at := range []time.Time{first, second} {
		if at.Add(offset(at)).Equal(shown) {
			return at
		}
	}
	jump, _ := before.In(s.zone).ZoneBounds() // before is behind the jump: the clock was not set yet
	return jump
}

// Between returns the times that are due after one time and up to another, the last max of them,
// and how many there are.
func (s Schedule) Between(after, until time.Time, limit int) (list []time.Time, total int) {
	for at := s.Next(after); !at.IsZero() && !at.After(until); at = s.Next(at) {
		if total++; len(list) == limit {
			list = list[1:]
		}
		list = append(list, at)
	}
	return list, total
}
