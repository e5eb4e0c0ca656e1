package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"vitrine/indexer"
)

type rebuildCommand struct {
	servers
	Rollback bool `help:"Roll back to the index that the last rebuild replaced."`
	Abort    bool `help:"Delete the unfinished index of an interrupted rebuild."`
}

func (c *rebuildCommand) Run(ctx context.Context) error {
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if c.Abort {
		return s.Indexer.AbortRebuild(ctx)
	}
	b := newBar("rebuilding")
	progress := func(p indexer.Progress) { b.set(p.Phase, p.Done, p.Total) }
	run := s.Indexer.Rebuild
	if c.Rollback {
		run = s.Indexer.Rollback
	}
	done, err := run(ctx, progress)
	b.close()
	if err != nil {
		return err
	}
	fmt.Printf("Searches now use %s (was %s), after %s. Differences repaired: %d.\n", done.Index, done.Replaced, done.Took.Round(time.Millisecond), done.Repaired)
	return nil
}

type reconcileCommand struct {
	servers
	RetryRefused bool `help:"Also retry the documents that the index refused (dead letters). The indexer of a running service writes them."`
	JSON         bool `name:"json" help:"Print JSON."`
}

func (c *reconcileCommand) Run(ctx context.Context) error {
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if c.RetryRefused {
		n, err := s.Indexer.ReplayFailures(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "Queued %d refused documents for indexing.\n", n)
	}
	b := newBar("comparing")
	got, err := s.Indexer.Reconcile(ctx, func(done, total int64) { b.set("comparing", done, total) })
	b.close()
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(struct {
			indexer.ReconcileReport
			Repaired int64   `json:"repaired"`
			Seconds  float64 `json:"seconds"`
		}{got, got.Repaired(), got.Took.Seconds()})
	}
	if got.FixedFirst != "" {
		fmt.Printf("Index fixed first: %s.\n", got.FixedFirst)
	}
	fmt.Printf("Reconciled in %s: %d missing, %d stale, %d orphaned, %d ahead of the database. Repaired %d, remaining %d.\n",
		got.Took.Round(time.Millisecond), got.Missing, got.Stale, got.Orphans, got.Ahead, got.Repaired(), got.Remaining)
	if got.Remaining > 0 {
		return errSaid
	}
	return nil
}
