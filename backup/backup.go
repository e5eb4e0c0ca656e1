// Package backup copies a whole library, rows and files, to a target, and brings it
// back.
//
// In come the database's owner login, the blob store and a target; out comes a
// manifest that names everything of one backup with its hash. A backup is taken
// while the service runs: its rows are one snapshot, and its files are those that
// the rows of the snapshot promise. The manifest is written last, so a backup without
// one was interrupted. Files are kept by their content and shared by all backups of a
// target. The index, Kafka's topics and previews are never backed up: they follow from
// the rows and the files.
package backup

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"vitrine/media/blob"
	"vitrine/store"
)

// Library is what is backed up, or restored into.
type Library struct {
	Database store.Config // with the owner's login
	Blobs    blob.Store
}

// Options tune a backup or a restore. The zero value is useful.
type Options struct {
	Version  string                                // of the product, for the manifest
	Progress func(phase string, done, total int64) // told often; a total of 0 is unknown
	// Replace lets a restore delete what the database holds and add to files that are
	// there already.
	Replace bool
	// AcceptDamage lets a restore go on without files that the backup holds damaged.
	AcceptDamage bool
}

func (o Options) progress(phase string, done, total int64) {
	if o.Progress != nil {
		o.Progress(phase, done, total)
	}
}

// parallel is how many tables, and how many files, are copied at once.
const (
	parallelTables = 2
	parallelFiles  = 4
)

// Create takes a backup of a library that may be in use. It returns the manifest
// once the backup is complete and durable. Files that the library itself has lost or
// holds damaged are named in Manifest.Damaged; the rest is backed up all the same.
func Create(ctx context.Context, lib Library, to Target, opt Options) (Manifest, error) {
	ctx, unlock, err := to.Lock(ctx)
	if err != nil {
		return Manifest{}, err
	}
	defer unlock()
	if err := removeUnfinished(ctx, to); err != nil {
		return Manifest{}, err
	}
	c := &creation{lib: lib, to: to, opt: opt}
	if err := c.dump(ctx); err != nil {
		return Manifest{}, fmt.Errorf("backing up the database: %w", err)
	}
	if err := c.copyFiles(ctx); err != nil {
		return Manifest{}, fmt.Errorf("backing up the files: %w", err)
	}
	if err := context.Cause(ctx); err != nil {
		return Manifest{}, err
	}
	c.m.Finished = time.Now().UTC()
	return c.m, writeManifest(ctx, to, c.m)
}

// creation is one backup under way.
type creation struct {
	lib Library
	to  Target
	opt Options
	m   Manifest
}

// dump writes the rows of one snapshot and lists the files they promise. The
// snapshot is let go before the first file is copied: that may take hours.
func (c *creation) dump(ctx context.Context) error {
	d, err := store.OpenDump(ctx, c.lib.Database)
	if err != nil {
		return err
	}
	defer d.Close()
	c.m = Manifest{Format: format, ID: newID(d.At), Product: c.opt.Version, At: d.At.UTC(), Versions: d.Versions,
		Sequences: d.Sequences, Excluded: d.Excluded, Tables: make([]Table, len(d.Tables))}
	progress := newCounter(c.opt, "rows")
	for _, t := range d.Tables {
		progress.total.Add(t.Rows)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallelTables)
	for i, t := range d.Tables {
		g.Go(func() (err error) {
			c.m.Tables[i], err = c.dumpTable(ctx, d, t)
			progress.add(c.m.Tables[i].Rows)
			return err
		})
	}
	g.Go(func() error { return c.listFiles(ctx, d) })
	if err := g.Wait(); err != nil {
		return err
	}
	for _, t := range c.m.Tables {
		if t.Name == "assets" && t.Rows != c.m.Files.Count+c.m.Files.InPlace {
			return fmt.Errorf("the snapshot has %d assets but lists %d files", t.Rows, c.m.Files.Count)
		}
	}
	return nil
}

func (c *creation) dumpTable(ctx context.Context, d *store.Dump, t store.DumpTable) (Table, error) {
	out := Table{DumpTable: t, File: tableFile(c.m.ID, t.Name)}
	p := newPacker()
	err := p.put(ctx, c.to, out.File, func(w *sink) (err error) {
		out.Rows, err = d.Copy(ctx, t, w)
		return err
	})
	if err != nil {
		return out, fmt.Errorf("table %s: %w", t.Name, err)
	}
	out.Bytes, out.SHA256, out.TextSHA256 = p.text.size, p.file.sum(), p.text.sum()
	return out, nil
}

// removeUnfinished removes what interrupted backups left. The target is locked, so
// none of them is under way.
func removeUnfinished(ctx context.Context, at Target) error {
	ids, err := at.List(ctx, backupsDir)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := at.Size(ctx, manifestFile(id)); errors.Is(err, ErrMissing) {
			if err := at.Remove(ctx, backupsDir+"/"+id); err != nil {
				return fmt.Errorf("removing the unfinished backup %s: %w", id, err)
			}
		} else if err != nil {
			return err
		}
	}
	return nil
}

// newID names a backup after its time; names sort as the backups were taken.
func newID(at time.Time) string {
	var b [3]byte
	rand.Read(b[:]) // never fails, it ends the process instead
	return at.UTC().Format("20060102T150405.000000Z") + "-" + hex.EncodeToString(b[:])
}
