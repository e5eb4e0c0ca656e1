package lineage

import (
	"strings"
	"testing"
	"time"

	"vitrine/library"
	"vitrine/store"
)

func TestLineage_ADurationIsReadAsPeopleWriteIt(t *testing.T) {
	t.Parallel()
	for phrase, want := range map[string]time.Duration{
		"2 hours": 2 * time.Hour, "90m": 90 * time.Minute, "1 day": 24 * time.Hour, "1h30m": 90 * time.Minute, " 1.5  Hours ": 90 * time.Minute,
		"1,5 h": 90 * time.Minute, "half an hour": 30 * time.Minute, "an hour": time.Hour, "a day and 2 hours": 26 * time.Hour, "PT2H30M": 150 * time.Minute,
		"P1D": 24 * time.Hour, "last 45 min": 45 * time.Minute, "±2h": 2 * time.Hour, "2 weeks": 14 * 24 * time.Hour, "600 secs": 10 * time.Minute,
		"within the last 3 hrs": 3 * time.Hour, "Two hours": 2 * time.Hour, "twelve hours and ten minutes": 12*time.Hour + 10*time.Minute, "one day": 24 * time.Hour,
	} {
		if got, message := parseDuration(phrase); got != want || message != "" {
			t.Errorf("%q is %v (%s), want %v", phrase, got, message, want)
		}
	}
}

func TestLineage_ADurationThatCannotBeReadSaysWhatIsAllowed(t *testing.T) {
	t.Parallel()
	for phrase, want := range map[string]string{
		"90": "needs a unit", "2 moons": "Months", "3 fortnights": "Allowed are", "soon": "such as 2 hours", "  ": "such as 2 hours", "-2h": "such as 2 hours",
		"2h later": "such as 2 hours", "10 s": "between 1 minute and 30 days", "6 weeks": "between 1 minute", "1 year": "at most 30", "PT0S": "such as",
		strings.Repeat("9", 90) + "h": "between 1 minute",
	} {
		if got, message := parseDuration(phrase); got != 0 || !strings.Contains(message, want) {
			t.Errorf("%q is %v, %q; want a message with %q", phrase, got, message, want)
		}
	}
}

func FuzzDuration(f *testing.F) {
	f.Add("1h30m")
	f.Add("P1DT2H")
	f.Fuzz(func(t *testing.T, phrase string) {
		if d, message := parseDuration(phrase); (message == "") != (d >= shortestWindow && d <= longestWindow) {
			t.Errorf("%q is %v, %q", phrase, d, message)
		}
	})
}

// at makes assets made at these minutes.
func at(minutes ...int) []store.AssetWithLineage {
	var list []store.AssetWithLineage
	for i, m := range minutes {
		list = append(list, store.AssetWithLineage{Asset: library.Asset{Hash: library.AssetHash(rune('a' + i)),
			CreatedAt: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(m) * time.Minute)}})
	}
	return list
}

func TestLineage_ThePauseThatEndsASessionFollowsThePace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		list []store.AssetWithLineage
		want time.Duration
	}{
		"alone":                     {at(0), 20 * time.Minute},
		"one pause shows no pace":   {at(0, 165), 20 * time.Minute},
		"a pair and one much later": {at(0, 5, 125), 20 * time.Minute},
		"a picture a minute":        {at(0, 1, 2, 3, 4), 20 * time.Minute},
		"a picture every 10":        {at(0, 10, 20, 30), 40 * time.Minute},
		"one a day":                 {at(0, 1440, 2880), 3 * time.Hour},
		"a night between two paces": {at(0, 10, 20, 900, 910, 920), 40 * time.Minute},
	} {
		if got := sessionGap(c.list); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestLineage_OnlyTheNearestAreKept(t *testing.T) {
	t.Parallel()
	list := at(0, 1, 2, 10, 11, 30)
	groups := splitSessions(list, 5*time.Minute)
	if len(groups) != 3 {
		t.Fatalf("%d groups", len(groups))
	}
	kept, cut := limitToNearest(groups, list[3], 3)
	if !cut || len(kept) != 2 || kept[0][0].Hash != list[2].Hash || len(kept[1]) != 2 {
		t.Errorf("kept %v, cut %v", kept, cut)
	}
	if kept, cut := limitToNearest(groups, list[3], 6); cut || len(kept) != 3 {
		t.Errorf("kept %d groups, cut %v", len(kept), cut)
	}
	for i := range list {
		if kept, _ := limitToNearest(groups, list[i], 1); len(kept) != 1 || kept[0][0].Hash != list[i].Hash {
			t.Errorf("asset %d itself was left out", i)
		}
	}
}
