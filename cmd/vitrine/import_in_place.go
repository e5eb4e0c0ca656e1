package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"vitrine/api/client"
)

// inPlace has the service import folders without copying, and shows the progress.
func (c *importCommand) inPlace(ctx context.Context, api *client.Client) error {
	if c.DryRun {
		return errors.New("--dry-run and --in-place do not go together: an import in place changes nothing in the folder and copies nothing")
	}
	failed := false
	for _, folder := range c.Paths {
		started, err := api.StartImport(ctx, client.StartImportInput{Folder: folder, Tags: c.Tag, CollectionH: c.Collection, Restore: c.Restore,
			Watch: c.Watch, Preset: c.Preset, AcceptMissing: c.AcceptGone})
		if err != nil {
			return err
		}
		report, err := followImport(ctx, api, started.ImportID)
		if ctx.Err() != nil && c.Watch {
			report, err = cancelWatch(api, started.ImportID)
		}
		if ctx.Err() != nil && !c.Watch {
			fmt.Printf("The service goes on with the import. Show it with: vitrine imports show %s\nEnd it with: vitrine imports cancel %s\n", started.ImportID, started.ImportID)
			return errSaid
		}
		if err != nil {
			return err
		}
		if c.JSON {
			err = printJSON(report)
		} else {
			err = printImport(context.WithoutCancel(ctx), api, report)
		}
		if err != nil {
			return err
		}
		failed = failed || report.Failed > 0 || report.State == "failed"
	}
	if failed {
		return errSaid
	}
	return nil
}

// cancelWatch ends an import that watches, and returns its report.
func cancelWatch(api *client.Client, id string) (client.GetImportOutput, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if _, err := api.CancelImport(ctx, client.CancelImportInput{ImportID: id}); err != nil {
		return client.GetImportOutput{}, err
	}
	return followImport(ctx, api, id)
}

// followEvery is how often the progress of an import is asked for.
const followEvery = 500 * time.Millisecond

// followImport shows the progress of an import until it ends.
func followImport(ctx context.Context, api *client.Client, id string) (client.GetImportOutput, error) {
	b := newBar("importing")
	defer b.close()
	for {
		got, err := api.GetImport(ctx, client.GetImportInput{ImportID: id})
		if err != nil {
			return got, err
		}
		switch got.State {
		case "completed", "failed", "cancelled":
			return got, nil
		}
		b.set(importLine(got), int64(got.Done), int64(got.Found))
		select {
		case <-ctx.Done():
			return got, ctx.Err()
		case <-time.After(followEvery):
		}
	}
}

// importLine is the progress of an import in one line.
func importLine(i client.GetImportOutput) string {
	line := fmt.Sprintf("%s: found %d, stored %d, unchanged %d, failed %d", i.State, i.Found, i.Stored, i.Unchanged, i.Failed)
	if i.Searching {
		line += " (still looking)"
	}
	if i.State == "running" && i.FilesPerSecond > 0 {
		line += fmt.Sprintf(", %.0f files/s", i.FilesPerSecond)
	}
	if i.EtaSeconds != nil && *i.EtaSeconds > 0 {
		line += ", about " + (time.Duration(*i.EtaSeconds) * time.Second).String() + " left"
	}
	return line
}

