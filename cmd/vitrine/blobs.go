package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"vitrine/media/blob"
	"vitrine/service"
	"vitrine/store"
)

type blobsCommand struct {
	Status blobsStatus `cmd:"" help:"Say which folder or bucket holds the library's files, and whether it is the one expected."`
	Adopt  blobsAdopt  `cmd:"" help:"Make the folder of VITRINE_DATA_DIR, or the place that VITRINE_BLOBS names, the one that holds the library's files, after an intended change."`
	Move   blobsMove   `cmd:"" help:"Copy the library's files to another folder or bucket and make that the library's."`
}

type blobsStatus struct {
	servers
	JSON bool `name:"json" help:"Print JSON."`
}

// Run ends with 1 when the folder is not the library's.
func (c *blobsStatus) Run(ctx context.Context) error {
	cfg, st, err := c.store(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	status, err := service.InspectBlobs(ctx, st, cfg)
	if err != nil {
		return err
	}
	if c.JSON {
		err = json.NewEncoder(os.Stdout).Encode(status)
	} else {
		printBlobs(status)
	}
	if !status.OK() {
		return errSaid
	}
	return err
}

func printBlobs(b service.BlobStatus) {
	fmt.Printf("Place:     %s (%s)\nStore id:  %s\nExpected:  %s\n", b.Path, b.State, orNone(b.ID), orNone(b.Want))
	if b.Sampled > 0 {
		fmt.Printf("Files:     %d of %d that were looked for are there; the library has %d assets\n", b.Sampled-b.Missing, b.Sampled, b.Assets)
	}
	if b.Damaged > 0 {
		fmt.Printf("Damaged:   %d files are known to be missing or damaged; vitrine verify lists them\n", b.Damaged)
	}
	if !b.OK() {
		fmt.Println((&blob.FolderError{Folder: b.Folder, Want: b.Want}).Error())
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

type blobsAdopt struct {
	servers
	AcceptMissing bool `help:"Adopt the folder although files of the library are missing in it."`
	JSON          bool `name:"json" help:"Print JSON."`
}

// Run changes nothing when the folder is the library's already.
func (c *blobsAdopt) Run(ctx context.Context) error {
	cfg, st, err := c.store(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	status, err := service.AdoptBlobs(ctx, st, cfg, operator, c.AcceptMissing)
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(status)
	}
	printBlobs(status)
	fmt.Println("Services whose VITRINE_DATA_DIR or VITRINE_BLOBS leads to this place use it within seconds; others refuse to read and store files.")
	return nil
}

type blobsMove struct {
	servers
	To            string `arg:"" help:"Folder, or s3://bucket/prefix of the server of VITRINE_S3_ENDPOINT. What is there already is not copied again."`
	AcceptMissing bool   `help:"Move the library although files of it are missing or damaged."`
	Stopped       bool   `help:"No service runs: do not wait until all have noticed, and copy nothing that came meanwhile."`
	JSON          bool   `name:"json" help:"Print JSON."`
}

// Run may be repeated after an interruption.
func (c *blobsMove) Run(ctx context.Context) error {
	cfg, st, err := c.store(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	to, err := blob.At(c.To, cfg.S3)
	if err != nil {
		return err
	}
	b := newBar("copying")
	got, err := service.MoveBlobs(ctx, st, cfg, to, operator, service.MoveOptions{AcceptMissing: c.AcceptMissing, Stopped: c.Stopped, Progress: b.set})
	b.close()
	if err != nil {
		if ctx.Err() != nil {
			warn("Interrupted after %d files were copied. Repeat the command: it copies what is not there yet.", got.Copied)
		}
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(got)
	}
	fmt.Printf("The library's %d files are at %s now; %d files and %d bytes were copied by this run.\n", got.Files, got.To, got.Copied, got.Bytes)
	if got.Missing > 0 {
		fmt.Printf("%d files were missing or damaged and could not be copied; vitrine verify lists them.\n", got.Missing)
	}
	fmt.Printf("Start every service with VITRINE_BLOBS=%s. What is at %s is not used any more, and was not deleted.\n", c.To, got.From)
	return nil
}

// store opens the database alone, for commands that work where the service would
// refuse to start.
func (s servers) store(ctx context.Context) (service.Config, *store.Store, error) {
	cfg, err := s.config()
	if err != nil {
		return cfg, nil, err
	}
	if err := checkSchema(ctx, cfg); err != nil {
		return cfg, nil, err
	}
	st, err := store.Open(ctx, cfg.Database())
	return cfg, st, err
}
