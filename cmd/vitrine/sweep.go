package main

import (
	"context"
	"fmt"
	"time"
)

type sweepCommand struct {
	servers
	Age time.Duration `default:"24h" help:"Minimum age of files to remove; younger ones may belong to an upload in progress."`
}

func (c *sweepCommand) Run(ctx context.Context) error {
	s, err := c.openWithFiles(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	got, err := s.Sweep(ctx, c.Age)
	if err != nil {
		return err
	}
	fmt.Printf("Removed %d abandoned uploads (%d bytes) and %d orphaned files (%d bytes); %d files are in use.\n",
		got.StagedFiles, got.StagedBytes, got.OrphanFiles, got.OrphanBytes, got.Referenced)
	return nil
}
