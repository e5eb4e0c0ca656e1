// Package importer brings folders of media files into a running service.
//
// In come paths and a client; out comes a report of what became of every file.
// Files are read where they lie and never changed. The importer hashes each file,
// asks the service which hashes it has, and sends the others, so a run that was
// interrupted goes on where it stopped. One bad file never stops the rest.
package importer

import (
	"context"
	"sort"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"vitrine/api/client"
	"vitrine/internal/panics"
)

// Options tune a run. The zero value is useful.
type Options struct {
	Tags []string // for every file that is stored, and for those already there
	// Collection is the path or collection_h of a collection that gets every file, those
	// already there included; empty: none.
	Collection string
	Restore    bool // brings back assets in the trash and purged ones; otherwise their files are left out
	DryRun     bool // says exactly what a run would do, and does nothing
	Hashers    int  // files hashed at once; 0 means 2
	Senders    int  // files sent at once; 0 means 6
	// Patience is how long a file is tried again while the service, or a part of
	// it, is away; 0 means 5 minutes.
	Patience time.Duration
	// Progress is told, from one goroutine at a time, whenever the counts change.
	Progress func(Counts)
}

// Counts is how far a run is.
type Counts struct {
	Found     int   `json:"found"`          // media files seen so far
	Stored    int   `json:"stored"`         // sent and stored now; with DryRun, those that would be
	Already   int   `json:"already_stored"` // the service had their bytes
	Healed    int   `json:"healed"`         // there already, with a file that was missing or damaged and was sent again
	Absent    int   `json:"absent"`         // left out: their assets are in the trash or were purged
	Failed    int   `json:"failed"`
	Skipped   int   `json:"skipped"`  // files that are no media
	Sidecars  int   `json:"sidecars"` // files that tell of the making of the media file of the same name
	Bytes     int64 `json:"bytes"`    // of the stored ones
	Searching bool  `json:"-"`        // folders are still being walked: Found will grow
}

// Done counts the media files that were processed, whatever came of them.
func (c Counts) Done() int { return c.Stored + c.Already + c.Healed + c.Absent + c.Failed }

// Outcome is what became of one file.
type Outcome struct {
	Path   string `json:"path"`
	Result string `json:"result"` // stored, already_stored, healed, trashed, purged, failed, skipped, sidecar; with DryRun would_store
	Asset  string `json:"asset_h,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Lineage is how much of its making the file records: full, partial or none.
	Lineage string `json:"lineage,omitempty"`
}

// Report is the outcome of a run.
type Report struct {
	Counts
	DryRun      bool           `json:"dry_run"`
	Interrupted bool           `json:"interrupted"`
	Seconds     float64        `json:"seconds"`
	NoLineage   map[string]int `json:"no_lineage"`       // why files tell nothing of their making, counted by reason
	LastWrite   string         `json:"last_index_token"` // a search given this sees the last file that was stored
	Files       []Outcome      `json:"files"`            // in the order of their paths
}

// run is the state of one run.
type run struct {
	opts Options
	// patient repeats a call while the service is away; once does not, for calls
	// that are repeated together with others.
	patient, once *client.Client

	mu     sync.Mutex
	report Report
	inRun  map[string]string // hash → path of the file that is being stored for it

	beside listings // the walk's own
}

// Run imports paths: files, and folders with all that is below them. The error is
// only ever that of a path or a collection that is not there, or of a service that cannot
// be asked at all; everything that concerns one file is in the report. When ctx ends, Run
// finishes what is under way and gives what was done.
func Run(ctx context.Context, c *client.Client, paths []string, opts Options) (Report, error) {
	if opts.Hashers == 0 {
		opts.Hashers = 2
	}
	if opts.Senders == 0 {
		opts.Senders = 6
	}
	if opts.Patience == 0 {
		opts.Patience = 5 * time.Minute
	}
	patient, once := *c, *c
	patient.Patience, once.Patience = opts.Patience, -1
	r := &run{opts: opts, patient: &patient, once: &once, beside: listings{}, inRun: map[string]string{},
		report: Report{DryRun: opts.DryRun, NoLineage: map[string]int{}, Files: []Outcome{}}}
	began := time.Now()
	if err := r.checkCollection(ctx); err != nil {
		return r.report, err
	}
	err := r.pipeline(ctx, paths)
	r.report.Seconds = time.Since(began).Seconds()
	r.report.Interrupted = ctx.Err() != nil
	if r.report.Interrupted {
		err = nil
	}
	sort.SliceStable(r.report.Files, func(i, j int) bool { return r.report.Files[i].Path < r.report.Files[j].Path })
	return r.report, err
}

// pipeline joins the stages by channels: walk → hash → ask in batches → send.
func (r *run) pipeline(ctx context.Context, paths []string) error {
	g, ctx := errgroup.WithContext(ctx)
	found := make(chan file, 1024)
	hashed := make(chan file, 256)
	missing := make(chan file, 256)
	r.update(func(c *Counts) { c.Searching = true })
	g.Go(func() error {
		defer close(found)
		err := r.walk(ctx, paths, found)
		r.update(func(c *Counts) { c.Searching = false })
		return err
	})
	var hashers errgroup.Group
	for range r.opts.Hashers {
		hashers.Go(func() error { return r.hash(ctx, found, hashed) })
	}
	g.Go(func() error { defer close(hashed); return hashers.Wait() })
	g.Go(func() error { defer close(missing); return r.ask(ctx, hashed, missing) })
	for range r.opts.Senders {
		g.Go(func() error {
			for f := range missing {
				var o Outcome
				if err := panics.Try(func() error { o = r.send(ctx, f); return nil }); err != nil {
					o = failed(err.Error())
				}
				r.record(f, o)
			}
			return nil
		})
	}
	return g.Wait()
}

// update changes the counts and tells the listener.
func (r *run) update(change func(*Counts)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.report.Counts)
	if r.opts.Progress != nil {
		r.opts.Progress(r.report.Counts)
	}
}

// record notes what became of a file.
func (r *run) record(f file, o Outcome) {
	o.Path = f.path
	r.update(func(c *Counts) {
		switch o.Result {
		case resultStored, resultWould:
			c.Stored++
			c.Bytes += o.Bytes
		case resultAlready:
			c.Already++
		case resultHealed:
			c.Healed++
			c.Bytes += o.Bytes
		case resultTrashed, resultPurged:
			c.Absent++
		case resultFailed:
			c.Failed++
		case resultSkipped:
			c.Skipped++
		case resultSidecar:
			c.Sidecars++
		default:
			return // interrupted: the next run takes it up
		}
		r.report.Files = append(r.report.Files, o)
	})
}

// The results of files.
const (
	resultStored  = "stored"
	resultAlready = "already_stored"
	resultHealed  = "healed"
	resultWould   = "would_store"
	resultTrashed = "trashed"
	resultPurged  = "purged"
	resultFailed  = "failed"
	resultSkipped = "skipped"
	resultSidecar = "sidecar"
)

func failed(reason string) Outcome { return Outcome{Result: resultFailed, Reason: reason} }
