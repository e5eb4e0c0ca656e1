package backup

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"vitrine/library"
	"vitrine/media/preview"
	"vitrine/store"
)

// listFiles writes the list of the files that the snapshot promises. Posters of 3D
// models are files that somebody sent, unlike previews, so they are copied with it.
func (c *creation) listFiles(ctx context.Context, d *store.Dump) error {
	c.m.Files.List = listFile(c.m.ID)
	p := newPacker()
	err := p.put(ctx, c.to, c.m.Files.List, func(w *sink) error {
		lines := json.NewEncoder(w)
		return d.Files(ctx, func(f store.DumpedFile) error {
			if f.InPlace { // its owner's, who backs it up
				c.m.Files.InPlace++
				c.m.Files.InPlaceBytes += f.Size
				return nil
			}
			e := entry{Tenant: f.Tenant, Asset: f.Asset, SHA256: f.SHA256, Size: f.Size}
			if f.Model {
				if err := c.copyPoster(ctx, &e); err != nil {
					return err
				}
			}
			c.m.Files.Count++
			c.m.Files.Bytes += f.Size
			return lines.Encode(e)
		})
	})
	c.m.Files.SHA256 = p.file.sum()
	return err
}

func (c *creation) copyPoster(ctx context.Context, e *entry) error {
	poster, err := c.lib.Blobs.GetDerived(ctx, e.Tenant, e.Asset, preview.PosterName)
	if isNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	sum := sha256.Sum256(poster)
	e.Poster = &content{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(poster))}
	name := contentFile(e.Poster.SHA256)
	if size, err := c.to.Size(ctx, name); err == nil && size == e.Poster.Size {
		return nil
	}
	_, err = c.to.Put(ctx, name, bytes.NewReader(poster))
	return err
}

func isNotFound(err error) bool {
	return err != nil && library.AsError(err).Kind == library.KindNotFound
}

// copyFiles copies the listed files that the target does not have yet.
func (c *creation) copyFiles(ctx context.Context) error {
	progress := newCounter(c.opt, "bytes of files")
	progress.total.Store(c.m.Files.Bytes)
	var mu sync.Mutex
	return eachFile(ctx, c.to, c.m, func(ctx context.Context, e entry) error {
		copied, problem, err := c.copyFile(ctx, e)
		if err != nil {
			return fmt.Errorf("asset %s of tenant %s: %w", e.Asset, e.Tenant, err)
		}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case problem != "":
			c.m.Damaged = append(c.m.Damaged, Damage{e.Tenant, e.Asset, problem})
		case copied:
			c.m.Files.Copied++
			c.m.Files.CopiedBytes += e.Size
		}
		progress.add(e.Size)
		return nil
	})
}

// What may be wrong with a file of the library.
const (
	purged      = "the asset was deleted for good while the backup ran"
	lost        = "the library has lost the file"
	otherBytes  = "the library's file is damaged: its bytes have another hash than when they were stored"
	backupLost  = "the backup lacks the file"
	backupOther = "the backup's file is damaged"
)

// copyFile copies one file unless the target has it. A file is kept under its hash only after it
// was seen to have that hash.
func (c *creation) copyFile(ctx context.Context, e entry) (copied bool, problem string, err error) {
	name := contentFile(e.SHA256)
	if size, err := c.to.Size(ctx, name); err == nil && size == e.Size {
		return false, "", nil
	} else if err != nil && !errors.Is(err, ErrMissing) {
		return false, "", err
	}
	file, err := c.lib.Blobs.Open(ctx, e.Tenant, e.Asset)
	if isNotFound(err) {
		there, err := store.AssetExists(ctx, c.lib.Database, library.AssetKey{Tenant: e.Tenant, Hash: e.Asset})
		if err != nil {
			return false, "", err
		}
		if there {
			return false, lost, nil
		}
		return false, purged, nil
	}
	if err != nil {
		return false, "", err
	}
	defer file.Close()
	_, err = c.to.Put(ctx, name, newExact(io.NewSectionReader(file, 0, file.Size()), content{e.SHA256, e.Size}))
	if errors.Is(err, errDamaged) {
		return false, otherBytes, nil
	}
	return err == nil, "", err
}

// eachFile runs fn for every line of a backup's list, several at once.
func eachFile(ctx context.Context, at Target, m Manifest, fn func(context.Context, entry) error) error {
	r, err := unpack(ctx, at, m.Files.List)
	if err != nil {
		return err
	}
	defer r.Close()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallelFiles)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<10)
	n := int64(0)
	for lines.Scan() && ctx.Err() == nil {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || len(e.SHA256) != 64 || !e.Tenant.Valid() || !e.Asset.Valid() {
			return errors.Join(g.Wait(), fmt.Errorf("line %d of %s is damaged", n+1, m.Files.List))
		}
		n++
		g.Go(func() error { return fn(ctx, e) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s is damaged: %w", m.Files.List, err)
	}
	if n != m.Files.Count {
		return fmt.Errorf("%s lists %d files, and the manifest says %d", m.Files.List, n, m.Files.Count)
	}
	return nil
}
