package main

import (
	"context"
	"fmt"

	"vitrine/internal/sample"
)

type sampleCommand struct {
	Dir     string `arg:"" type:"path" help:"Folder to write to. It is created if missing."`
	Count   int    `default:"200" help:"Files to write."`
	Seed    uint64 `default:"1" help:"Random seed. The same seed and count produce the same files."`
	MaxEdge int    `help:"Longest side of the images in pixels. Default: natural sizes."`
	Truth   string `type:"path" help:"Also write the ground truth of each file as JSON to this path, outside the folder."`
}

func (c *sampleCommand) Run(ctx context.Context) error {
	b := newBar("drawing")
	got, err := sample.Write(ctx, c.Dir, sample.Options{Count: c.Count, Seed: c.Seed, MaxEdge: c.MaxEdge, TruthPath: c.Truth},
		func(done, total int) { b.set("drawing", int64(done), int64(total)) })
	b.close()
	if err != nil {
		return err
	}
	fmt.Printf("%d files, %.1f MB, in %s\n", got.Count, float64(got.Bytes)/1e6, c.Dir)
	return nil
}
