// Package reextract reads the lineage of a whole library again, from the metadata
// chunks that were kept when its files were stored.
//
// In goes a store; out come the same assets with what today's parser makes of
// their files, and counts. It needs no file and no index, runs beside the service,
// and can be stopped at any time: each asset is a transaction of its own. It never
// touches what people say: claims, linked models, titles, tags.
package reextract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"vitrine/internal/panics"
	"vitrine/library"
	"vitrine/media/extract"
	"vitrine/media/extract/container"
	"vitrine/store"
)

// Options say what to read again. The zero value reads what an older parser read.
type Options struct {
	All     bool             // also what this parser has read already
	After   library.AssetKey // go on behind this asset; the zero value starts at the first
	Version int              // the parser's version; 0 means extract.ParserVersion
	Workers int              // assets at once; 0 means one per processor
	// Progress is told the counts after each batch, and how many assets there are.
	Progress func(done Counts, total int64)
	Log      *slog.Logger // of assets that failed; nil means slog.Default
}

// Counts is what became of the assets.
type Counts struct {
	Changed int64 `json:"changed"` // read differently, and on the way to the index
	Same    int64 `json:"same"`
	Failed  int64 `json:"failed"` // kept as they are, because reading them gave nothing
	// Fields counts what became of each field of the changed assets, by its name.
	Fields map[string]FieldCounts `json:"fields"`
	Last   library.AssetKey       `json:"-"` // all assets up to this one are done
}

// FieldCounts is what became of a field.
type FieldCounts struct {
	Added   int64 `json:"added"`   // it had no value before
	Changed int64 `json:"changed"` // it has another value
	Removed int64 `json:"removed"` // it has no value now
}

// Done is how many assets were looked at.
func (c Counts) Done() int64 { return c.Changed + c.Same + c.Failed }

// batchSize bounds how many files' chunks are in memory at once.
const batchSize = 64

// Run reads lineage again. Stopped by its context it gives the counts so far
// beside the error; called again it goes on with what is left, since every asset
// remembers the version of the parser that read it. With All, pass Last as After.
func Run(ctx context.Context, rows *store.Extraction, opt Options) (Counts, error) {
	r := newRun(rows, opt)
	below := r.opt.Version
	if opt.All {
		below = math.MaxInt32
	}
	total, err := rows.CountFiles(ctx, opt.After, below)
	if err != nil {
		return r.counts, err
	}
	for {
		files, err := rows.Files(ctx, r.counts.Last, below, batchSize)
		if err != nil || len(files) == 0 {
			return r.counts, err
		}
		if err := r.batch(ctx, files); err != nil {
			return r.counts, err
		}
		r.counts.Last = files[len(files)-1].AssetKey
		if opt.Progress != nil {
			opt.Progress(r.counts, total)
		}
	}
}

// Assets reads the lineage of some assets of one tenant again, whichever version of the parser read it
// before. They should be few: their chunks are in memory at once.
func Assets(ctx context.Context, rows *store.Extraction, tenant library.TenantID, assets []library.AssetHash, opt Options) (Counts, error) {
	r := newRun(rows, opt)
	files, err := rows.FilesOf(ctx, tenant, assets)
	if err == nil {
		err = r.batch(ctx, files)
	}
	return r.counts, err
}

func newRun(rows *store.Extraction, opt Options) *run {
	r := &run{store: rows, opt: opt, counts: Counts{Last: opt.After}}
	if r.opt.Version == 0 {
		r.opt.Version = extract.ParserVersion
	}
	if r.opt.Workers == 0 {
		r.opt.Workers = runtime.GOMAXPROCS(0)
	}
	if r.opt.Log == nil {
		r.opt.Log = slog.Default()
	}
	return r
}

type run struct {
	store *store.Extraction
	opt   Options

	mu     sync.Mutex
	counts Counts
}

// batch reads files at the same time. An asset that cannot be read is logged and
// left as it is; a database that is away, or a cancelled context, ends the run.
func (r *run) batch(ctx context.Context, files []store.StoredFile) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(r.opt.Workers)
	for _, f := range files {
		g.Go(func() error {
			var changed bool
			var lineage library.Lineage
			err := panics.Try(func() (err error) {
				changed, lineage, err = r.one(ctx, f)
				return err
			})
			if _, panicked := errors.AsType[*panics.Error](err); panicked {
				err = fmt.Errorf("%w: %w", errNothingRead, err)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			switch {
			case errors.Is(err, errNothingRead):
				r.counts.Failed++
				r.opt.Log.Warn("re-extraction of an asset failed; its lineage is unchanged", "tenant", f.Tenant, "asset", f.Hash, "reason", err)
			case err != nil:
				return fmt.Errorf("reading %s again: %w", f.Hash, err)
			case changed:
				r.counts.Changed++
				r.counts.compare(f.Lineage, &lineage)
			default:
				r.counts.Same++
			}
			return nil
		})
	}
	return g.Wait()
}

// errNothingRead is why an asset keeps its lineage.
var errNothingRead = errors.New("no metadata could be extracted from the stored chunks")

func (r *run) one(ctx context.Context, f store.StoredFile) (changed bool, lineage library.Lineage, err error) {
	if err := ctx.Err(); err != nil {
		return false, lineage, err
	}
	file, err := containerFile(f)
	if err != nil {
		return false, lineage, fmt.Errorf("%w: %w", errNothingRead, err)
	}
	if len(file.Chunks) == 0 && f.HasData {
		return false, lineage, fmt.Errorf("%w: its chunks are missing", errNothingRead)
	}
	lineage, report := extract.FromChunks(file, extract.Options{Filename: f.Filename})
	if f.HasData && report.Reason == extract.ReasonUnreadable {
		return false, lineage, fmt.Errorf("%w: %s", errNothingRead, report.Sentence)
	}
	actor := library.Actor{Kind: library.ActorSystem, ID: "reextract", Tenant: f.Tenant}
	changed, err = r.store.Replace(ctx, actor, store.NewAsset{Asset: library.Asset{Hash: f.Hash}, Lineage: lineage, ParserVersion: r.opt.Version, Report: report})
	return changed, lineage, err
}

// containerFile returns a file as its container was opened. What of it no row keeps,
// the report does: what was wrong with the container, and whether it was broken.
func containerFile(f store.StoredFile) (container.File, error) {
	file := container.File{MIME: f.MIMEType, Width: f.Width, Height: f.Height, DurationMS: f.DurationMS}
	if err := f.Chunks(&file.Chunks); err != nil {
		return file, err
	}
	var report extract.Report
	if f.Report != nil {
		if err := json.Unmarshal(f.Report, &report); err != nil {
			return file, err
		}
	}
	file.Warnings = report.Detail
	file.Truncated = report.Reason == extract.ReasonUnreadable && len(file.Chunks) == 0
	return file, nil
}
