package extract

import (
	"context"
	"crypto/sha1"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkFiles takes the lineage out of files on disk and, file by file in the
// same run, reads and hashes them whole, which is the least that storing a file
// costs. It reports the 95th percentile of both and the ratio of their sums.
func BenchmarkFiles(b *testing.B) {
	corpus, _ := filepath.Glob(filepath.Join("..", "..", "..", "shared", "corpus", "*", "*"))
	corpus = slices.DeleteFunc(corpus, func(name string) bool { return filepath.Ext(name) == ".json" })
	sets := []struct {
		name      string
		files     []string
		noStealth bool
	}{
		{"corpus", corpus, false},
		{"corpus without hidden text", corpus, true},
		{"pictures of 1.5 MB with a graph", generatedPictures(b), false},
	}
	for _, set := range sets {
		b.Run(set.name, func(b *testing.B) {
			if len(set.files) == 0 {
				b.Skip("the corpus of real files is not here (expected in ../shared/corpus beside the project)")
			}
			measure(b, set.files, Options{NoStealth: set.noStealth})
		})
	}
}

func measure(b *testing.B, files []string, opts Options) {
	var extraction, hashing []time.Duration
	var size int64
	for b.Loop() {
		for _, name := range files {
			took, n := timed(b, name, func(f *os.File, size int64) error { _, err := io.Copy(sha1.New(), f); return err })
			hashing, size = append(hashing, took), size+n
			took, _ = timed(b, name, func(f *os.File, size int64) error {
				_, err := Read(context.Background(), f, size, opts)
				return err
			})
			extraction = append(extraction, took)
		}
	}
	b.ReportMetric(milliseconds(extraction, 0.95), "p95-ms")
	b.ReportMetric(milliseconds(extraction, 0.5), "p50-ms")
	b.ReportMetric(milliseconds(hashing, 0.95), "hash-p95-ms")
	b.ReportMetric(float64(size)/1e6/total(extraction).Seconds(), "MB/s")
	b.ReportMetric(float64(size)/1e6/total(hashing).Seconds(), "hash-MB/s")
	b.ReportMetric(total(extraction).Seconds()/total(hashing).Seconds(), "ratio")
}

func timed(b *testing.B, name string, do func(*os.File, int64) error) (time.Duration, int64) {
	start := time.Now()
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = do(f, info.Size())
	}
	if err != nil {
		b.Fatalf("%s: %v", name, err)
	}
	return time.Since(start), info.Size()
}

func total(list []time.Duration) (sum time.Duration) {
	for _, d := range list {
		sum += d
	}
	return sum
}

// milliseconds returns a quantile.
func milliseconds(list []time.Duration, q float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return float64(sorted[int(q*float64(len(sorted)-1))]) / 1e6
}

// generatedPictures writes PNG files with a graph of fifty nodes and as many pixels
// as a picture of 1024 by 1024 has; the pixels are noise, as compressed ones are.
func generatedPictures(b *testing.B) []string {
	dir := b.TempDir()
	var files []string
	random := rand.NewChaCha8([32]byte{})
	for i := range 40 {
		pixels := make([]byte, 1_500_000)
		random.Read(pixels)
		file := pngFile("prompt", longGraph(i), "workflow", `{"nodes":[{"id":1,"type":"KSampler"}],"links":[]}`)
		end := len(file) - 12 // IEND
		file = append(file[:end:end], append(pngChunk("IDAT", pixels), file[end:]...)...)
		name := filepath.Join(dir, fmt.Sprintf("fox_%05d_.png", i))
		if err := os.WriteFile(name, file, 0o600); err != nil {
			b.Fatal(err)
		}
		files = append(files, name)
	}
	return files
}

