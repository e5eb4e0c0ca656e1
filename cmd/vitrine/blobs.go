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
	Status blobsStatus `cmd:"" help:"Say which folder holds the library's files, and whether it is the one expected."`
	Adopt  blobsAdopt  `cmd:"" help:"Make the folder of VITRINE_DATA_DIR the one that holds the library's files, after an intended change."`
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
	fmt.Printf("Folder:    %s (%s)\nStore id:  %s\nExpected:  %s\n", b.Path, b.State, orNone(b.ID), orNone(b.Want))
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
	fmt.Println("Services whose VITRINE_DATA_DIR leads to this folder use it within seconds; others refuse to read and store files.")
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
