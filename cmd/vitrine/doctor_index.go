package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"vitrine/indexer"
)

const (
	// inspectFor is how long doctor compares index and library; in a larger library it
	// looks at a part.
	inspectFor = 10 * time.Second
	// indexPatience is how old a change may be that the index does not have yet.
	indexPatience = time.Minute
)

// indexSummary reports how index and library compare.
func indexSummary(i indexer.Inspection) string {
	s := fmt.Sprintf("%d documents for %d assets, %d compared", i.Documents, i.Assets, i.Compared)
	if late := i.Missing + i.Stale; late > 0 {
		s += fmt.Sprintf("; %d changes are on their way, the oldest for %s", late, i.Behind.Round(time.Second))
	}
	return s
}

// indexProblem returns what an operator should know, or nil.
func indexProblem(i indexer.Inspection) error {
	var said []string
	say := func(when bool, format string, args ...any) {
		if when {
			said = append(said, fmt.Sprintf(format, args...))
		}
	}
	late := i.Behind > indexPatience
	say(i.Problem != "", "%s", i.Problem)
	say(i.Incomplete != "", "%s: it has %d documents for %d assets, and searches say that it is incomplete", i.Incomplete, i.Documents, i.Assets)
	say(i.Ahead > 0, "%d documents are newer than the database, which was set back to an earlier time", i.Ahead)
	say(i.Orphans > 0, "%d documents have no asset", i.Orphans)
	say(late && i.Missing > 0, "%d assets are missing from the index", i.Missing)
	say(late && i.Stale > 0, "%d documents are older than their assets", i.Stale)
	say(late, "the oldest change that the index lacks is of %s ago", i.Behind.Round(time.Second))
	if len(said) == 0 {
		return nil
	}
	return errors.New(strings.Join(said, "; "))
}
