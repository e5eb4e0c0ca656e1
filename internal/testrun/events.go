package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// event is a line of go test -json; see "go doc test2json".
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64 // in seconds
}

// longest is the longest line that go test may write.
const longest = 64 << 20

// test names a test, or a whole package where name is empty.
type test struct{ pkg, name string }

// summary is what a run came to.
type summary struct {
	passed, failed int
	skipped        []string // each with its reason
	absent         []string // those of them that sample files are absent for
	slow           []timed  // top-level tests
}

type timed struct {
	test
	took time.Duration
}

// read reads the events of a run to their end and writes what people need of them.
func read(events io.Reader, w io.Writer) (*summary, error) {
	s := &summary{}
	said := map[test]*strings.Builder{}
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, longest)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Action == "" {
			fmt.Fprintln(w, lines.Text()) // of a program that writes past the tests
			continue
		}
		of := test{e.Package, e.Test}
		if said[of] == nil {
			said[of] = &strings.Builder{}
		}
		switch e.Action {
		case "output":
			said[of].WriteString(e.Output)
		case "build-output":
			fmt.Fprint(w, e.Output)
		case "pass", "fail", "skip":
			s.count(e, said[of].String())
			fmt.Fprint(w, shown(e, said[of].String()))
			delete(said, of)
		}
	}
	// What never ended says why, such as a program that was killed.
	for _, of := range slices.SortedFunc(maps.Keys(said), func(a, b test) int { return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.name, b.name)) }) {
		fmt.Fprint(w, said[of].String())
	}
	return s, lines.Err()
}

// count adds the end of a test.
func (s *summary) count(e event, said string) {
	if e.Test == "" {
		return
	}
	switch e.Action {
	case "pass":
		s.passed++
	case "fail":
		s.failed++
	case "skip":
		line := fmt.Sprintf("%s %s: %s", e.Package, e.Test, reason(said))
		s.skipped = append(s.skipped, line)
		if strings.Contains(said, "../shared") {
			s.absent = append(s.absent, line)
		}
	}
	if !strings.Contains(e.Test, "/") {
		s.slow = append(s.slow, timed{test{e.Package, e.Test}, time.Duration(e.Elapsed * float64(time.Second))})
	}
}

// shown is what is printed at the end of a test or package: the sum of a package, and
// everything of what failed.
func shown(e event, said string) string {
	switch {
	case e.Action == "fail":
		return failure(said)
	case e.Test == "" && !strings.Contains(said, "[no test files]"):
		return result(said)
	}
	return ""
}

// slowest is how many tests are listed with their times.
const slowest = 8

// report writes the skipped and the slowest tests and, as the last line, the counts. It
// returns an error when a test was skipped that should not be.
func (s *summary) report(w io.Writer, took time.Duration) error {
	slices.SortStableFunc(s.slow, func(a, b timed) int { return cmp.Compare(b.took, a.took) })
	fmt.Fprintf(w, "\nThe tests took %s. The slowest:\n", took.Round(time.Second))
	for _, t := range s.slow[:min(slowest, len(s.slow))] {
		fmt.Fprintf(w, "  %6.1f s  %s %s\n", t.took.Seconds(), t.pkg, t.name)
	}
	if len(s.skipped) > 0 {
		fmt.Fprintf(w, "\nSkipped tests, %d:\n  %s\n", len(s.skipped), strings.Join(s.skipped, "\n  "))
	}
	fmt.Fprintf(w, "\n%d passed, %d failed, %d skipped\n", s.passed, s.failed, len(s.skipped))
	if n := len(s.skipped) - len(s.absent); n > 0 {
		return fmt.Errorf("%d tests were skipped that run on every machine: a test installs what it needs (see CONTRIBUTING.md)", n)
	}
	return nil
}

// result is the line that go test sums up a package with.
func result(said string) string {
	lines := strings.SplitAfter(strings.TrimSuffix(said, "\n"), "\n")
	return lines[len(lines)-1] + "\n"
}

// failure is what a failed test said, without the lines that only a verbose run has.
func failure(said string) string {
	var b strings.Builder
	for line := range strings.Lines(said) {
		if !strings.HasPrefix(line, "=== ") && line != "PASS\n" {
			b.WriteString(line)
		}
	}
	return b.String()
}

// reason is what a test said when it was skipped: "file.go:12: why".
func reason(said string) string {
	var why []string
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			why = append(why, line)
		}
	}
	if len(why) == 0 {
		return "without a reason"
	}
	return strings.Join(why, " ")
}
