package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"vitrine/internal/retry"
	"vitrine/media/blob"
	"vitrine/media/preview"
	"vitrine/store"
)

// Restored is what a restore did.
type Restored struct {
	Backup      string   `json:"backup"`
	Assets      int64    `json:"assets"`
	Rows        int64    `json:"rows"`
	Files       int64    `json:"files"` // copied; others were there already
	Bytes       int64    `json:"bytes"`
	Migrations  int      `json:"migrations"`   // that the restored schema lacked
	Damaged     []Damage `json:"damaged"`      // assets whose file could not be restored
	FilesBefore bool     `json:"files_before"` // the blob store held files already
}

// Restore brings a backup into an empty library. Nothing is touched before the
// manifest, the hashes of all rows and the presence of all files are checked. Files
// come first, each under its hash once it has been seen to have it; then all rows in
// one transaction, which is committed when they read back as they were. The index
// follows when the service starts.
func Restore(ctx context.Context, from Target, m Manifest, into Library, opt Options) (Restored, error) {
	out := Restored{Backup: m.ID, Damaged: m.Damaged}
	if err := store.KnownVersions(m.Versions); err != nil {
		return out, fmt.Errorf("the backup was made by %s: %w", m.Product, err)
	}
	if err := checkRows(ctx, from, m, opt); err != nil {
		return out, err
	}
	damaged, err := checkFiles(ctx, from, m, opt, false)
	if err != nil {
		return out, err
	}
	if err := opt.accept(damaged); err != nil {
		return out, err
	}
	load, err := store.OpenLoad(ctx, into.Database)
	if err != nil {
		return out, err
	}
	defer load.Close()
	if out.FilesBefore, err = mayRestore(ctx, load, into, opt); err != nil {
		return out, err
	}
	r := &restoration{from: from, m: m, into: into, opt: opt, out: &out}
	if err := r.copyFiles(ctx); err != nil {
		return out, fmt.Errorf("restoring the files: %w", err)
	}
	if err := r.load(ctx, load); err != nil {
		return out, fmt.Errorf("restoring the database: %w", err)
	}
	return out, nil
}

func (o Options) accept(damaged []Damage) error {
	if len(damaged) == 0 || o.AcceptDamage {
		return nil
	}
	d := damaged[0]
	return fmt.Errorf("%d files of the backup are missing or damaged, the first is of asset %s: %s; vitrine backup verify lists them, and --accept-damage restores everything else",
		len(damaged), d.Asset, d.Problem)
}

// sessionsEnd is how long a server takes at most to end the sessions of a service that has
// just stopped.
const sessionsEnd = 3 * time.Second

// usersAfterWaiting counts the sessions of a running service that do not end soon.
func usersAfterWaiting(ctx context.Context, load *store.Load) (int, error) {
	for began := time.Now(); ; {
		users, err := load.Users(ctx)
		if users == 0 || err != nil || time.Since(began) > sessionsEnd {
			return users, err
		}
		if err := retry.Sleep(ctx, 100*time.Millisecond); err != nil {
			return users, err
		}
	}
}

// mayRestore refuses a library that is in use, or that holds anything, unless
// that was allowed. It reports whether there are files.
func mayRestore(ctx context.Context, load *store.Load, into Library, opt Options) (files bool, err error) {
	users, err := usersAfterWaiting(ctx, load)
	if err != nil {
		return false, err
	}
	if users > 0 {
		return false, fmt.Errorf("%d sessions of a running service use the database; stop every vitrine serve first", users)
	}
	filled, err := load.Filled(ctx)
	if err != nil {
		return false, err
	}
	if len(filled) > 0 && !opt.Replace {
		return false, fmt.Errorf("the database is not empty: there are rows in %s; name an empty database, or delete what is there with --replace", strings.Join(filled, ", "))
	}
	errFound := errors.New("found")
	err = into.Blobs.Walk(ctx, func(blob.Entry) error { return errFound })
	if files = errors.Is(err, errFound); files {
		err = nil
	}
	if err == nil && files && !opt.Replace {
		err = errors.New("the blob store is not empty; name an empty data folder, or add to the one that is there with --replace, which keeps all files in it")
	}
	return files, err
}

// restoration is one restore under way.
type restoration struct {
	from Target
	m    Manifest
	into Library
	opt  Options
	out  *Restored
	mu   sync.Mutex
}

