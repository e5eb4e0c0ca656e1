package schedule_test

import (
	"testing"
	"time"

	"vitrine/automation/schedule"
)

func parse(t *testing.T, expression, zone string) schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(expression, zone)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNext_FollowsTheClockThroughItsChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		expression, zone, after string
		want                    []string // in UTC
	}{
		{"30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", []string{"2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}}, // 02:30 does not exist on the 29th
		{"30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", []string{"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}},                         // it comes twice on the 25th
		{"*/30 * * * *", "Europe/Berlin", "2026-10-25T00:20:00Z", []string{"2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:00:00Z"}},
		{"0 * * * *", "America/New_York", "2026-03-08T06:30:00Z", []string{"2026-03-08T07:00:00Z", "2026-03-08T08:00:00Z"}},
		{"0,30 1,2,3 * * *", "Europe/Berlin", "2026-03-29T00:10:00Z", []string{"2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z", "2026-03-30T23:00:00Z"}[:3]},
		{"0 9 * * 1", "Asia/Tokyo", "2026-11-22T00:00:00Z", []string{"2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"}},
		{"15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", []string{"2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"}}, // a change of half an hour
		{"0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", []string{"2028-02-29T00:00:00Z"}},
		{"@daily", "", "2026-01-01T12:00:00Z", []string{"2026-01-02T00:00:00Z"}},
		{"0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00:00Z", []string{"2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"}}, // midnight did not exist
	} {
		s := parse(t, c.expression, c.zone)
		at, _ := time.Parse(time.RFC3339, c.after)
		for i, want := range c.want {
			if at = s.Next(at); at.Format(time.RFC3339) != want {
				t.Errorf("%s in %s, %d: %s, want %s", c.expression, c.zone, i, at.Format(time.RFC3339), want)
			}
		}
	}
}

// TestNext_IsDueOnceEveryDay looks at each day of three years in zones with changes of every kind.
func TestNext_IsDueOnceEveryDay(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Kathmandu", "Pacific/Chatham"} {
		for _, expression := range []string{"30 1 * * *", "0 2 * * *", "59 2 * * *", "0 0 * * *"} {
			s := parse(t, expression, zone)
			at := s.Next(time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC))
			for range 3 * 365 {
				next := s.Next(at)
				if gap := next.Sub(at); gap < 22*time.Hour || gap > 26*time.Hour {
					t.Fatalf("%s in %s: due at %s and then at %s", expression, zone, at, next)
				}
				at = next
			}
		}
	}
}

func TestParse_RefusesWhatIsNeverDueOrNoCron(t *testing.T) {
	t.Parallel()
	for _, x := range [][2]string{{"", ""}, {"* * * *", ""}, {"* * * * * *", ""}, {"60 * * * *", ""}, {"0 0 30 2 *", ""}, {"TZ=UTC", ""}, {"CRON_TZ=UTC * * * * *", ""}, {"@every 1s", ""}, {"@reboot", ""},
		{"0 9 * * *", "Mars/Olympus"}, {"0 9 * * *", "Local"}, {"0 9 * * *", "../etc/passwd"}, {"a b c d e", ""}} {
		if _, err := schedule.Parse(x[0], x[1]); err == nil {
			t.Errorf("%q in %q is taken", x[0], x[1])
		}
	}
}

func TestBetween_ListsTheLastOfAllThatWereDue(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	list, total := parse(t, "*/15 * * * *", "").Between(start, start.Add(24*time.Hour), 3)
	if total != 96 || len(list) != 3 || !list[2].Equal(start.Add(24*time.Hour)) || !list[0].Equal(start.Add(24*time.Hour-30*time.Minute)) {
		t.Errorf("%d: %v", total, list)
	}
}
