// Package verify compares the files of a library with what its database promises of
// them.
//
// In go a store and the place that keeps its files; out come counts, and each file that
// is missing, has another size or other bytes, or cannot be read. What is found is
// recorded in the database, where an import looks before it passes over a file, and
// taken back when the file is in order again. Files are only read. A run can be stopped
// at any time and go on later; it runs beside the service.
package verify

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"time"

	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/store"
)

// Options say what to look at. The zero value looks at the size of every file.
type Options struct {
	// Share of the files, from 0 to 1, that are read and hashed. Which ones differs from
	// run to run. Of all others the size is looked at.
	Share float64
	After library.AssetKey // go on behind this asset; the zero value starts at the first
	Rate  int64            // bytes read per second at most; 0 means as fast as the disk is
	Most  int64            // end after a file when so many bytes were looked at; 0 means at the last file
	// Progress is told the counts now and then, and how many files there are.
	Progress func(done Counts, total int64)
	// Found is told of each damaged file; nil: nobody is.
	Found func(library.DamagedFile)
}

// Counts is what a run found.
type Counts struct {
	Files      int64            `json:"files"`        // files that were looked at
	Hashed     int64            `json:"hashed"`       // of those, read as a whole
	Bytes      int64            `json:"bytes_hashed"` // bytes that were read
	Missing    int64            `json:"missing"`
	Size       int64            `json:"wrong_size"`
	Hash       int64            `json:"wrong_hash"`
	Unreadable int64            `json:"unreadable"`
	Healed     int64            `json:"healed"`         // damaged before, and in order now
	Originals  int64            `json:"originals"`      // files that are referenced in place
	Lost       int64            `json:"originals_lost"` // of those, missing, changed or out of reach at present
	Last       library.AssetKey `json:"-"`              // all files up to this one were looked at
	Ended      bool             `json:"-"`              // it was the last file
}

// Damaged counts the files that are not what was stored.
func (c Counts) Damaged() int64 { return c.Missing + c.Size + c.Hash + c.Unreadable }

func (c *Counts) add(p library.FileProblem) {
	switch p {
	case library.FileMissing:
		c.Missing++
	case library.FileSize:
		c.Size++
	case library.FileHash:
		c.Hash++
	case library.FileUnreadable:
		c.Unreadable++
	}
}

// batchSize is how many files are asked of the database at once.
const batchSize = 500

// leastCost is what looking at a file counts at least towards Most and Rate, in bytes.
const leastCost = 4 << 10

// Run looks at the files in the order of their tenants and hashes. Stopped by its
// context it returns the counts so far beside the error; pass Last as After to go on. A
// folder of files that is not there ends the run, since none of its files are missing.
func Run(ctx context.Context, rows *store.Files, blobs blob.Store, opt Options) (Counts, error) {
	r := &run{store: rows, blobs: blobs, opt: opt, counts: Counts{Last: opt.After}, pace: pace{rate: opt.Rate, began: time.Now()}}
	var total int64
	if opt.Progress != nil {
		var err error
		if total, _, err = rows.Count(ctx, opt.After); err != nil {
			return r.counts, err
		}
	}
	for {
		files, err := rows.List(ctx, r.counts.Last, batchSize)
		if err != nil {
			return r.counts, err
		}
		if len(files) == 0 {
			r.counts.Ended = true
			return r.counts, nil
		}
		if err := r.batch(ctx, files, total); err != nil {
			return r.counts, err
		}
		if opt.Most > 0 && r.cost >= opt.Most {
			return r.counts, nil
		}
	}
}

type run struct {
	store  *store.Files
	blobs  blob.Store
	opt    Options
	counts Counts
	cost   int64 // towards Options.Most
	pace   pace
}

func (r *run) batch(ctx context.Context, files []store.StoredBytes, total int64) error {
	known, err := r.store.Damaged(ctx, r.counts.Last, files[len(files)-1].AssetKey, len(files))
	if err != nil {
		return err
	}
	before := make(map[library.AssetKey]library.FileProblem, len(known))
	for _, d := range known {
		before[d.AssetKey] = d.Problem
	}
	for _, f := range files {
		if err := r.one(ctx, f, before[f.AssetKey]); err != nil {
			return err
		}
		r.counts.Last = f.AssetKey
		if r.opt.Progress != nil {
			r.opt.Progress(r.counts, total)
		}
		if r.opt.Most > 0 && r.cost >= r.opt.Most {
			return nil
		}
	}
	return nil
}

