package automation

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"vitrine/automation/schedule"
	"vitrine/library"
)

// Simulation is what a rule would have done.
type Simulation struct {
	Fired, Limited, Stopped int64
	Sample                  []SimulatedFiring // the last MaxSimulated
	More                    bool              // the figures leave out what came after MaxReplayed events
	Note                    string            // what else they leave out
}

// SimulatedFiring is a firing that would have been.
type SimulatedFiring struct {
	At     time.Time
	Reason map[string]any
}

const (
	// MaxSimulated is how many firings a simulation shows.
	MaxSimulated = 20
	// MaxReplayed is how many events a simulation replays.
	MaxReplayed = 20_000
)

// Simulate returns what a rule would have done since a time, had it been enabled and without effects
// of its own, out of what the tenant's log of events says. Nothing is changed.
func (rs *Rules) Simulate(ctx context.Context, actor library.Actor, r library.Rule, since time.Time) (Simulation, error) {
	sim := &simulation{limit: r.Limit}
	var err error
	switch r.Trigger.Type {
	case library.TriggerSchedule:
		err = rs.simulateSchedule(sim, r, since)
	case library.TriggerWatch:
		err = rs.simulateWatch(ctx, sim, actor, r, since)
	default:
		err = rs.simulateEvents(ctx, sim, actor, r, since)
	}
	return sim.Simulation, err
}

// simulation counts firings and holds them against the limits of a rule.
type simulation struct {
	Simulation
	limit library.RateLimit
	times []time.Time // of firings, in order
	day   int         // where those of the last day begin
	hour  int         // where those of the last hour begin
}

// add adds a firing.
func (s *simulation) add(at time.Time, depth int, reason map[string]any) {
	if depth >= library.MaxCausationDepth {
		s.Stopped++
		return
	}
	for s.day < len(s.times) && at.Sub(s.times[s.day]) >= 24*time.Hour {
		s.day++
	}
	for s.hour < len(s.times) && at.Sub(s.times[s.hour]) >= time.Hour {
		s.hour++
	}
	if s.limit.PerHour > 0 && len(s.times)-s.hour >= s.limit.PerHour || s.limit.PerDay > 0 && len(s.times)-s.day >= s.limit.PerDay {
		s.Limited++
		return
	}
	s.times = append(s.times, at)
	if s.Fired++; len(s.Sample) == MaxSimulated {
		s.Sample = s.Sample[1:]
	}
	s.Sample = append(s.Sample, SimulatedFiring{at.UTC(), reason})
}

func (rs *Rules) simulateEvents(ctx context.Context, sim *simulation, actor library.Actor, r library.Rule, since time.Time) error {
	list, more, err := rs.events.Since(ctx, actor, since, r.Trigger.EventType, MaxReplayed)
	sim.More = more
	for _, e := range list {
		var c cause
		_ = json.Unmarshal(e.Payload, &c) // every payload is an object
		var data any
		_ = json.Unmarshal(e.Payload, &data)
		sim.add(e.At, c.CausationDepth, map[string]any{"event_type": e.Type, "key": e.Key, "data": data})
	}
	return err
}

func (rs *Rules) simulateSchedule(sim *simulation, r library.Rule, since time.Time) error {
	s, err := schedule.Parse(r.Trigger.Cron, r.Trigger.TimeZone)
	if err != nil {
		return err
	}
	list, total := s.Between(since, rs.cfg.Now(), MaxReplayed)
	sim.More = total > len(list)
	for _, at := range list {
		sim.add(at, 0, map[string]any{"due": at.UTC().Format(time.RFC3339)})
	}
	return nil
}

// simulateWatch takes for new what matches now and was changed since a time: since when an asset
// matches is not recorded.
func (rs *Rules) simulateWatch(ctx context.Context, sim *simulation, actor library.Actor, r library.Rule, since time.Time) error {
	sim.Note = "These match now and were changed in that time; some of them may have matched before."
	changed := map[library.AssetHash]time.Time{}
	for _, pattern := range []string{"asset.*", "collection.*"} {
		list, more, err := rs.events.Since(ctx, actor, since, pattern, MaxReplayed)
		if err != nil {
			return err
		}
		sim.More = sim.More || more
		for _, e := range list {
			for _, h := range assetsOf(e.Payload) {
				changed[library.AssetHash(h.(string))] = e.At
			}
		}
	}
	looks := map[time.Time][]library.AssetHash{} // by when the watch would have looked next
	every := interval(r)
	err := rs.cfg.EachMatch(ctx, actor, r.Trigger.Query, func(page []library.AssetHash) error {
		for _, h := range page {
			if at, ok := changed[h]; ok {
				look := at.Truncate(every).Add(every)
				looks[look] = append(looks[look], h)
			}
		}
		return nil
	})
	for _, at := range slices.SortedFunc(maps.Keys(looks), time.Time.Compare) {
		for part := range slices.Chunk(looks[at], library.MaxRuleAssets) {
			sim.add(at, 0, map[string]any{"assets": len(part), "first": part[:min(len(part), 5)]})
		}
	}
	return err
}