// longGraph is an executed graph with forty LoRAs in a row.
func longGraph(seed int) string {
	var g strings.Builder
	g.WriteString(`{"c":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"base.safetensors"}},"e":{"class_type":"EmptyLatentImage","inputs":{"width":1024,"height":1024}}`)
	model := `["c",0]`
	for i := range 40 {
		fmt.Fprintf(&g, `,"l%d":{"class_type":"LoraLoader","inputs":{"lora_name":"l%d.safetensors","strength_model":0.5,"strength_clip":0.5,"model":%s,"clip":["c",1]}}`, i, i, model)
		model = fmt.Sprintf(`["l%d",0]`, i)
	}
	fmt.Fprintf(&g, `,"p":{"class_type":"CLIPTextEncode","inputs":{"text":"a fox %d","clip":["c",1]}},"n":{"class_type":"CLIPTextEncode","inputs":{"text":"","clip":["c",1]}}`, seed)
	fmt.Fprintf(&g, `,"k":{"class_type":"KSampler","inputs":{"seed":%d,"steps":20,"cfg":7,"sampler_name":"euler","scheduler":"normal","denoise":1,"model":%s,"positive":["p",0],"negative":["n",0],"latent_image":["e",0]}}`, seed, model)
	g.WriteString(`,"d":{"class_type":"VAEDecode","inputs":{"samples":["k",0],"vae":["c",2]}},"s":{"class_type":"SaveImage","inputs":{"images":["d",0],"filename_prefix":"fox"}}}`)
	return g.String()
}

// hugeVideo is an MP4 file of 1 GB that is all zeros but for its ends.
type hugeVideo struct {
	head, tail []byte
	size, read int64
}

func (v *hugeVideo) ReadAt(p []byte, off int64) (int, error) {
	n := int(min(int64(len(p)), max(v.size-off, 0)))
	clear(p[:n])
	if off < int64(len(v.head)) {
		copy(p[:n], v.head[off:])
	}
	if from := v.size - int64(len(v.tail)); off+int64(n) > from {
		copy(p[max(0, from-off):n], v.tail[max(0, off-from):])
	}
	v.read += int64(n)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// TestSpeed_LineageOfAHugeVideoTakesFewReads: of 1 GB whose movie box stands last, with
// the sample tables of an hour of film and both graphs, less than 2 MiB are read.
func TestSpeed_LineageOfAHugeVideoTakesFewReads(t *testing.T) {
	box := func(kind string, parts ...string) string {
		body := strings.Join(parts, "")
		n := len(body) + 8
		return string([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}) + kind + body
	}
	tables := box("stbl", box("stsz", strings.Repeat("\x00\x00\x10\x00", 1<<20)), box("co64", strings.Repeat("\x00", 4<<20)))
	data := func(text string) string { return box("data", "\x00\x00\x00\x01\x00\x00\x00\x00", text) }
	comment := `{"prompt":` + quote(longGraph(7)) + `,"workflow":{"nodes":[{"id":1,"type":"KSampler"}],"links":[]}}`
	tail := box("moov", box("trak", box("mdia", box("minf", tables))), box("udta", box("meta", "\x00\x00\x00\x00", box("ilst", box("\xa9cmt", data(comment))))))
	const pixels = 1_000_000_000
	v := &hugeVideo{head: []byte(box("ftyp", "isom\x00\x00\x02\x00") + "\x00\x00\x00\x01mdat\x00\x00\x00\x00" + string([]byte{(pixels >> 24) & 255, (pixels >> 16) & 255, (pixels >> 8) & 255, pixels & 255})), tail: []byte(tail)}
	v.size = 16 + pixels + int64(len(tail))
	res, err := Read(context.Background(), v, v.size, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Lineage.Positive == nil || *res.Lineage.Positive != "a fox 7" || len(res.Lineage.Models) < 40 {
		t.Fatalf("lineage is %+v", res.Lineage)
	}
	t.Logf("%d of %d bytes were read", v.read, v.size)
	if v.read > 2<<20 {
		t.Errorf("%d bytes were read, more than 2 MiB", v.read)
	}
}

func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }
