package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"vitrine/media/extract"
	"vitrine/op/search"
)

type extractCommand struct {
	Paths   []string `arg:"" name:"file" type:"path" help:"Files, or folders with all below them."`
	JSON    bool     `name:"json" help:"Print one JSON object per line, with the fields of an asset's details."`
	DataDir string   `env:"VITRINE_DATA_DIR" default:".vitrine/data" help:"The data folder, whose nodes.d describes further node classes."`
}

// Run reads files without a service. A file that cannot be read is named on the
// error output and does not stop the others.
func (c *extractCommand) Run(ctx context.Context) error {
	if err := extract.LoadNodeClasses(filepath.Join(c.DataDir, extract.NodesFolder)); err != nil {
		warn("%v", err)
	}
	bad := 0
	for _, root := range c.Paths {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				return ctx.Err()
			}
			if err == nil {
				err = c.one(ctx, path)
			}
			if err != nil {
				bad++
				warn("%s: %v", path, err)
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	if bad > 0 {
		return errSaid
	}
	return nil
}

func (c *extractCommand) one(ctx context.Context, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	got, err := extract.Read(ctx, f, info.Size(), extract.Options{Filename: filepath.Base(path)})
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(search.DescribeFile(path, info.Size(), got))
	}
	printLineage(path, got)
	return nil
}

func printLineage(path string, got extract.Result) {
	l := got.Lineage
	fmt.Printf("%s\n  %s, %dx%d", path, got.MIMEType, got.Width, got.Height)
	if l.Tool != "" {
		fmt.Printf(", made by %s", strings.TrimSpace(l.Tool+" "+l.ToolVersion))
	}
	fmt.Println()
	if l.Positive != nil {
		fmt.Printf("  prompt     %s\n", oneLine(*l.Positive))
	}
	if l.Negative != nil && *l.Negative != "" {
		fmt.Printf("  negative   %s\n", oneLine(*l.Negative))
	}
	for _, m := range l.Models {
		fmt.Printf("  %-10s %s", m.Type, m.Name)
		if m.Strength != nil {
			fmt.Printf(" × %g", *m.Strength)
		}
		fmt.Println()
	}
	if p := l.Parameters; p != nil {
		var parts []string
		add := func(name string, v any, has bool) {
			if has {
				parts = append(parts, fmt.Sprintf("%s %v", name, v))
			}
		}
		add("seed", deref(p.Seed), p.Seed != nil)
		add("steps", deref(p.Steps), p.Steps != nil)
		add("cfg", deref(p.CFGScale), p.CFGScale != nil)
		add("sampler", deref(p.Sampler), p.Sampler != nil)
		add("scheduler", deref(p.Scheduler), p.Scheduler != nil)
		add("denoise", deref(p.Denoise), p.Denoise != nil)
		if len(parts) > 0 {
			fmt.Printf("  settings   %s\n", strings.Join(parts, ", "))
		}
	}
	if w := l.Workflow; w != nil {
		fmt.Printf("  workflow   %d nodes\n", w.NodeCount)
	}
	for _, p := range l.Parents {
		fmt.Printf("  made from  %s\n", strings.TrimSpace(p.Name+" "+p.JobID))
	}
	if got.Report.State != extract.StateFull {
		fmt.Printf("  %s\n", got.Report.Sentence)
	}
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// oneLine folds white space and cuts what does not fit a screen.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 300 {
		return string(r[:300]) + "…"
	}
	return s
}
