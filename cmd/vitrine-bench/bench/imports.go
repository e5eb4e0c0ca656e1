package bench

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"image"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"vitrine/importer"
	"vitrine/internal/sample"
	"vitrine/library"
	"vitrine/media/memory"
	"vitrine/media/preview"
)

// importTag marks what the benchmark imported.
const importTag = "bench"

// measureImport draws the sample libraries and imports them. It is also what
// fills the library for the measures that follow.
func (e *env) measureImport(ctx context.Context) ([]Figure, error) {
	small, err := e.importSample(ctx, "small", sample.Options{Count: e.Count, Seed: e.Seed, MaxEdge: e.Edge})
	if err != nil {
		return nil, err
	}
	small.Name = fmt.Sprintf("small pictures, at most %d px", e.Edge)
	f := Figure{Key: KeyImport, Value: small.Ratio, Repeats: small.Ours.N, Rows: []Row{small}}
	if e.Natural > 0 { // it counts: nobody makes pictures as small as the others
		natural, err := e.importSample(ctx, "natural", sample.Options{Count: e.Natural, Seed: e.Seed + 1})
		if err != nil {
			return nil, err
		}
		natural.Name = "pictures of natural size, 512 to 1216 px"
		f.Value, f.Repeats, f.Rows = natural.Ratio, natural.Ours.N, []Row{natural, small}
	}
	return []Figure{f}, nil
}

// importSample draws a sample and measures its rounds: the bare loop and the
// import take turns over the same files.
func (e *env) importSample(ctx context.Context, name string, opts sample.Options) (Row, error) {
	e.Step("Drawing %d files (%s)", opts.Count, name)
	files, err := draw(ctx, filepath.Join(e.dir, name), opts)
	if err != nil {
		return Row{}, err
	}
	rounds := min(e.Rounds, max(1, len(files)/minCount))
	var ours, floor, ratios []float64
	for i := range rounds {
		slice := files[i*len(files)/rounds : (i+1)*len(files)/rounds]
		e.Step("Importing, round %d of %d: %d files", i+1, rounds, len(slice))
		bare, with, err := e.importRound(ctx, slice)
		if err != nil {
			return Row{}, err
		}
		ours, floor, ratios = append(ours, with), append(floor, bare), append(ratios, with/bare)
	}
	return Row{Unit: "files/s", Ours: summarize(ours, true), Floor: summarize(floor, true), Ratio: summarize(ratios, true).P50}, nil
}

// draw writes a sample and gives the paths of its files.
func draw(ctx context.Context, dir string, opts sample.Options) ([]string, error) {
	drawn, err := sample.Write(ctx, dir, opts, nil)
	if err != nil {
		return nil, err
	}
	files := make([]string, len(drawn.Files))
	for i, f := range drawn.Files {
		files[i] = filepath.Join(dir, filepath.FromSlash(f.Path))
	}
	return files, nil
}

// importRound returns the files per second of the bare loop and of the import. The
// files are read once before, so that both find them in memory.
func (e *env) importRound(ctx context.Context, files []string) (bare, with float64, err error) {
	for _, f := range files {
		if _, err := os.ReadFile(f); err != nil {
			return 0, 0, err
		}
	}
	began := time.Now()
	pictures, err := bareLoop(ctx, files)
	if err != nil {
		return 0, 0, err
	}
	bare = float64(len(files)) / time.Since(began).Seconds()

	began = time.Now()
	report, err := importer.Run(ctx, e.client(), files, importer.Options{Tags: []string{importTag}})
	switch {
	case err != nil:
		return 0, 0, err
	case report.Interrupted:
		return 0, 0, ctx.Err()
	case report.Failed > len(files)/20:
		return 0, 0, fmt.Errorf("%d of %d files could not be imported", report.Failed, len(files))
	}
	if err := e.awaitPreviews(ctx, pictures, time.Minute); err != nil {
		return 0, 0, err
	}
	with = float64(len(files)) / time.Since(began).Seconds()
	return bare, with, e.awaitIndex(ctx)
}

// bareLoop is the floor of an import: it reads every file, hashes it, decodes its
// header and makes its preview, on all processors, and keeps nothing. It gives
// the hashes of the files of which a preview could be made.
func bareLoop(ctx context.Context, files []string) ([]library.AssetHash, error) {
	var (
		mu       sync.Mutex
		pictures []library.AssetHash
	)
	budget := memory.New(memory.Config{})
	err := onAllProcessors(ctx, files, func(f string) error {
		raw, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		sum := sha1.Sum(raw)
		_, _, _ = image.DecodeConfig(bytes.NewReader(raw)) // the sample holds files that are no pictures
		if _, err := preview.Make(ctx, budget, bytes.NewReader(raw), int64(len(raw)), preview.DefaultEdge); err != nil {
			return nil //nolint:nilerr // no picture, or a damaged one
		}
		mu.Lock()
		defer mu.Unlock()
		pictures = append(pictures, library.AssetHash(hex.EncodeToString(sum[:])))
		return nil
	})
	return pictures, err
}

// onAllProcessors does something with every file, on as many goroutines as there are processors,
// and returns the first error.
func onAllProcessors(ctx context.Context, files []string, do func(path string) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, f := range files {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return do(f)
		})
	}
	return g.Wait()
}

// awaitPreviews waits until the role work has made the previews of all pictures; limit is how long
// it waits for one.
func (e *env) awaitPreviews(ctx context.Context, pictures []library.AssetHash, limit time.Duration) error {
	name := strconv.Itoa(preview.DefaultEdge) + ".jpg"
	said := time.Now()
	for i, h := range pictures {
		err := until(ctx, 10*time.Millisecond, limit, "the preview of "+string(h), func() (bool, error) {
			_, err := e.Blobs.GetDerived(ctx, e.tenant, h, name)
			return err == nil, nil
		})
		if err != nil {
			return err
		}
		if time.Since(said) > 10*time.Second {
			said = time.Now()
			e.Step("  %d of %d previews are made", i+1, len(pictures))
		}
	}
	return nil
}

// awaitIndex waits until every asset can be found, so that indexing what was
// imported does not disturb the next measure.
func (e *env) awaitIndex(ctx context.Context) error {
	var want int64
	tenants, err := e.Store.Documents.Count(ctx)
	if err != nil {
		return err
	}
	for _, t := range tenants {
		want += t.Documents
	}
	return until(ctx, 50*time.Millisecond, 5*time.Minute, "the index holds every asset", func() (bool, error) {
		var got struct {
			Count int64 `json:"count"`
		}
		err := e.index(ctx, http.MethodGet, "/"+e.alias()+"/_count", nil, &got)
		return got.Count >= want, err
	})
}
