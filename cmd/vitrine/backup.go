package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"vitrine/backup"
	"vitrine/internal/s3"
	"vitrine/internal/settings"
	"vitrine/media/blob"
	"vitrine/service"
)

type backupCommand struct {
	Create backupCreate `cmd:"" default:"withargs" help:"Back up the library into a folder or bucket, while it is in use."`
	List   backupList   `cmd:"" help:"List the complete backups of a folder."`
	Verify backupVerify `cmd:"" help:"Verify the hashes of a backup."`
	Prune  backupPrune  `cmd:"" help:"Remove old backups, and the files that no other backup needs."`
}

type backupCreate struct {
	servers
	Dir  string `arg:"" help:"Folder, or s3://bucket/prefix, for backups. Backups in it share identical files."`
	JSON bool   `name:"json" help:"Print the manifest as JSON."`
}

// Run takes a backup. The exit status is 1 as well when files of the library were
// lost or damaged: everything else is in the backup then.
func (c *backupCreate) Run(ctx context.Context) error {
	lib, done, err := c.library(ctx, service.OpenLibraryBlobs)
	if err != nil {
		return err
	}
	defer done()
	to, err := backupsAt(ctx, c.Dir, c.Buckets, backup.CreateAt)
	if err != nil {
		return err
	}
	defer to.Close()
	b := newBar("backing up")
	m, err := backup.Create(ctx, lib, to, backup.Options{Version: version, Progress: b.set})
	b.close()
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(m)
	}
	fmt.Printf("Backup %s is complete: %d assets and %d bytes of files as of %s, of which %d files and %d bytes were new here.\n",
		m.ID, m.Files.Count, m.Files.Bytes, m.At.Local().Format(time.DateTime), m.Files.Copied, m.Files.CopiedBytes)
	if n := m.Files.InPlace; n > 0 {
		fmt.Printf("NOT in it: the files of %d assets (%d bytes) that are referenced in place. Back up their folders yourself; what is known of them is in the backup.\n", n, m.Files.InPlaceBytes)
	}
	return tellDamage(m.Damaged)
}

// library opens what backup and restore work on. The owner's login is needed.
func (s servers) library(ctx context.Context, open func(context.Context, service.Config) (blob.Place, error)) (backup.Library, func(), error) {
	cfg, err := s.config()
	if err != nil {
		return backup.Library{}, nil, err
	}
	if cfg.PostgresURL == "" {
		return backup.Library{}, nil, errors.New("backup and restore need the login of the schema's owner in VITRINE_POSTGRES_URL")
	}
	blobs, err := open(ctx, cfg)
	if err != nil {
		return backup.Library{}, nil, err
	}
	return backup.Library{Database: cfg.Database(), Blobs: blobs}, func() { blobs.Close() }, nil
}

// tellDamage lists files that could not be copied, and fails when there are any.
func tellDamage(damaged []backup.Damage) error {
	if len(damaged) == 0 {
		return nil
	}
	const most = 20
	for _, d := range damaged[:min(len(damaged), most)] {
		warn("asset %s of tenant %s: %s", d.Asset, d.Tenant, d.Problem)
	}
	warn("%d files are missing or damaged.", len(damaged))
	return errSaid
}

// backupsAt opens a folder or bucket of backups.
func backupsAt(ctx context.Context, place string, flags settings.Buckets, open func(context.Context, string, s3.Access) (backup.Target, error)) (backup.Target, error) {
	access, err := flags.Access()
	if err != nil {
		return nil, err
	}
	return open(ctx, place, access)
}

type backupList struct {
	settings.Buckets
	Dir  string `arg:"" help:"Folder or bucket of backups."`
	JSON bool   `name:"json" help:"Print the manifests as JSON."`
}

