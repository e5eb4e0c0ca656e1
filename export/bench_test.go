package export_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"vitrine/export"
	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/media/memory"
	"vitrine/media/strip"
	"vitrine/store"
	"vitrine/store/storetest"
)

// generated returns a PNG with a prompt of its own.
func generated(base []byte, n int) []byte {
	body := fmt.Appendf(nil, "tEXtparameters\x00a garden of many colors, number %d\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: %d, Size: 256x256, Model: garden", n, n)
	const header = 8 + 25
	out := append(bytes.Clone(base[:header]), binary.BigEndian.AppendUint32(nil, uint32(len(body)-4))...)
	out = append(append(out, body...), binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(body))...)
	return append(out, base[header:]...)
}

// shop is a library with files to export.
type shop struct {
	store  *store.Store
	blobs  *blob.Disk
	dir    string
	actor  library.Actor
	assets []library.AssetHash
}

func newShop(b *testing.B, files int) shop {
	b.Helper()
	st, _ := storetest.Open(b)
	tenant, err := st.Tenants.Create(b.Context(), library.Actor{Kind: library.ActorSystem, ID: "test"}, "export")
	if err != nil {
		b.Fatal(err)
	}
	s := shop{store: st, dir: b.TempDir(), actor: library.Actor{Kind: library.ActorKey, ID: "bench", Tenant: tenant.ID, Permissions: library.Permissions}}
	if s.blobs, err = blob.CreateDisk(s.dir); err != nil {
		b.Fatal(err)
	}
	unlimited := int64(library.Unlimited)
	if _, err := st.Limits.Set(b.Context(), library.Actor{Kind: library.ActorSystem, ID: "test"}, tenant.ID, store.LimitChange{ExportAssets: &unlimited, EgressBytesHourly: &unlimited, StorageBytes: &unlimited}); err != nil {
		b.Fatal(err)
	}
	m := image.NewNRGBA(image.Rect(0, 0, 256, 256))
	for i, r := 0, rand.New(rand.NewPCG(1, 1)); i < len(m.Pix); i++ {
		m.Pix[i] = byte(r.IntN(256)) | map[bool]byte{true: 255}[i%4 == 3]
	}
	var base bytes.Buffer
	if err := png.Encode(&base, m); err != nil {
		b.Fatal(err)
	}
	for n := range files {
		s.add(b, generated(base.Bytes(), n), n)
	}
	return s
}

// add stores a file as uploads do.
func (s *shop) add(b *testing.B, data []byte, n int) {
	b.Helper()
	id := blob.NewStagingID()
	staged, err := s.blobs.Stage(b.Context(), s.actor.Tenant, id, bytes.NewReader(data), 1<<30)
	if err == nil {
		err = s.blobs.Commit(b.Context(), s.actor.Tenant, id, staged.SHA1)
	}
	if err == nil {
		_, err = s.store.Assets.Add(b.Context(), s.actor, store.NewAsset{Asset: library.Asset{Tenant: s.actor.Tenant, Hash: staged.SHA1, SHA256: staged.SHA256, BLAKE3: staged.BLAKE3, Title: "Garden", Filename: fmt.Sprintf("garden-%d.png", n),
			MIMEType: "image/png", Size: staged.Size, Width: 256, Height: 256, Status: library.StatusDraft, Visibility: library.VisibilityTeam}})
	}
	if err != nil {
		b.Fatal(err)
	}
	s.assets = append(s.assets, staged.SHA1)
}

// copied writes the same files into one file without looking at them, as durably.
func (s shop) copied(b *testing.B) time.Duration {
	b.Helper()
	began := time.Now()
	out, err := os.Create(filepath.Join(s.dir, "copy"))
	if err != nil {
		b.Fatal(err)
	}
	for _, h := range s.assets {
		o, err := s.blobs.Open(b.Context(), s.actor.Tenant, h)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(out, io.NewSectionReader(o, 0, o.Size())); err != nil {
			b.Fatal(err)
		}
		_ = o.Close()
	}
	if err := out.Sync(); err != nil {
		b.Fatal(err)
	}
	_ = out.Close()
	return time.Since(began)
}

// peak samples the heap until stop is called, which returns the most that it was.
func peak() (stop func() uint64) {
	end, most := make(chan struct{}), make(chan uint64)
	go func() {
		var top uint64
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-end:
				tick.Stop()
				most <- top
				return
			case <-tick.C:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				top = max(top, m.HeapInuse)
			}
		}
	}()
	return func() uint64 { close(end); return <-most }
}

// BenchmarkExport writes VITRINE_EXPORT_FILES (default 1,000) files as a zip, as the archive
// (copied and compared with their hashes), stripped (client) and drawn anew (portfolio),
// beside a bare copy of the same files in the same run.
func BenchmarkExport(b *testing.B) {
	files := 1000
	if n, err := strconv.Atoi(os.Getenv("VITRINE_EXPORT_FILES")); err == nil {
		files = n
	}
	s := newShop(b, files)
	builder := &export.Builder{Store: s.store, Blobs: s.blobs, Memory: memory.New(memory.Config{}), WebP: func() strip.WebPEncoder { return nil }}
	for _, preset := range []library.ExportPreset{library.ExportArchive, library.ExportClient, library.ExportPortfolio} {
		b.Run(string(preset), func(b *testing.B) {
			for b.Loop() {
				bare := s.copied(b)
				spec := library.SpecOf(preset)
				spec.Quality = 80 + int(time.Now().UnixNano()%10) // another request than the one before
				e, err := s.store.Exports.Start(b.Context(), s.actor, spec, s.assets, blob.NewStagingID())
				if err != nil {
					b.Fatal(err)
				}
				runtime.GC()
				heap := peak()
				began := time.Now()
				if err := builder.Build(b.Context(), s.actor.Tenant, e.ID); err != nil {
					b.Fatal(err)
				}
				took := time.Since(began)
				b.ReportMetric(float64(heap())/(1<<20), "heap-MB")
				if e, err = s.store.Exports.Get(b.Context(), s.actor.Tenant, "", e.ID); err != nil || e.State != library.ExportCompleted || e.Files != files {
					b.Fatalf("%+v %v", e.State, err)
				}
				b.ReportMetric(float64(files)/took.Seconds(), "files/s")
				b.ReportMetric(float64(took)/float64(bare), "x-bare-copy")
				b.ReportMetric(float64(e.Bytes)/(1<<20), "zip-MB")
			}
		})
	}
}
