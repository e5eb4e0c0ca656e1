// Command testrun runs go test with its arguments, counts what passed, failed and was
// skipped, and fails when a test was skipped: go test itself is silent about them, so
// a machine that lacks a server or a program would look like one where everything was
// tried. Only tests of sample files in ../shared may be skipped, where that is absent.
//
// It chooses the seed of this run's random tests and prints it. Otherwise it prints
// what go test prints without -v, the slowest tests, and the counts as its last line.
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"time"

	"vitrine/internal/randtest"
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
	seed := os.Getenv(randtest.SeedVariable)
	if seed == "" {
		seed = fmt.Sprint(2 + rand.Uint64N(1<<31))
	}
	fmt.Printf("random tests: %s=%s repeats their fresh cases\n", randtest.SeedVariable, seed)
	cmd := exec.CommandContext(context.Background(), "go", append([]string{"test", "-json"}, args...)...) //nolint:gosec // the arguments are the Makefile's
	cmd.Env = append(os.Environ(), randtest.SeedVariable+"="+seed)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	signal.Ignore(os.Interrupt) // go test gets it too, ends, and says what it was at
	seen, err := read(events, os.Stdout)
	err = errors.Join(cmd.Wait(), err)
	return errors.Join(err, seen.report(os.Stdout, time.Since(began)))
}
