package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"vitrine/api/client"
	"vitrine/inplace"
	"vitrine/internal/sample"
	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/service"
)

// FolderConfig is which folder to import in place and where.
type FolderConfig struct {
	Servers service.Config // PostgresURL, Brokers, OpenSearchURL, Version and Log are used
	Count   int            // files, 20 to 1,000,000
	Drawn   int            // distinct pictures among them; 0 means 500
	Edge    int            // longest side of the pictures in pixels; 0 means 512
	Seed    uint64         // of the pictures; 0 means 1
	Profile string         // folder for CPU profiles of each step; "" makes none
	Kafka   string         // its version, where it is known: Kafka itself does not tell

	// Step is told what is done now, for a person who waits.
	Step func(format string, args ...any)
}

// The figures of an import in place.
const (
	KeyFolderStored   = "stored"
	KeyFolderPreviews = "previews"
	KeyFolderFirst    = "first"
	KeyFolderAll      = "all"
)

// FolderCriteria are the figures of an import in place, in the order of the report.
var FolderCriteria = []Criterion{
	{Key: KeyFolderFirst, Title: "Until the first search finds something", Unit: "s", Bar: 60, Goal: 10, Ours: "service",
		Meaning: "Seconds from the start of the import until a search over REST, repeated every quarter of a second, finds an asset."},
	{Key: KeyFolderAll, Title: "Until searches find everything", Unit: "s", Bar: 600, Goal: 300, Ours: "service",
		Meaning: "Seconds from the start of the import until a search finds as many assets as there are files."},
	{Key: KeyFolderStored, Title: "Import in place over reading and hashing", Unit: "×", Bar: 0.85, Goal: 0.95, AtLeast: true, Ours: "import", Floor: "bare loop",
		Meaning: "Files per second until the import reports that it has completed: every file is read, hashed (SHA-1, SHA-256, BLAKE3), its metadata is extracted, and its row, outbox row and audit row are durable. " +
			"Divided by that of a loop on as many goroutines as there are processors that reads and hashes the same files (the same three hashes) and does nothing else, once before and once after the import. " +
			"PostgreSQL, Kafka, OpenSearch, the indexer and the makers of previews work at the same time, on the same processors."},
	{Key: KeyFolderPreviews, Title: "Import with previews over reading, hashing and previews", Unit: "×", Bar: 0.85, Goal: 0.95, AtLeast: true, Ours: "import", Floor: "bare loop",
		Meaning: "Files per second from the start of the import until the last preview is on disk and everything can be found, divided by that of a bare loop that reads and hashes every twentieth of the files and makes the same preview."},
}

// RunFolder draws a folder of pictures that differ by one chunk of text and imports it in place.
func RunFolder(ctx context.Context, cfg FolderConfig) (report FolderReport, err error) {
	setDefault(&cfg.Drawn, 500)
	setDefault(&cfg.Edge, 512)
	dir, err := os.MkdirTemp("", "vitrine_bench_folder_")
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	base, err := Config{Servers: cfg.Servers, Count: cfg.Count, Edge: cfg.Edge, Seed: cfg.Seed, Profile: cfg.Profile, Kafka: cfg.Kafka, Step: cfg.Step}.withDefaults()
	if err != nil {
		return report, err
	}
	base.roots = []inplace.Root{{Name: "folder", Dir: filepath.Join(dir, "folder")}}
	if err := os.Mkdir(base.roots[0].Dir, 0o755); err != nil {
		return report, err
	}
	base.Step("Drawing %d pictures and writing %d files", cfg.Drawn, cfg.Count)
	files, size, err := drawFolder(ctx, dir, base.roots[0].Dir, cfg)
	if err != nil {
		return report, err
	}
	e, err := open(ctx, base)
	if err != nil {
		return report, err
	}
	defer e.cleanUp(&err)
	report.Setting, report.Bytes, report.Drawn = e.setting(ctx), size, cfg.Drawn
	report.Figures, err = measureAll(ctx, cfg.Profile, step{"folder", func(ctx context.Context) ([]Figure, error) { return e.measureFolder(ctx, files) }})
	return report, err
}

// drawFolder writes pictures, and of each as many copies with a text of their own as make
// count files. It returns the paths and the size of all.
func drawFolder(ctx context.Context, dir, folder string, cfg FolderConfig) (files []string, size int64, err error) {
	drawn, err := draw(ctx, filepath.Join(dir, "drawn"), sample.Options{Count: cfg.Drawn, Seed: max(cfg.Seed, 1), MaxEdge: cfg.Edge, Writers: []string{"comfyui", "comfyui-hires", "a1111-png", "forge-png", "invokeai", "swarmui-png"}})
	if err != nil {
		return nil, 0, err
	}
	for i := range cfg.Count {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		data, err := os.ReadFile(drawn[i%len(drawn)])
		if err != nil {
			return nil, 0, err
		}
		to := filepath.Join(folder, fmt.Sprintf("%03d", i/1000), fmt.Sprintf("picture_%06d.png", i))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return nil, 0, err
		}
		data = withComment(data, fmt.Sprintf("file %d", i))
		if err := os.WriteFile(to, data, 0o644); err != nil {
			return nil, 0, err
		}
		files, size = append(files, to), size+int64(len(data))
	}
	return files, size, nil
}

