package sample

import (
	"time"

	"vitrine/internal/sample/draw"
)

// lastDay is the day of the newest file. It is fixed because times are part of
// what two equal samples share.
var lastDay = time.Date(2026, 11, 14, 0, 0, 0, 0, time.UTC)

// schedule sets the time of every file: sessions spread over days, two or three a
// day in a small sample, more in a large one; within a session seconds to a
// minute between files, between sessions half an hour to hours.
func (p *planner) schedule() {
	sessions := p.entries[len(p.entries)-1].session
	days := min(max(sessions/3, 1), 300)
	clock := lastDay.AddDate(0, 0, 1-days)
	current, day := 0, -1
	for _, e := range p.entries {
		if e.session != current {
			current = e.session
			clock = clock.Add(time.Duration(p.r.Between(25, 150)) * time.Minute)
			if d := (current - 1) * days / max(sessions, 1); d != day {
				day = d
				morning := lastDay.AddDate(0, 0, 1-days+d).Add(time.Duration(p.r.Between(7*60, 10*60)) * time.Minute)
				if morning.After(clock) {
					clock = morning
				}
			}
		}
		clock = clock.Add(e.gap)
		e.when = clock
		e.job.When = clock
	}
}

// rand returns the generator of the ids inside the file.
func (e *entry) rand() *draw.Rand { return draw.NewRand(e.jobSeed) }
