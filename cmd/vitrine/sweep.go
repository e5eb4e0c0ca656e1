package main

import (
	"context"
	"fmt"
	"time"
)

type sweepCommand struct {
	servers
	Age time.Duration `default:"24h" help:"What is younger is left alone: it may be under way."`
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
	fmt.Printf("Removed %d lost uploads (%d bytes) and %d files without a row (%d bytes); %d files are in use.\n",
		got.StagedFiles, got.StagedBytes, got.OrphanFiles, got.OrphanBytes, got.Referenced)
	return nil
}
