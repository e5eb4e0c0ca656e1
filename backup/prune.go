package backup

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Keep is how many backups a retention keeps: the newest ones, and the newest of each of
// the latest days, weeks and months that have one. The newest of all is always kept.
type Keep struct{ Last, Daily, Weekly, Monthly int }

// ParseKeep reads "last=3,daily=7,weekly=4,monthly=12"; parts may be left out. An empty text is
// a retention that keeps everything.
func ParseKeep(text string) (k Keep, err error) {
	if strings.TrimSpace(text) == "" {
		return k, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		field := map[string]*int{"last": &k.Last, "daily": &k.Daily, "weekly": &k.Weekly, "monthly": &k.Monthly}[name]
		n, err := strconv.Atoi(value)
		if field == nil || err != nil || n < 0 || n > 10_000 {
			return k, fmt.Errorf("the retention of backups %q is not of the form last=3,daily=7,weekly=4,monthly=12", text)
		}
		*field = n
	}
	if k == (Keep{}) {
		return k, errors.New("a retention that keeps no backup is refused; leave it out to keep all")
	}
	return k, nil
}

// All reports whether every backup is kept.
func (k Keep) All() bool { return k == Keep{} }

// choose returns which of the backups, the oldest first, the retention drops.
func (k Keep) choose(all []Manifest) (drop []Manifest) {
	if k.All() {
		return nil
	}
	kept := map[string]map[string]bool{"day": {}, "week": {}, "month": {}}
	in := func(kind, period string, limit int) bool {
		if kept[kind][period] || len(kept[kind]) >= limit {
			return false
		}
		kept[kind][period] = true
		return true
	}
	for i, m := range slices.Backward(all) {
		at := m.At.UTC()
		year, week := at.ISOWeek()
		day := in("day", at.Format(time.DateOnly), k.Daily)
		weekly := in("week", fmt.Sprint(year, "/", week), k.Weekly)
		monthly := in("month", at.Format("2006-01"), k.Monthly)
		if newest := len(all) - i; newest > max(k.Last, 1) && !day && !weekly && !monthly {
			drop = append(drop, m)
		}
	}
	slices.Reverse(drop)
	return drop
}

// Pruned is what Prune removed.
type Pruned struct {
	Backups []string `json:"backups"` // ids, the oldest first
	Kept    int      `json:"kept"`
	Files   int64    `json:"files"` // that no backup needs any more
}

// Prune removes the backups that a retention does not keep, and then the files that no
// backup needs. It refuses when a manifest cannot be read: its files would look
// unneeded. What an interrupted run left is removed by the next.
func Prune(ctx context.Context, at Target, keep Keep, opt Options) (out Pruned, err error) {
	out.Backups = []string{}
	ctx, unlock, err := at.Lock(ctx)
	if err != nil {
		return out, err
	}
	defer unlock()
	all, err := List(ctx, at)
	if err != nil {
		return out, fmt.Errorf("nothing was removed: %w", err)
	}
	drop := keep.choose(all)
	for _, m := range drop {
		if err := at.Remove(ctx, manifestFile(m.ID)); err != nil {
			return out, err
		}
		out.Backups = append(out.Backups, m.ID)
	}
	if err := removeUnfinished(ctx, at); err != nil {
		return out, err
	}
	rest := slices.DeleteFunc(all, func(m Manifest) bool { return slices.Contains(out.Backups, m.ID) })
	out.Kept = len(rest)
	needed, err := neededFiles(ctx, at, rest)
	if err != nil {
		return out, fmt.Errorf("no files were removed: %w", err)
	}
	out.Files, err = removeUnneeded(ctx, at, needed, opt)
	return out, err
}

// neededFiles returns the hashes of the files that backups list.
func neededFiles(ctx context.Context, at Target, all []Manifest) (map[[32]byte]bool, error) {
	needed := map[[32]byte]bool{}
	var mu sync.Mutex
	for _, m := range all {
		err := eachFile(ctx, at, m, func(_ context.Context, e entry) error {
			mu.Lock()
			defer mu.Unlock()
			for _, c := range []*content{{SHA256: e.SHA256}, e.Poster} {
				if c == nil {
					continue
				}
				sum, err := hex.DecodeString(c.SHA256)
				if err != nil || len(sum) != 32 {
					return fmt.Errorf("%q is no hash", c.SHA256)
				}
				needed[[32]byte(sum)] = true
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return needed, nil
}

// removeUnneeded removes files that are not needed. What is no file of a backup stays.
func removeUnneeded(ctx context.Context, at Target, needed map[[32]byte]bool, opt Options) (n int64, err error) {
	folders, err := at.List(ctx, filesDir)
	if err != nil {
		return 0, err
	}
	for i, folder := range folders {
		opt.progress("removing files", int64(i), int64(len(folders)))
		names, err := at.List(ctx, filesDir+"/"+folder)
		if err != nil {
			return n, err
		}
		for _, name := range names {
			sum, err := hex.DecodeString(strings.SplitN(name, "~", 2)[0]) // a half-written one has a longer name
			if err != nil || len(sum) != 32 || len(name) == 64 && needed[[32]byte(sum)] {
				continue
			}
			if err := at.Remove(ctx, filesDir+"/"+folder+"/"+name); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, ctx.Err()
}
