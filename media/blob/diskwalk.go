package blob

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"time"

	"vitrine/library"
)

// Walk implements Store.
func (d *Disk) Walk(ctx context.Context, fn func(Entry) error) error {
	return d.walkFiles(ctx, "assets", func(name string, info fs.FileInfo) error {
		tenant, hash, ok := splitAsset(name)
		if !ok {
			return nil // not ours, so not ours to judge
		}
		return fn(Entry{Tenant: tenant, Hash: hash, Size: info.Size(), ModTime: info.ModTime()})
	})
}

// deadAfter is when bytes that are being written belong to nobody: uploads come at a
// pace, so one that nothing was added to for so long ended with its process.
const deadAfter = 30 * time.Minute

// SweepStaged implements Store. Half written files go when nothing was added to them
// for half an hour.
func (d *Disk) SweepStaged(ctx context.Context, age time.Duration) (files int, bytes int64, err error) {
	if err := d.Available(ctx); err != nil {
		return 0, 0, err
	}
	now := time.Now()
	err = d.walkFiles(ctx, "staging", func(name string, info fs.FileInfo) error {
		old := age
		if strings.Contains(name, halfWritten) {
			old = min(age, deadAfter)
		}
		if info.ModTime().After(now.Add(-old)) {
			return nil
		}
		if err := ignoreMissing(d.root().Remove(name)); err != nil {
			return err
		}
		files++
		bytes += info.Size()
		return nil
	})
	return files, bytes, err
}

// RemoveLost implements Store. The bytes are first moved aside: whoever stores
// the same bytes right now puts new ones in the old place, and bytes that turn
// out to be young are put back.
func (d *Disk) RemoveLost(ctx context.Context, tenant library.TenantID, h library.AssetHash, before time.Time) (bool, error) {
	from, err := assetPath("assets", tenant, h)
	if err != nil {
		return false, err
	}
	aside, err := assetPath("lost", tenant, h)
	if err != nil {
		return false, err
	}
	if err := d.Available(ctx); err != nil {
		return false, err
	}
	if err := d.root().MkdirAll(path.Dir(aside), 0o750); err != nil {
		return false, full(err)
	}
	if err := d.root().Rename(from, aside); err != nil {
		return false, ignoreMissing(err)
	}
	info, err := d.root().Stat(aside)
	if err != nil {
		return false, err
	}
	if info.ModTime().After(before) {
		return false, d.putBack(aside, from)
	}
	if derived, err := assetPath("derived", tenant, h); err == nil {
		_ = d.root().RemoveAll(derived)
	}
	return true, d.root().Remove(aside)
}

// putBack returns bytes to their place, durably. Should new ones stand there
// already, they are the same bytes.
func (d *Disk) putBack(aside, to string) error {
	if err := d.root().Rename(aside, to); err != nil {
		return err
	}
	return d.syncDir(path.Dir(to))
}

// restoreLost puts back what a crash in RemoveLost left aside; the next sweep
// judges it anew.
func (d *Disk) restoreLost() error {
	return d.walkFiles(context.Background(), "lost", func(name string, _ fs.FileInfo) error {
		tenant, hash, ok := splitAsset(name)
		if !ok {
			return nil
		}
		to, err := assetPath("assets", tenant, hash)
		if err != nil {
			return err
		}
		if err := d.makeDir(path.Dir(to)); err != nil {
			return err
		}
		return ignoreMissing(d.putBack(name, to))
	})
}

// walkFiles visits the regular files below a folder. Files that vanish under it
// are passed over: uploads go on meanwhile.
func (d *Disk) walkFiles(ctx context.Context, dir string, fn func(name string, info fs.FileInfo) error) error {
	err := fs.WalkDir(d.root().FS(), dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return ignoreMissing(err)
		}
		if !e.Type().IsRegular() {
			return ctx.Err()
		}
		info, err := e.Info()
		if err != nil {
			return ignoreMissing(err)
		}
		return fn(name, info)
	})
	return ignoreMissing(err)
}

var derivedName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// PutDerived implements Store. It does not fsync: a lost preview is made again.
func (d *Disk) PutDerived(ctx context.Context, tenant library.TenantID, h library.AssetHash, name string, data []byte) error {
	dir, err := assetPath("derived", tenant, h)
	if err != nil || !derivedName.MatchString(name) {
		return errors.Join(err, errors.New("not a name for a derived file"))
	}
	if err := d.Available(ctx); err != nil {
		return err
	}
	if err := d.root().MkdirAll(dir, 0o750); err != nil {
		return full(err)
	}
	temp := path.Join(dir, "."+name+"."+time.Now().Format("150405.000000000"))
	if err := d.root().WriteFile(temp, data, 0o640); err != nil {
		_ = d.root().Remove(temp)
		return full(err)
	}
	return d.root().Rename(temp, path.Join(dir, name))
}

// DropDerived implements Store.
func (d *Disk) DropDerived(_ context.Context, tenant library.TenantID, h library.AssetHash) error {
	dir, err := assetPath("derived", tenant, h)
	if err != nil {
		return err
	}
	return d.root().RemoveAll(dir)
}

// GetDerived implements Store.
func (d *Disk) GetDerived(_ context.Context, tenant library.TenantID, h library.AssetHash, name string) ([]byte, error) {
	dir, err := assetPath("derived", tenant, h)
	if err != nil || !derivedName.MatchString(name) {
		return nil, library.NotFound("preview")
	}
	data, err := d.root().ReadFile(path.Join(dir, name))
	// A power failure may leave the name of a file that was not synced, and no bytes.
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(data) == 0 {
		return nil, library.NotFound("preview")
	}
	return data, err
}
