package indexer

import (
	"strings"
	"testing"

	"vitrine/store/indexstate"
)

func TestLostEvents_AreSeenByWhatKafkaHoldsNoMore(t *testing.T) {
	t.Parallel()
	stream := func(cluster string, list ...indexstate.Partition) indexstate.Stream {
		s := indexstate.Stream{Cluster: cluster, Partitions: map[int]indexstate.Partition{}}
		for n, p := range list {
			s.Partitions[n] = p
		}
		return s
	}
	before := stream("a", indexstate.Partition{First: 10, End: 100, Committed: 90}, indexstate.Partition{Committed: -1})
	for _, c := range []struct {
		name string
		now  indexstate.Stream
		lost string // a part of the reason; "" where nothing is lost
	}{
		{"nothing happened", before, ""},
		{"more came and was indexed", stream("a", indexstate.Partition{First: 10, End: 150, Committed: 150}, indexstate.Partition{End: 3, Committed: 3}), ""},
		{"old events that were indexed are deleted", stream("a", indexstate.Partition{First: 90, End: 100, Committed: 90}, indexstate.Partition{Committed: -1}), ""},
		{"offsets went back without losing events", stream("a", indexstate.Partition{First: 10, End: 100, Committed: 20}, indexstate.Partition{Committed: -1}), ""},
		{"another cluster", stream("b", indexstate.Partition{First: 10, End: 100, Committed: 90}, indexstate.Partition{Committed: -1}), "another cluster"},
		{"the topic ends earlier", stream("a", indexstate.Partition{First: 0, End: 99, Committed: 90}, indexstate.Partition{Committed: -1}), "ended at 100"},
		{"the group is forgotten", stream("a", indexstate.Partition{First: 10, End: 100, Committed: -1}, indexstate.Partition{Committed: -1}), "forgotten"},
		{"unread events are deleted", stream("a", indexstate.Partition{First: 95, End: 100, Committed: 90}, indexstate.Partition{Committed: -1}), "not indexed"},
		{"unread events are deleted that nobody began to read", stream("a", indexstate.Partition{First: 10, End: 100, Committed: 90}, indexstate.Partition{First: 2, End: 5, Committed: -1}), "not indexed"},
		{"fewer partitions", stream("a", indexstate.Partition{First: 10, End: 100, Committed: 90}), "gone"},
	} {
		got := lostEvents(&before, c.now)
		if (got == "") != (c.lost == "") || !strings.Contains(got, c.lost) {
			t.Errorf("%s: %q, want something with %q", c.name, got, c.lost)
		}
		if again := lostEvents(&c.now, c.now); again != "" {
			t.Errorf("%s: the same again is %q", c.name, again)
		}
	}
	if got := lostEvents(nil, before); got != "" {
		t.Errorf("what was never seen is %q", got)
	}
}
