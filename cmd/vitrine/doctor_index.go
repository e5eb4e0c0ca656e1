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

// indexSummary reports how the indices and the library compare.
func indexSummary(list []indexer.Inspection) string {
	parts := make([]string, len(list))
	for n, i := range list {
		parts[n] = fmt.Sprintf("%d documents for %d %s, %d compared", i.Documents, i.Rows, i.Index, i.Compared)
		if late := i.Missing + i.Stale; late > 0 {
			parts[n] += fmt.Sprintf("; %d changes are on their way, the oldest for %s", late, i.Behind.Round(time.Second))
		}
	}
	return strings.Join(parts, "; ")
}

// indexProblems returns what an operator should know of any index, or nil.
func indexProblems(list []indexer.Inspection) error {
	var errs []string
	for _, i := range list {
		if err := indexProblem(i); err != nil {
			errs = append(errs, err.Error())
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return errors.New(strings.Join(errs, "; "))
}

// indexProblem returns what an operator should know of one index, or nil.
func indexProblem(i indexer.Inspection) error {
	var said []string
	say := func(when bool, format string, args ...any) {
		if when {
			said = append(said, fmt.Sprintf(format, args...))
		}
	}
	late := i.Behind > indexPatience
	say(i.Problem != "", "%s", i.Problem)
	say(i.Incomplete != "", "%s: it has %d documents for %d %s, and searches say that it is incomplete", i.Incomplete, i.Documents, i.Rows, i.Index)
	say(i.Ahead > 0, "%d documents are newer than the database, which was set back to an earlier time", i.Ahead)
	say(i.Orphans > 0, "%d documents of %s show what is not there", i.Orphans, i.Index)
	say(late && i.Missing > 0, "%d %s are missing from the index", i.Missing, i.Index)
	say(late && i.Stale > 0, "%d documents are older than their %s", i.Stale, i.Index)
	say(late, "the oldest change that the index lacks is of %s ago", i.Behind.Round(time.Second))
	if len(said) == 0 {
		return nil
	}
	return errors.New(strings.Join(said, "; "))
}
