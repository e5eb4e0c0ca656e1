package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// Verify reads a backup through and compares every hash. It returns the files that
// are missing or damaged; an error means that rows are, or that the target cannot be
// read.
func Verify(ctx context.Context, at Target, m Manifest, opt Options) ([]Damage, error) {
	if err := checkRows(ctx, at, m, opt); err != nil {
		return nil, err
	}
	return checkFiles(ctx, at, m, opt, true)
}

// checkRows compares the files of the tables and the list of files with the manifest.
func checkRows(ctx context.Context, at Target, m Manifest, opt Options) error {
	progress := newCounter(opt, "checking tables")
	progress.total.Store(int64(len(m.Tables) + 1))
	for _, t := range m.Tables {
		if err := checkFile(ctx, at, t.File, t.SHA256); err != nil {
			return err
		}
		progress.add(1)
	}
	if err := checkFile(ctx, at, m.Files.List, m.Files.SHA256); err != nil {
		return err
	}
	progress.add(1)
	return nil
}

func checkFile(ctx context.Context, at Target, name, sum string) error {
	r, err := at.Get(ctx, name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer r.Close()
	seen := newDigest()
	if _, err := io.Copy(seen, &interruptible{ctx, r}); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if seen.sum() != sum {
		return fmt.Errorf("%s is damaged: its hash is not the manifest's", name)
	}
	return nil
}

// checkFiles finds files that are missing or have another size, or, when they are
// read, another hash. What the backup never had is left out.
func checkFiles(ctx context.Context, at Target, m Manifest, opt Options, read bool) ([]Damage, error) {
	var mu sync.Mutex
	var damaged []Damage
	progress := newCounter(opt, "checking bytes of files")
	progress.total.Store(m.Files.Bytes)
	err := eachFile(ctx, at, m, func(ctx context.Context, e entry) error {
		problem, err := checkContent(ctx, at, content{e.SHA256, e.Size}, read)
		if problem == "" && err == nil && e.Poster != nil {
			problem, err = checkContent(ctx, at, *e.Poster, read)
		}
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		progress.add(e.Size)
		if problem != "" && !m.lacks(e) {
			damaged = append(damaged, Damage{e.Tenant, e.Asset, problem})
		}
		return nil
	})
	return damaged, err
}

// lacks reports whether the library had no good file when the backup was taken.
func (m Manifest) lacks(e entry) bool {
	return slices.ContainsFunc(m.Damaged, func(d Damage) bool { return d.Tenant == e.Tenant && d.Asset == e.Asset })
}

func checkContent(ctx context.Context, at Target, want content, read bool) (problem string, err error) {
	name := contentFile(want.SHA256)
	size, err := at.Size(ctx, name)
	switch {
	case errors.Is(err, ErrMissing):
		return backupLost, nil
	case err != nil:
		return "", err
	case size != want.Size:
		return backupOther, nil
	case !read:
		return "", nil
	}
	r, err := at.Get(ctx, name)
	if err != nil {
		return "", err
	}
	defer r.Close()
	if _, err = io.Copy(io.Discard, newExact(&interruptible{ctx, r}, want)); errors.Is(err, errDamaged) {
		return backupOther, nil
	}
	return "", err
}