func (r *restoration) copyFiles(ctx context.Context) error {
	progress := newCounter(r.opt, "bytes of files")
	progress.total.Store(r.m.Files.Bytes)
	var found []Damage
	err := eachFile(ctx, r.from, r.m, func(ctx context.Context, e entry) error {
		copied, problem, err := r.copyFile(ctx, e)
		if err != nil {
			return fmt.Errorf("asset %s of tenant %s: %w", e.Asset, e.Tenant, err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		progress.add(e.Size)
		switch {
		case problem != "" && !r.m.lacks(e):
			found = append(found, Damage{e.Tenant, e.Asset, problem})
		case problem == "" && copied:
			r.out.Files++
			r.out.Bytes += e.Size
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.out.Damaged = append(r.out.Damaged, found...)
	return r.opt.accept(found)
}

// copyFile brings one file, and its poster, to its place.
func (r *restoration) copyFile(ctx context.Context, e entry) (copied bool, problem string, err error) {
	if r.out.FilesBefore && r.holds(ctx, e) {
		return false, "", r.copyPoster(ctx, e)
	}
	file, err := r.from.Get(ctx, contentFile(e.SHA256))
	if errors.Is(err, ErrMissing) {
		return false, backupLost, nil
	}
	if err != nil {
		return false, "", err
	}
	defer file.Close()
	id := blob.NewStagingID()
	staged, err := r.into.Blobs.Stage(ctx, e.Tenant, id, newExact(file, content{e.SHA256, e.Size}), math.MaxInt64-1)
	if errors.Is(err, errDamaged) || err == nil && staged.SHA1 != e.Asset {
		return false, backupOther, r.into.Blobs.Discard(ctx, e.Tenant, id)
	}
	if err == nil {
		err = r.into.Blobs.Commit(ctx, e.Tenant, id, e.Asset)
	}
	if err != nil {
		return false, "", err
	}
	return true, "", r.copyPoster(ctx, e)
}

// holds reports whether the blob store has a file already, with the bytes that it
// should have.
func (r *restoration) holds(ctx context.Context, e entry) bool {
	file, err := r.into.Blobs.Open(ctx, e.Tenant, e.Asset)
	if err != nil {
		return false
	}
	defer file.Close()
	_, err = io.Copy(io.Discard, newExact(io.NewSectionReader(file, 0, file.Size()), content{e.SHA256, e.Size}))
	return err == nil
}

// copyPoster restores a model's poster. A damaged one is left out: the asset is whole
// without it.
func (r *restoration) copyPoster(ctx context.Context, e entry) error {
	if e.Poster == nil {
		return nil
	}
	file, err := r.from.Get(ctx, contentFile(e.Poster.SHA256))
	if errors.Is(err, ErrMissing) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	var poster bytes.Buffer
	if _, err := io.Copy(&poster, newExact(file, *e.Poster)); errors.Is(err, errDamaged) {
		return nil
	} else if err != nil {
		return err
	}
	return r.into.Blobs.PutDerived(ctx, e.Tenant, e.Asset, preview.PosterName, poster.Bytes())
}

// load brings the rows, in one transaction.
func (r *restoration) load(ctx context.Context, load *store.Load) error {
	if err := load.Begin(ctx, r.m.Versions); err != nil {
		return err
	}
	tables := map[string]Table{}
	var names []store.DumpTable
	progress := newCounter(r.opt, "rows")
	for _, t := range r.m.Tables {
		if has, err := load.Has(ctx, t.DumpTable); err != nil {
			return err
		} else if !has && !r.opt.AcceptDamage {
			return fmt.Errorf("the backup has a table %s that is not of this schema: somebody added it to the library's own; --accept-damage leaves it out", t.Name)
		} else if !has {
			continue
		}
		tables[t.Name] = t
		names = append(names, t.DumpTable)
		progress.total.Add(t.Rows)
	}
	ordered, err := load.Order(ctx, names)
	if err != nil {
		return err
	}
	for _, t := range ordered {
		if err := r.loadTable(ctx, load, tables[t.Name]); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
		progress.add(tables[t.Name].Rows)
	}
	if err := load.Advance(ctx, r.m.Sequences); err != nil {
		return err
	}
	r.out.Migrations, err = load.Finish(ctx, r.m.ID, r.m.At)
	return err
}

// loadTable loads a table and reads it back: as many rows, and every byte of them.
func (r *restoration) loadTable(ctx context.Context, load *store.Load, t Table) error {
	text, err := unpack(ctx, r.from, t.File)
	if err != nil {
		return err
	}
	defer text.Close()
	whole, sent, stored := newDigest(), &lineSet{}, &lineSet{}
	rows, err := load.Copy(ctx, t.DumpTable, io.TeeReader(&interruptible{ctx, text}, io.MultiWriter(whole, sent)))
	if err != nil {
		return err
	}
	if whole.sum() != t.TextSHA256 {
		return errors.New("the backup does not hold the rows that the manifest names")
	}
	if rows != t.Rows {
		return fmt.Errorf("%d rows came of the %d that the manifest names", rows, t.Rows)
	}
	if err := load.ReadBack(ctx, t.DumpTable, stored); err != nil {
		return err
	}
	if !stored.equal(sent) {
		return errors.New("its rows do not read back as they were")
	}
	r.out.Rows += rows
	if t.Name == "assets" {
		r.out.Assets = rows
	}
	return nil
}
