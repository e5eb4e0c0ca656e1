package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"vitrine/api/client"
	"vitrine/importer"
)

type importCommand struct {
	remote
	Paths      []string `arg:"" name:"path" type:"path" help:"Folders and files to import. They are not changed."`
	Tag        []string `help:"Tag for every imported file; may be repeated."`
	Collection string   `help:"Path of a collection that gets every imported file."`
	Restore    bool     `help:"Bring back files whose assets are in the trash or were purged. They are left out otherwise."`
	InPlace    bool     `name:"in-place" help:"Import folders on the machine of the service without copying: the files stay where they are. The service must allow the folder in VITRINE_IMPORT_ROOTS."`
	Watch      bool     `help:"With --in-place: go on with new and changed files until interrupted."`
	Preset     string   `enum:",comfyui,a1111,invokeai,swarmui,other" default:"" help:"With --in-place: whose output folder it is, which decides what is left out. Default: what it looks like."`
	AcceptGone bool     `name:"accept-missing" help:"With --in-place: mark files as missing although none of their disk is there. That is taken for a disk that is not mounted otherwise."`
	DryRun     bool     `help:"Show what the import would do, without importing anything."`
	JSON       bool     `name:"json" help:"Print the report as JSON, with the result of every file."`
}

// Validate implements kong.Validatable.
func (c *importCommand) Validate() error {
	if c.Watch && !c.InPlace {
		return errors.New("--watch goes with --in-place: the service watches the folder, which it must be allowed to read in VITRINE_IMPORT_ROOTS")
	}
	return nil
}

func (c *importCommand) Run(ctx context.Context) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	if c.InPlace {
		return c.inPlace(ctx, api)
	}
	b := newImportBar()
	report, err := importer.Run(ctx, api, c.Paths, importer.Options{Tags: c.Tag, Collection: c.Collection, DryRun: c.DryRun, Restore: c.Restore, Progress: b.show})
	b.close()
	if err != nil {
		return err
	}
	if c.JSON {
		if err := printJSON(report); err != nil {
			return err
		}
	} else {
		printReport(report)
		if report.Stored > 0 && !c.DryRun {
			printEmbedded(ctx, api, report.LastWrite)
		}
	}
	if report.Failed > 0 || report.Interrupted {
		return errSaid
	}
	return nil
}

// printEmbedded prints how far the library is with search by meaning: vectors are made
// after an import. Where that cannot be had, the import is done all the same.
func printEmbedded(ctx context.Context, api *client.Client, lastWrite string) {
	found, err := api.SearchAssets(ctx, client.SearchAssetsInput{Query: "picture", Limit: 1, MinIndexToken: lastWrite})
	if err == nil && found.SemanticShare != nil {
		fmt.Printf("  Search by meaning covers %.0f %% of the library so far; vitrine doctor and the gallery show the progress\n", math.Floor(100**found.SemanticShare))
	}
}

func printReport(r importer.Report) {
	did, verb := "stored", "Imported"
	if r.DryRun {
		did, verb = "would be stored", "Would import"
	}
	rate := ""
	if r.Seconds > 0 && !r.DryRun {
		rate = fmt.Sprintf(", %.0f files/s", float64(r.Done())/r.Seconds)
	}
	fmt.Printf("%s: %d found, %d %s (%.1f MB), %d already there, %d skipped, %d failed, in %s%s\n", verb, r.Found, r.Stored, did,
		float64(r.Bytes)/1e6, r.Already, r.Skipped, r.Failed, time.Duration(r.Seconds*float64(time.Second)).Round(100*time.Millisecond), rate)
	if r.Healed > 0 {
		fmt.Printf("  %d that were there already had a missing or damaged file, and are in order again\n", r.Healed)
	}
	if r.Absent > 0 {
		fmt.Printf("  %d left out, because their assets are in the trash or were purged; --restore brings them back\n", r.Absent)
	}
	if r.Sidecars > 0 {
		fmt.Printf("  %d used as sidecars of media files with the same name\n", r.Sidecars)
	}
	for reason, n := range r.NoLineage {
		fmt.Printf("  %d without generation metadata: %s\n", n, reason)
	}
	for _, f := range r.Files {
		if f.Result == "failed" || f.Result == "skipped" {
			fmt.Printf("  %-8s %s: %s\n", f.Result, f.Path, f.Reason)
		}
	}
	if r.Interrupted {
		fmt.Println("Interrupted. Run the same command again to resume.")
	}
}

// importBar shows an import's counts.
type importBar struct {
	bar   *bar
	began time.Time
}

func newImportBar() *importBar { return &importBar{bar: newBar("importing"), began: time.Now()} }

func (b *importBar) show(c importer.Counts) {
	what := fmt.Sprintf("found %d, stored %d, already there %d, failed %d", c.Found, c.Stored, c.Already, c.Failed)
	total := int64(c.Found)
	if c.Searching {
		what += " (still looking)"
	}
	b.bar.set(what, int64(c.Done()), total)
}

func (b *importBar) close() { b.bar.close() }
