package store_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/store"
)

// statementCount counts the statements of a pool.
type statementCount struct{ n atomic.Int64 }

func (c *statementCount) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.n.Add(1)
	return ctx
}
func (*statementCount) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (*statementCount) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}
func (*statementCount) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}
func (c *statementCount) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {
	c.n.Add(1)
}

// filesInPlace returns new files of an import, each with all that a file can tell of but parents.
func filesInPlace(n int) []store.InPlaceFile {
	files := make([]store.InPlaceFile, n)
	for i := range files {
		hash, prompt := library.AssetHash(fmt.Sprintf("%040x", 1000*n+i)), fmt.Sprintf("a lighthouse in a storm, number %d of many", i)
		files[i] = store.InPlaceFile{
			New: store.NewAsset{Asset: library.Asset{Hash: hash, SHA256: "s" + string(hash), BLAKE3: "b" + string(hash), Filename: fmt.Sprintf("%d-%d.png", n, i), MIMEType: "image/png",
				Size: 10, Width: 4, Height: 3, Tags: []string{"a, \"b\"", `c\{d}`}, CreatedAt: time.Unix(1_700_000_000, 0), InPlace: true},
				Lineage: library.Lineage{Tool: "comfyui", Positive: &prompt, Models: []library.ModelUse{{Type: "checkpoint", Name: "base.safetensors"}, {Type: "lora", Name: fmt.Sprint("style", i)}}},
				Report:  map[string]string{"state": "full"}, Chunks: []string{"chunk", prompt}, ParserVersion: 1},
			Original: store.Original{Root: "pictures", Path: fmt.Sprintf("%d/%d.png", n, i), Stamp: store.FileStamp{Size: 10, Modified: int64(i + 1)}},
		}
	}
	return files
}

// TestAddInPlace_TakesAsManyStatementsForManyFilesAsForFew stores batches of several sizes: what
// a statement costs by itself is most of what it costs for one file.
func TestAddInPlace_TakesAsManyStatementsForManyFilesAsForFew(t *testing.T) {
	t.Parallel()
	s := open(t)
	var count statementCount
	if err := s.Trace(t.Context(), &count); err != nil {
		t.Fatal(err)
	}
	taken := map[int]int64{}
	for _, n := range []int{1, 5, store.MaxInPlace} {
		files := filesInPlace(n)
		count.n.Store(0)
		got, _, err := s.Assets.AddInPlace(t.Context(), s.a, "import", files)
		if err != nil {
			t.Fatal(err)
		}
		taken[n] = count.n.Load()
		for i, r := range got {
			if want := files[i].New.Asset; !r.Created || r.Asset.Hash != want.Hash || fmt.Sprint(r.Asset.Tags) != fmt.Sprint(want.Tags) || r.Asset.Width != 4 || !r.Asset.InPlace {
				t.Fatalf("file %d of %d became %+v", i, n, r)
			}
		}
	}
	t.Logf("statements for so many files: %v", taken)
	if most := taken[store.MaxInPlace]; most > taken[5]+5 || most > 40 { // a plan or a pause of another connection may add some
		t.Errorf("%d files take %d statements, 5 take %d", store.MaxInPlace, most, taken[5])
	}
}
