// Command testrun runs go test with its arguments and tells at the end which
// tests were skipped and why: go test itself is silent about them, so a machine
// that lacks a server or a program would look like one where everything was
// tried. Otherwise it prints what go test prints without -v, and ends with its
// exit code.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
)

func main() {
	err := run(os.Args[1:])
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		os.Exit(ended.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	cmd := exec.CommandContext(context.Background(), "go", append([]string{"test", "-json"}, args...)...) //nolint:gosec // the arguments are the Makefile's
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	signal.Ignore(os.Interrupt) // go test gets it too, ends, and says what it was at
	told := tell(events, os.Stdout)
	return errors.Join(told, cmd.Wait())
}

// event is a line of go test -json; see "go doc test2json".
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// longest is the longest line that go test may write.
const longest = 64 << 20

// test names a test, or a whole package where name is empty.
type test struct{ pkg, name string }

// tell reads the events of a run to their end and writes what people need of them.
func tell(events io.Reader, w io.Writer) error {
	said := map[test]*strings.Builder{}
	var skipped []string
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
		case "skip":
			if e.Test != "" {
				skipped = append(skipped, fmt.Sprintf("%s %s: %s", e.Package, e.Test, reason(said[of].String())))
				break
			}
			fmt.Fprint(w, result(said[of].String())) // a package without tests
		case "fail":
			fmt.Fprint(w, failure(said[of].String()))
		case "pass":
			if e.Test == "" {
				fmt.Fprint(w, result(said[of].String()))
			}
		}
		if e.Action == "pass" || e.Action == "fail" || e.Action == "skip" {
			delete(said, of)
		}
	}
	// What never ended says why, such as a program that was killed.
	for _, of := range slices.SortedFunc(maps.Keys(said), func(a, b test) int { return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.name, b.name)) }) {
		fmt.Fprint(w, said[of].String())
	}
	return errors.Join(lines.Err(), tellSkipped(skipped, w))
}

func tellSkipped(skipped []string, w io.Writer) error {
	if len(skipped) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "\nSkipped tests, %d:\n  %s\n", len(skipped), strings.Join(skipped, "\n  "))
	return err
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
