package main

import (
	"context"
	"fmt"
	"time"

	"vitrine/service"
)

type sweepCommand struct {
	servers
	Age     time.Duration `default:"24h" help:"Minimum age of uploads that nobody stored. Half-written files and files without an asset go after 30 minutes at most."`
	NoLimit bool          `name:"no-limit" help:"Remove files without an asset however many there are. Otherwise more than 100 of them that are more than 1 % of all files are taken for a wrong database or folder, and none is removed."`
}

func (c *sweepCommand) Run(ctx context.Context) error {
	s, err := c.openWithFiles(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	got, err := s.Sweep(ctx, service.SweepOptions{Age: c.Age, NoLimit: c.NoLimit})
	if err != nil {
		return err
	}
	fmt.Printf("Removed %d abandoned uploads (%d bytes) and %d orphaned files (%d bytes); %d files are in use.\n",
		got.StagedFiles, got.StagedBytes, got.OrphanFiles, got.OrphanBytes, got.Referenced)
	return nil
}