// printImport prints the report of an import, with the files that failed.
func printImport(ctx context.Context, api *client.Client, i client.GetImportOutput) error {
	where := i.Root
	if i.Folder != "" {
		where += "/" + i.Folder
	}
	fmt.Printf("Import %s of %s (%s, preset %s)\n", i.ImportID, where, i.State, i.Preset)
	fmt.Printf("  %d found, %d stored in place (%.1f MB), %d already there, %d unchanged, %d failed, in %s, %.0f files/s\n", i.Found, i.Stored, float64(i.Bytes)/1e6, i.AlreadyStored, i.Unchanged, i.Failed,
		time.Duration(i.Seconds*float64(time.Second)).Round(100*time.Millisecond), i.FilesPerSecond)
	for _, n := range []struct {
		n    int
		what string
	}{{i.Paired, "sidecars and first frames belong to other files"}, {i.Skipped, "skipped"}, {i.Moved, "moved"}, {i.Changed, "originals have other bytes now"}, {i.Missing, "originals are missing"},
		{i.Restored, "originals are there again"}, {i.Away, "originals were not looked for, because their disk seems not to be mounted"}, {i.Absent, "left out: in the trash or purged; --restore brings them back"},
		{i.Waiting, "are being written, and looked at again"}} {
		if n.n > 0 {
			fmt.Printf("  %d %s\n", n.n, n.what)
		}
	}
	for reason, n := range i.NoLineage {
		fmt.Printf("  %d without generation metadata: %s\n", n, reason)
	}
	for _, w := range i.Warnings {
		fmt.Println("  Note:", w)
	}
	if i.Error != "" {
		fmt.Println("  Failed:", i.Error)
	}
	return printImportFiles(ctx, api, i.ImportID, "failed", 50)
}

// printImportFiles prints what became of some files of an import.
func printImportFiles(ctx context.Context, api *client.Client, id, result string, most int) error {
	shown := 0
	for cursor := ""; ; {
		page, err := api.ListImportFiles(ctx, client.ListImportFilesInput{ImportID: id, Result: result, Cursor: cursor, Limit: 1000})
		if err != nil {
			return err
		}
		for _, f := range page.Data {
			if shown++; most > 0 && shown > most {
				fmt.Printf("  … all of them: vitrine imports show %s --files %s\n", id, result)
				return nil
			}
			fmt.Printf("  %-14s %s", f.Result, f.Path)
			if f.Reason != "" {
				fmt.Printf(": %s", f.Reason)
			}
			fmt.Println()
		}
		if cursor = page.NextCursor; cursor == "" {
			return nil
		}
	}
}

type importsCommand struct {
	List   importsList   `cmd:"" help:"List imports, the newest first."`
	Show   importsShow   `cmd:"" help:"Show the report of an import."`
	Cancel importsCancel `cmd:"" help:"Cancel an import. What it has stored stays."`
}

type importsList struct {
	remote
	Limit int  `default:"20" help:"How many to list, at most 200."`
	JSON  bool `name:"json" help:"Print JSON."`
}

func (c *importsList) Run(ctx context.Context) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	list, err := api.ListImports(ctx, client.ListImportsInput{Limit: c.Limit})
	if err != nil || c.JSON {
		if err == nil {
			err = printJSON(list)
		}
		return err
	}
	w := newTable(os.Stdout, "import", "state", "folder", "found", "stored", "failed", "files/s", "started")
	for _, i := range list.Data {
		started := "-"
		if i.StartedAt != nil {
			started = i.StartedAt.Local().Format(time.DateTime)
		}
		w.row(i.ImportID, i.State, i.Root+"/"+i.Folder, i.Found, i.Stored, i.Failed, fmt.Sprintf("%.0f", i.FilesPerSecond), started)
	}
	return w.flush()
}

type importsShow struct {
	remote
	ID    string `arg:"" name:"import" help:"Its id."`
	Files string `placeholder:"RESULT" help:"Also list the files of a result: failed, skipped, paired, moved, already_stored, trashed, purged, missing, changed, restored; all for every one."`
	JSON  bool   `name:"json" help:"Print JSON."`
}

func (c *importsShow) Run(ctx context.Context) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	i, err := api.GetImport(ctx, client.GetImportInput{ImportID: c.ID})
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(i)
	}
	if err := printImport(ctx, api, i); err != nil || c.Files == "" {
		return err
	}
	if c.Files == "all" {
		c.Files = ""
	}
	return printImportFiles(ctx, api, c.ID, c.Files, 0)
}

type importsCancel struct {
	remote
	ID string `arg:"" name:"import" help:"Its id."`
}

func (c *importsCancel) Run(ctx context.Context) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	i, err := api.CancelImport(ctx, client.CancelImportInput{ImportID: c.ID})
	if err == nil {
		fmt.Printf("Import %s ends (%s).\n", i.ImportID, i.State)
	}
	return err
}