// withComment returns a PNG file with a chunk of text before its end.
func withComment(png []byte, text string) []byte {
	const end = 12 // bytes of IEND
	body := []byte("tEXtComment\x00" + text)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(body)-4))
	chunk = binary.BigEndian.AppendUint32(append(chunk, body...), crc32.ChecksumIEEE(body))
	return slices.Concat(png[:len(png)-end], chunk, png[len(png)-end:])
}

// measureFolder imports the folder between two rounds of the bare loop.
func (e *env) measureFolder(ctx context.Context, files []string) ([]Figure, error) {
	bare, hashes, err := e.hashFiles(ctx, files)
	if err != nil {
		return nil, err
	}
	e.Step("Making previews in a bare loop")
	some := every(files, 20)
	began := time.Now()
	if _, err := bareLoop(ctx, some); err != nil {
		return nil, err
	}
	withPreviews := float64(len(some)) / time.Since(began).Seconds()
	t, err := e.importFolder(ctx, hashes)
	if err != nil {
		return nil, err
	}
	again, _, err := e.hashFiles(ctx, files)
	if err != nil {
		return nil, err
	}
	n := float64(len(files))
	floor := summarize([]float64{bare, again}, true)
	stored, previews := n/t.stored.Seconds(), n/t.previews.Seconds()
	return []Figure{
		seconds(KeyFolderFirst, "first search", t.first),
		seconds(KeyFolderAll, "everything", t.all),
		ratio(KeyFolderStored, "files/s", stored, floor),
		ratio(KeyFolderPreviews, "files/s", previews, summarize([]float64{withPreviews}, true)),
	}, nil
}

func seconds(key, name string, d time.Duration) Figure {
	s := d.Seconds()
	return Figure{Key: key, Value: s, Repeats: 1, Rows: []Row{{Name: name, Unit: "s", Ours: summarize([]float64{s}, false)}}}
}

func ratio(key, unit string, ours float64, floor Summary) Figure {
	r := ours / floor.P50
	return Figure{Key: key, Value: r, Repeats: 1, Rows: []Row{{Name: "all files", Unit: unit, Ours: summarize([]float64{ours}, true), Floor: floor, Ratio: r}}}
}

// every returns one of so many elements.
func every(list []string, n int) []string {
	var out []string
	for i := 0; i < len(list); i += n {
		out = append(out, list[i])
	}
	return out
}

// hashFiles reads and hashes files in a bare loop. It returns how many it did per second, and what
// the files are called in the library.
func (e *env) hashFiles(ctx context.Context, files []string) (perSecond float64, hashes []library.AssetHash, err error) {
	e.Step("Reading and hashing %d files", len(files))
	var mu sync.Mutex
	began := time.Now()
	err = onAllProcessors(ctx, files, func(path string) error {
		hash, err := digest(path)
		mu.Lock()
		defer mu.Unlock()
		hashes = append(hashes, hash)
		return err
	})
	return float64(len(files)) / time.Since(began).Seconds(), hashes, err
}

// digest reads a file for the hashes that an asset has, and returns the one that names it.
func digest(path string) (library.AssetHash, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	d := blob.NewDigest()
	_, err = io.CopyBuffer(struct{ io.Writer }{d}, struct{ io.Reader }{f}, make([]byte, 256<<10))
	return d.Sum().SHA1, err
}

// folderTimes are how long after the start of an import something had come about.
type folderTimes struct{ first, stored, all, previews time.Duration }

// importFolder imports the folder in place and waits until everything of it is done.
func (e *env) importFolder(ctx context.Context, files []library.AssetHash) (t folderTimes, err error) {
	e.Step("Importing %d files in place", len(files))
	api, began := e.client(), time.Now()
	started, err := api.StartImport(ctx, client.StartImportInput{Folder: e.roots[0].Name, Tags: []string{importTag}})
	if err != nil {
		return t, err
	}
	for said := began; t.all == 0 || t.stored == 0; {
		if err := sleep(ctx, 250*time.Millisecond); err != nil {
			return t, err
		}
		found, err := api.SearchAssets(ctx, client.SearchAssetsInput{Query: "tag:" + importTag, Limit: 1})
		if err != nil {
			continue // the index may be busy for a moment
		}
		if found.Total > 0 && t.first == 0 {
			t.first = time.Since(began)
		}
		if found.Total >= int64(len(files)) && t.all == 0 {
			t.all = time.Since(began)
		}
		now, err := api.GetImport(ctx, client.GetImportInput{ImportID: started.ImportID})
		switch {
		case err != nil:
			return t, err
		case now.State == "failed", now.State == "cancelled", now.Failed > 0:
			return t, fmt.Errorf("the import is %s with %d files failed: %s", now.State, now.Failed, now.Error)
		case now.State == "completed" && t.stored == 0:
			t.stored = time.Since(began)
		}
		if time.Since(said) > 10*time.Second {
			said = time.Now()
			e.Step("  %d of %d stored, %d found by searches", now.Stored, len(files), found.Total)
		}
	}
	e.Step("Waiting for the last preview")
	if err := e.awaitPreviews(ctx, files, time.Hour); err != nil {
		return t, err
	}
	t.previews = time.Since(began)
	return t, nil
}
