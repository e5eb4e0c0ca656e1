// Command install installs the tools that tests need into the cache, all or those
// named, so that their downloads are no part of the tests' time. A tool that cannot be
// installed is reported and fails the tests that ask for it. With -lock it writes the
// locks of the tools instead.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"vitrine/internal/stack"
	"vitrine/internal/tools"
)

func main() {
	lock := flag.String("lock", "", "write the locks into this folder instead of installing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, flag.Args(), *lock); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, names []string, lock string) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	cfg, err := stack.FromEnv(root)
	if err != nil {
		return err
	}
	chosen := slices.DeleteFunc(slices.Clone(tools.All), func(t tools.Tool) bool { return len(names) > 0 && !slices.Contains(names, t.Name) })
	if lock != "" {
		for _, t := range chosen {
			if err := t.WriteLock(ctx, lock); err != nil {
				return fmt.Errorf("%s: %w", t.Name, err)
			}
		}
		return nil
	}
	return install(ctx, cfg, chosen)
}

// downloads are what package stack installs for demo and tests.
var downloads = map[string]func(context.Context, stack.Config, io.Writer) (string, error){"the sentence model": stack.Model, "ONNX Runtime": stack.Runtime}

// atOnce is how many tools are installed at the same time: most of it is waiting.
const atOnce = 3

func install(ctx context.Context, cfg stack.Config, chosen []tools.Tool) error {
	began := time.Now()
	var g errgroup.Group
	g.SetLimit(atOnce)
	var mu sync.Mutex
	failed := 0
	for _, t := range chosen {
		g.Go(func() error {
			if _, err := t.Path(ctx, cfg, os.Stdout); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed++
				fmt.Fprintf(os.Stdout, "The tests that need %s will fail: %v\n", t.Name, err)
			}
			return ctx.Err()
		})
	}
	for what, fetch := range downloads {
		g.Go(func() error {
			if _, err := fetch(ctx, cfg, os.Stdout); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed++
				fmt.Fprintf(os.Stdout, "The tests that need %s will fail: %v\n", what, err)
			}
			return ctx.Err()
		})
	}
	err := g.Wait()
	all := len(chosen) + len(downloads)
	fmt.Printf("%d of %d tools for tests are ready, after %.0f s\n", all-failed, all, time.Since(began).Seconds())
	return err
}
