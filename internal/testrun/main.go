// Command testrun runs go test with its arguments and tells at the end which
// tests were skipped and why: go test itself is silent about them, so a machine
// that lacks a server or a program would look like one where everything was
// tried. Otherwise it prints what go test prints, and ends with its exit code.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

func main() {
	cmd := exec.Command("go", append([]string{"test", "-json"}, os.Args[1:]...)...)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	told := tell(events, os.Stdout)
	err = cmd.Wait()
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		os.Exit(ended.ExitCode())
	case err != nil, told != nil:
		fmt.Fprintln(os.Stderr, errors.Join(err, told))
		os.Exit(1)
	}
}

// event is a line of go test -json; see "go doc test2json".
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// test names a test, or a whole package where name is empty.
type test struct{ pkg, name string }

// tell reads the events of a run to their end and writes what people need of them.
func tell(events io.Reader, w io.Writer) error {
	said := map[test]*strings.Builder{}
	var skipped []string
	for d := json.NewDecoder(events); ; {
		var e event
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("reading what go test tells: %w", err)
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
	for _, left := range said {
		fmt.Fprint(w, left.String())
	}
	return tellSkipped(skipped, w)
}

func tellSkipped(skipped []string, w io.Writer) error {
	if len(skipped) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "\n%d tests were skipped:\n  %s\n", len(skipped), strings.Join(skipped, "\n  "))
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
