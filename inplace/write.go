package inplace

import (
	"context"
	"time"

	"vitrine/library"
	"vitrine/store"
)

// writeWait is how long a batch waits for further files.
const writeWait = 50 * time.Millisecond

// write stores files in batches.
func (r *run) write(ctx context.Context, in <-chan reading) error {
	for {
		batch, more := collect(ctx, in)
		if len(batch) > 0 {
			if err := r.store(ctx, batch); err != nil {
				return err
			}
		}
		if !more {
			return ctx.Err()
		}
	}
}

// collect waits for files until there are many, or a moment has passed since the first.
func collect(ctx context.Context, in <-chan reading) (batch []reading, more bool) {
	var late <-chan time.Time
	for len(batch) < store.MaxInPlace {
		select {
		case f, ok := <-in:
			if !ok {
				return batch, false
			}
			if batch = append(batch, f); late == nil {
				late = time.After(writeWait)
			}
		case <-late:
			return batch, true
		case <-ctx.Done():
			return nil, false
		}
	}
	return batch, true
}

// store stores a batch. Where one of its files cannot be stored the others are stored one by
// one: it must not keep them out.
func (r *run) store(ctx context.Context, batch []reading) error {
	files := make([]store.InPlaceFile, len(batch))
	for i, f := range batch {
		files[i] = *f.file
	}
	got, _, err := r.cfg.Store.Assets.AddInPlace(ctx, r.actor, r.i.ID, files)
	switch {
	case err == nil:
		return r.stored(ctx, batch, got)
	case ctx.Err() != nil || passes(err):
		return err
	case len(batch) == 1:
		r.report.file(batch[0].path, resultFailed, library.AsError(err).Detail, batch[0].file.New.Asset.Hash)
		return nil
	}
	for _, f := range batch {
		if err := r.store(ctx, []reading{f}); err != nil {
			return err
		}
	}
	return nil
}

// stored notes what became of the files of a batch.
func (r *run) stored(ctx context.Context, batch []reading, got []store.InPlaceResult) error {
	var collect []library.AssetHash
	var forget []string
	for i, f := range batch {
		res, hash := got[i], f.file.New.Asset.Hash
		if res.Absent == "" {
			collect = append(collect, hash)
		}
		changed := f.known != nil && f.known.Hash != hash
		if changed {
			r.report.file(f.path, resultChanged, "the file there is another one now, with asset_h "+string(hash), f.known.Hash)
		}
		for _, p := range res.Left {
			r.report.file(p, resultMoved, "the same bytes lie at "+shown(f.path), hash)
		}
		switch {
		case res.Absent != "":
			r.report.file(f.path, res.Absent, "its asset is "+map[string]string{store.InTrash: "in the trash", store.Purged: "purged"}[res.Absent]+"; --restore brings it back", hash)
		case res.Created || res.Restored:
			if !changed && r.report.forget(f.path) {
				forget = append(forget, f.path)
			}
			r.report.count(func(c *library.ImportCounts) {
				c.Found++
				c.Stored++
				c.Bytes += f.bytes
				if f.lineage != "" {
					c.NoLineage[f.lineage]++
				}
			})
		case f.known != nil && f.known.Hash == hash && f.known.State != library.OriginalIntact:
			r.report.file(f.path, resultBack, "", hash)
		case f.known != nil && f.known.Hash == hash: // its bytes are the same; the file system had something new to say
			r.report.count(func(c *library.ImportCounts) { c.Found++; c.Unchanged++ })
		case changed:
			r.report.count(func(c *library.ImportCounts) { c.Found++; c.Already++ })
		default:
			r.report.file(f.path, resultAlready, "", hash)
		}
	}
	if len(forget) > 0 {
		if err := r.cfg.Store.Imports.ForgetFiles(ctx, r.i, forget); err != nil {
			return err
		}
	}
	if r.i.Options.Collection == "" || len(collect) == 0 {
		return nil
	}
	if _, err := r.cfg.Store.Collections.Add(ctx, r.actor, r.i.Options.Collection, store.NewItems{Assets: collect}); err != nil {
		r.report.warn("Files could not be added to the collection: " + library.AsError(err).Detail)
	}
	return nil
}

// saveMoves records the files that were renamed.
func (r *run) saveMoves(ctx context.Context) error {
	r.report.mu.Lock()
	moves := r.report.moves
	r.report.moves = nil
	r.report.mu.Unlock()
	for len(moves) > 0 {
		n := min(len(moves), store.MaxInPlace)
		if err := r.cfg.Store.Originals.Move(ctx, r.actor, "", moves[:n]); err != nil {
			return err
		}
		for _, m := range moves[:n] {
			r.report.count(func(c *library.ImportCounts) { c.Found++ })
			r.report.file(m.Path, resultMoved, "it lay at "+shown(m.From.Path), m.From.Hash)
		}
		moves = moves[n:]
	}
	return nil
}

// vanished marks what is not there any more. A disk that is not mounted is no deletion: of
// the files of a disk none is missing while not one is found.
func (r *run) vanished(ctx context.Context, w *walker) error {
	type disk struct{ seen, gone []*known }
	disks := map[int64]*disk{}
	for _, k := range w.known {
		d := disks[k.Stamp.Device]
		if d == nil {
			d = &disk{}
			disks[k.Stamp.Device] = d
		}
		if k.seen {
			d.seen = append(d.seen, k)
		} else if !w.below(k.Path) {
			d.gone = append(d.gone, k)
		}
	}
	away := 0
	for _, d := range disks {
		if len(d.gone) == 0 {
			continue
		}
		certain, isAway := r.certain(d.seen, d.gone)
		if isAway {
			away += len(d.gone)
			continue
		}
		if err := r.mark(ctx, certain); err != nil {
			return err
		}
	}
	r.report.count(func(c *library.ImportCounts) { c.Away = away })
	if away > 0 {
		r.report.warn("None of the files that are known of a disk is there; it seems not to be mounted, and nothing was marked as missing. If the files were deleted, import the folder with --accept-missing.")
	}
	return nil
}

// mark marks files as missing, or as moved where the same bytes lie somewhere else.
func (r *run) mark(ctx context.Context, gone []*known) error {
	for len(gone) > 0 {
		n := min(len(gone), 500)
		ids := make([]int64, n)
		for i, k := range gone[:n] {
			ids[i] = k.ID
		}
		elsewhere, err := r.cfg.Store.Originals.Mark(ctx, r.actor, ids, library.OriginalMissing)
		if err != nil {
			return err
		}
		for _, k := range gone[:n] {
			switch to, marked := elsewhere[k.ID]; {
			case to != "":
				r.report.file(k.Path, resultMoved, "the same bytes lie at "+shown(to), k.Hash)
			case marked:
				r.report.file(k.Path, resultMissing, "the file is not there any more", k.Hash)
			}
		}
		gone = gone[n:]
	}
	return nil
}
