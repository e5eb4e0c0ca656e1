package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"vitrine/inplace"
	"vitrine/library"
	"vitrine/service"
	"vitrine/verify"
)

type verifyCommand struct {
	servers
	Hash  string  `enum:"none,sample,full" default:"none" help:"Which files to read and hash: none (the size of each is looked at), sample or full."`
	Share float64 `default:"1" help:"With --hash sample: percentage of the files that are read, others in each run."`
	Rate  int64   `placeholder:"MB" help:"Megabytes to read per second at most. Default: as fast as the disk is."`
	After string  `placeholder:"TENANT/ASSET" help:"Resume after this asset, where an interrupted run stopped."`
	JSON  bool    `name:"json" help:"Print JSON."`
}

// problem is one damaged file, as the command prints it.
type problem struct {
	Tenant  string `json:"tenant_id"`
	Asset   string `json:"asset_h"`
	Problem string `json:"problem"`
}

// verifyReport is what the command prints as JSON.
type verifyReport struct {
	verify.Counts
	Damaged     int64     `json:"damaged"`
	Problems    []problem `json:"problems"`
	Interrupted bool      `json:"interrupted"`
	After       string    `json:"after,omitempty"` // where an interrupted run goes on
	Seconds     float64   `json:"seconds"`
}

// Run compares the files with the database, beside a running service. It ends with 1
// when a file is missing or damaged, or when it was interrupted.
func (c *verifyCommand) Run(ctx context.Context) error {
	after, err := parseKey(c.After)
	if err != nil {
		return err
	}
	if c.Share <= 0 || c.Share > 100 || c.Rate < 0 {
		return errors.New("--share is a percentage above 0 up to 100, and --rate not below 0")
	}
	cfg, st, err := c.store(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	blobs, err := service.OpenBlobs(ctx, st, cfg)
	if err != nil {
		return err
	}
	defer blobs.Close()
	blobs = inplace.NewBlobs(blobs, st, inplace.NewRoots(cfg.ImportRoots, st.Tenants))
	report := verifyReport{Problems: []problem{}}
	began, b := time.Now(), newBar("verifying")
	report.Counts, err = verify.Run(ctx, st.Files, blobs, verify.Options{Share: c.share(), After: after, Rate: c.Rate << 20,
		Progress: func(done verify.Counts, total int64) {
			b.set(fmt.Sprintf("damaged %d", done.Damaged()), done.Files, total)
		},
		Found: func(d library.DamagedFile) {
			report.Problems = append(report.Problems, problem{string(d.Tenant), string(d.Hash), string(d.Problem)})
		}})
	b.close()
	report.Interrupted = errors.Is(err, context.Canceled)
	if err != nil && !report.Interrupted {
		return err
	}
	report.Damaged, report.Seconds = report.Counts.Damaged(), time.Since(began).Seconds()
	if report.Interrupted && report.Last.Hash != "" {
		report.After = fmt.Sprintf("%s/%s", report.Last.Tenant, report.Last.Hash)
	}
	if err := c.print(report); err != nil {
		return err
	}
	if report.Interrupted || report.Damaged > 0 {
		return errSaid
	}
	return nil
}

// share returns the part of the files that are read, from 0 to 1.
func (c *verifyCommand) share() float64 {
	switch c.Hash {
	case "full":
		return 1
	case "sample":
		return c.Share / 100
	}
	return 0
}

func (c *verifyCommand) print(r verifyReport) error {
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(r)
	}
	for _, p := range r.Problems {
		fmt.Printf("%-10s %s of tenant %s\n", p.Problem, p.Asset, p.Tenant)
	}
	fmt.Printf("Verified %d files, of which %d were read (%.1f MB): %d missing, %d of another size, %d with other bytes, %d unreadable, %d in order again.\n",
		r.Files, r.Hashed, float64(r.Bytes)/1e6, r.Missing, r.Size, r.Hash, r.Unreadable, r.Healed)
	if r.Damaged > 0 {
		fmt.Println("Import the originals again: vitrine import sends files that are missing or damaged, and heals them. Or copy them back from a backup and verify again.")
	}
	if r.Interrupted {
		if r.After == "" {
			fmt.Println("Interrupted. Run the same command again.")
		} else {
			fmt.Printf("Interrupted. Go on with the same command and: --after %s\n", r.After)
		}
	}
	return nil
}