func (c *backupList) Run(ctx context.Context) error {
	at, err := backupsAt(ctx, c.Dir, c.Buckets, backup.OpenAt)
	if err != nil {
		return err
	}
	defer at.Close()
	all, err := backup.List(ctx, at)
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(append([]backup.Manifest{}, all...))
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "BACKUP\tAS OF\tASSETS\tBYTES\tNEW BYTES\tDAMAGED\tVERSION")
	for _, m := range all {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%s\n", m.ID, day(&m.At), m.Files.Count, m.Files.Bytes, m.Files.CopiedBytes, len(m.Damaged), m.Product)
	}
	return w.Flush()
}

type backupVerify struct {
	settings.Buckets
	Dir    string `arg:"" help:"Folder or bucket of backups."`
	Backup string `help:"Id of the backup. Default: the newest."`
}

func (c *backupVerify) Run(ctx context.Context) error {
	at, err := backupsAt(ctx, c.Dir, c.Buckets, backup.OpenAt)
	if err != nil {
		return err
	}
	defer at.Close()
	m, err := backup.ReadManifest(ctx, at, c.Backup)
	if err != nil {
		return err
	}
	b := newBar("verifying")
	damaged, err := backup.Verify(ctx, at, m, backup.Options{Progress: b.set})
	b.close()
	if err != nil {
		return err
	}
	if err := tellDamage(damaged); err != nil {
		return err
	}
	fmt.Printf("Backup %s is whole: %d tables and %d files have the hashes that they had.\n", m.ID, len(m.Tables), m.Files.Count-int64(len(m.Damaged)))
	return nil
}

type backupPrune struct {
	settings.Buckets
	Dir  string `arg:"" help:"Folder or bucket of backups."`
	Keep string `required:"" placeholder:"last=3,daily=7" help:"Backups to keep: the newest, and the newest of each of the latest days, weeks and months, as last=3,daily=7,weekly=4,monthly=12."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run removes what the retention does not keep. The newest backup always stays.
func (c *backupPrune) Run(ctx context.Context) error {
	keep, err := backup.ParseKeep(c.Keep)
	if err == nil && keep.All() {
		err = errors.New("--keep says nothing; an example is last=3,daily=7")
	}
	if err != nil {
		return err
	}
	at, err := backupsAt(ctx, c.Dir, c.Buckets, backup.OpenAt)
	if err != nil {
		return err
	}
	defer at.Close()
	b := newBar("pruning")
	got, err := backup.Prune(ctx, at, keep, backup.Options{Progress: b.set})
	b.close()
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(got)
	}
	fmt.Printf("Removed %d backups and %d files that no other backup needs; %d backups stay.\n", len(got.Backups), got.Files, got.Kept)
	return nil
}

type restoreCommand struct {
	servers
	Dir          string `arg:"" help:"Folder or bucket of backups."`
	Backup       string `help:"Id of the backup. Default: the newest."`
	Replace      bool   `help:"Delete what the database holds, and add to the files that the data folder holds."`
	AcceptDamage bool   `help:"Continue if files are missing from the backup or damaged."`
	JSON         bool   `name:"json" help:"Print JSON."`
}

// Run restores a library that no service uses. The index follows at the service's
// next start.
func (c *restoreCommand) Run(ctx context.Context) error {
	from, err := backupsAt(ctx, c.Dir, c.Buckets, backup.OpenAt)
	if err != nil {
		return err
	}
	defer from.Close()
	m, err := backup.ReadManifest(ctx, from, c.Backup)
	if err != nil {
		return err
	}
	lib, done, err := c.library(ctx, service.CreateBlobs)
	if err != nil {
		return err
	}
	defer done()
	b := newBar("restoring")
	got, err := backup.Restore(ctx, from, m, lib, backup.Options{Progress: b.set, Replace: c.Replace, AcceptDamage: c.AcceptDamage})
	b.close()
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(got)
	}
	fmt.Printf("Restored %d assets as of %s: %d rows, and %d files that were not there yet. %d migrations followed.\nStart the service: it makes a new search index, and searches say index_incomplete until that is full.\n",
		got.Assets, m.At.Local().Format(time.DateTime), got.Rows, got.Files, got.Migrations)
	return tellDamage(got.Damaged)
}