// one looks at a file and records what is new of it. A file whose bytes were wrong is
// always read again.
func (r *run) one(ctx context.Context, f store.StoredBytes, before library.FileProblem) error {
	deep := before == library.FileHash || before == library.FileUnreadable || rand.Float64() < r.opt.Share
	problem, err := r.look(ctx, f, deep)
	if err != nil {
		return err
	}
	r.counts.Files++
	if problem == "" {
		if before == "" {
			return nil
		}
		r.counts.Healed++
		return r.store.ForgetDamage(ctx, f.AssetKey)
	}
	there, err := r.store.RecordDamage(ctx, f.AssetKey, problem)
	if err != nil || !there { // it was removed meanwhile, and its file with it
		return err
	}
	r.counts.add(problem)
	if r.opt.Found != nil {
		r.opt.Found(library.DamagedFile{AssetKey: f.AssetKey, Problem: problem})
	}
	return nil
}

// look returns what is wrong with a file, or nothing. Only what keeps every file from
// being looked at is an error.
func (r *run) look(ctx context.Context, f store.StoredBytes, deep bool) (library.FileProblem, error) {
	if err := r.spend(ctx, leastCost); err != nil {
		return "", err
	}
	size, err := r.blobs.Size(ctx, f.Tenant, f.Hash)
	if f.InPlace { // the place of the files has recorded what became of it; the library's own are another matter
		r.counts.Originals++
		if err != nil {
			r.counts.Lost++
			return "", ctx.Err()
		}
	}
	if problem, err := judge(ctx, err); problem != "" || err != nil {
		return problem, err
	}
	if size != f.Size {
		return library.FileSize, nil
	}
	if !deep {
		return "", nil
	}
	problem, err := r.hash(ctx, f)
	if problem == library.FileHash { // stored again while it was read?
		problem, err = r.hash(ctx, f)
	}
	return problem, err
}

// judge takes the error of one file for a problem, unless it is that of all files.
func judge(ctx context.Context, err error) (library.FileProblem, error) {
	switch {
	case err == nil:
		return "", nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case library.AsError(err).Kind == library.KindNotFound:
		return library.FileMissing, nil
	case library.AsError(err).Kind == library.KindUnavailable:
		return "", err
	}
	return library.FileUnreadable, nil
}

// hash reads a file and compares both of its hashes.
func (r *run) hash(ctx context.Context, f store.StoredBytes) (library.FileProblem, error) {
	file, err := r.blobs.Open(ctx, f.Tenant, f.Hash)
	if err != nil {
		return judge(ctx, err)
	}
	defer file.Close()
	one, two := sha1.New(), sha256.New()
	n, err := io.Copy(io.MultiWriter(one, two), &paced{ctx, r, io.NewSectionReader(file, 0, file.Size())})
	if err != nil {
		return judge(ctx, err)
	}
	r.counts.Hashed++
	r.counts.Bytes += n
	if hex.EncodeToString(one.Sum(nil)) != string(f.Hash) || hex.EncodeToString(two.Sum(nil)) != f.SHA256 {
		return library.FileHash, nil
	}
	return "", nil
}

// spend counts bytes, and waits when they come faster than Options.Rate.
func (r *run) spend(ctx context.Context, bytes int64) error {
	r.cost += bytes
	return r.pace.wait(ctx, r.cost)
}

// paced reads no faster than the run may, and until its context ends.
type paced struct {
	ctx context.Context
	run *run
	io.Reader
}

func (p *paced) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b[:min(len(b), 256<<10)])
	if n > 0 {
		if late := p.run.spend(p.ctx, int64(n)); late != nil && (err == nil || errors.Is(err, io.EOF)) {
			err = late
		}
	}
	return n, err
}

// pace is a rate in bytes per second; 0 is none.
type pace struct {
	rate  int64
	began time.Time
}

// wait returns when so many bytes may have been read since the start.
func (p pace) wait(ctx context.Context, bytes int64) error {
	if p.rate <= 0 {
		return ctx.Err()
	}
	early := time.Duration(float64(bytes)/float64(p.rate)*float64(time.Second)) - time.Since(p.began)
	if early <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(early)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
