package extract

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"vitrine/media/extract/extracttest"
)

// hostileFiles are files built to hurt a reader, by what they try. The first are
// those that others report as having hurt them.
func hostileFiles(t testing.TB) map[string][]byte {
	const mib = 1 << 20
	text := func(kind, key, value string) []byte { return pngChunk(kind, []byte(key+"\x00"+value)) }
	graph := func(n int, node string) string {
		var g strings.Builder
		g.WriteByte('{')
		for i := range n {
			if i > 0 {
				g.WriteByte(',')
			}
			fmt.Fprintf(&g, `"%d":`+node, i, (i+1)%n)
		}
		g.WriteByte('}')
		return g.String()
	}
	return map[string][]byte{
		"a picture of 28 bytes that declares 16384 by 16384 pixels": []byte("RIFF\x14\x00\x00\x00WEBPVP8L\x08\x00\x00\x00\x2f\xff\xff\xff\x0f\x88\x88\x08"),
		"an animation that declares 16777216 by 16777216 pixels":    []byte("RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x12\x00\x00\x00\xff\xff\xff\xff\xff\xff"),
		"a PNG that declares 2147483647 by 2147483647 pixels":       pngWith(header(1<<31-1, 1<<31-1), pngChunk("IDAT", []byte("x"))),
		"a PNG of 8000 by 8000 pixels out of one row":               pngWith(header(8000, 8000), pngChunk("IDAT", deflated(make([]byte, 4*8000+1)))),
		"a PNG whose pixels unpack to 4000 times their size":        pngWith(header(8000, 8000), pngChunk("IDAT", deflated(make([]byte, 64*mib)))),
		"hidden text that declares 512 MiB":                         hiddenText(t, binary.BigEndian.AppendUint32([]byte("stealth_pngcomp"), 1<<32-1)),
		"hidden text that unpacks to 64 MiB":                        hiddenText(t, bomb("stealth_pngcomp", 64*mib)),
		"boxes that declare 90 GB":                                  []byte("\x00\x00\x00\x10ftypisom\x00\x00\x02\x00\x00\x00\x00\x01moov\x00\x00\x00\x16\x00\x00\x00\x00\x00\x00\x00\x01udta\x00\x00\x00\x15\x00\x00\x00\x00"),
		"an item list that declares 4 billion keys":                 []byte("\x00\x00\x00\x10ftypisom\x00\x00\x02\x00\x00\x00\x00\x38moov\x00\x00\x00\x30meta\x00\x00\x00\x00\x00\x00\x00\x18keys\x00\x00\x00\x00\xff\xff\xff\xff\x00\x00\x00\x08mdta\x00\x00\x00\x0cilst\x00\x00\x00\x00"),
		"an element that declares 72 PB":                            []byte("\x1a\x45\xdf\xa3\x80\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff\x12\x54\xc3\x67\x01\xff\xff\xff\xff\xff\xff\xfe"),
		"a header that declares 8 EiB of JSON":                      []byte("\xff\xff\xff\xff\xff\xff\xff\x7f{\"__metadata__\":{\"prompt\":\"{}\"}}"),
		"a comment that declares 4 GB":                              append([]byte("fLaC\x84\x00\x00\x20\x03\x00\x00\x00enc\x01\x00\x00\x00\xff\xff\xff\xff"), make([]byte, 16)...),
		"a tag that declares 256 MB":                                []byte("ID3\x04\x00\x00\x7f\x7f\x7f\x7fTXXX\x7f\x7f\x7f\x7f\x00\x00\x03prompt\x00{}"),

		"one text of 40 MiB":              pngFile("prompt", strings.Repeat("a", 40*mib)),
		"texts of 120 MiB":                pngWith(header(1, 1), bytes.Repeat(text("tEXt", "k", strings.Repeat("a", 4*mib)), 30)),
		"a million texts":                 pngWith(header(1, 1), bytes.Repeat(text("tEXt", "k", "v"), 1_000_000)),
		"a zTXt that unpacks to 256 MiB":  pngWith(header(1, 1), text("zTXt", "prompt", "\x00"+string(deflated(make([]byte, 256*mib))))),
		"an iTXt that unpacks to 256 MiB": pngWith(header(1, 1), text("iTXt", "prompt", "\x01\x00\x00\x00"+string(deflated(make([]byte, 256*mib))))),
		"a hundred zTXt of 1 MiB each":    pngWith(header(1, 1), bytes.Repeat(text("zTXt", "prompt", "\x00"+string(deflated(bytes.Repeat([]byte("a fox in snow "), mib/14)))), 100)),
		"a graph in a circle":             pngFile("prompt", graph(2000, `{"class_type":"KSampler","inputs":{"seed":1,"model":["%d",0],"positive":["0",0],"latent_image":["0",0]}}`)),
		"a graph of 10,000 nodes":         pngFile("prompt", graph(10_000, `{"class_type":"LoraLoader","inputs":{"lora_name":"l.safetensors","strength_model":1,"model":["%d",0]}}`)),
		"two documents of as many values as are read": pngFile("prompt", `{"1":{"class_type":"X","inputs":{"a":[`+strings.Repeat("1,", 249_900)+`1]}}}`,
			"workflow", `{"nodes":[],"links":[],"extra":{`+strings.Repeat(`"a":0,`, 249_900)+`"b":1}}`),
		"as many samplers as are read":            pngFile("prompt", graph(10_000, `{"class_type":"KSampler","inputs":{"seed":1,"steps":20,"cfg":7,"sampler_name":"euler","scheduler":"normal","denoise":1,"model":["%d",0],"positive":["0",0],"negative":["0",0],"latent_image":["1",0]}}`)),
		"an editor's graph of 5,000 nodes":        pngFile("workflow", `{"nodes":[`+strings.Repeat(`{"id":1,"type":"KSampler","pos":[1,2],"size":[3,4],"flags":{},"order":1,"mode":0,"inputs":[{"name":"model","type":"MODEL","link":1}],"outputs":[{"name":"LATENT","type":"LATENT","links":[2]}],"properties":{"Node name for S&R":"KSampler"},"widgets_values":[1,"fixed",20,7,"euler","normal",1]},`, 5000)+`{"id":2}],"links":[[1,1,0,1,0,"MODEL"]]}`),
		"a record of as many members as are read": pngFile("parameters", `{"sui_image_params":{"prompt":"a"`+strings.Repeat(`,"abc":"b"`, 199_000)+`}}`),
		"a graph of 300,000 nodes":                pngFile("prompt", graph(300_000, `{"class_type":"X","inputs":{"model":["%d",0]}}`)),
		"a list of 15 million numbers":            pngFile("prompt", `{"1":{"class_type":"X","inputs":{"a":[`+strings.Repeat("1,", 15<<20)+`1]}}}`),
		"an object of 4 million members":          pngFile("workflow", `{"nodes":[],"links":[],"extra":{`+strings.Repeat(`"a":0,`, 4<<20)+`"b":1}}`),
		"lists within lists":                      pngFile("workflow", `{"nodes":`+strings.Repeat("[", 16*mib)),
		"a string of backslashes":                 pngFile("prompt", `"`+strings.Repeat(`\\`, 8*mib)+`"`),
		"a text file that says it is a record":    pngFile("parameters", `{"sui_image_params":{`+strings.Repeat(`"a":"b",`, 2<<20)+`"c":1}}`),
		"settings of 16 MiB":                      pngFile("parameters", "a\nSteps: 1, Sampler: a, Seed: 1, "+strings.Repeat("k: v, ", 16*mib/6)),
		"an SVG of 16 MiB of elements":            []byte("<svg><metadata>" + strings.Repeat("<a>b</a>", 2*mib) + "</metadata></svg>"),
		"an SVG with entities in entities":        []byte(`<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><svg><metadata>&b;&b;</metadata></svg>`),
	}
}

// TestHostileFiles_StayWithinTheirMemory holds every reader, from the file to the
// lineage, to 64 MiB beside the file's own bytes and to a few seconds.
func TestHostileFiles_StayWithinTheirMemory(t *testing.T) {
	for name, file := range hostileFiles(t) {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			extra := peak(func() {
				if _, err := Read(context.Background(), bytes.NewReader(file), int64(len(file)), Options{}); err != nil {
					t.Fatal(err)
				}
			})
			t.Logf("%4d MiB beside a file of %d bytes, %v", extra>>20, len(file), time.Since(start).Round(time.Millisecond))
			if extra > extracttest.MaxMemory {
				t.Errorf("%d MiB were in use beside a file of %d bytes, more than %d MiB", extra>>20, len(file), extracttest.MaxMemory>>20)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// peak returns the most memory in use while do runs beyond what was in use before.
// The collector runs often meanwhile, so that garbage hardly counts.
func peak(do func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	inUse := func() uint64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	runtime.GC()
	before := inUse()
	most, done := before, make(chan struct{})
	go func() { do(); close(done) }()
	for tick := time.NewTicker(200 * time.Microsecond); ; {
		select {
		case <-done:
			tick.Stop()
			return most - before
		case <-tick.C:
			most = max(most, inUse())
		}
	}
}

func header(width, height int) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(width))
	return pngChunk("IHDR", append(binary.BigEndian.AppendUint32(b, uint32(height)), 8, 6, 0, 0, 0))
}

// pngWith makes a PNG of these chunks.
func pngWith(chunks ...[]byte) []byte {
	out := []byte("\x89PNG\r\n\x1a\n")
	for _, c := range chunks {
		out = append(out, c...)
	}
	return append(out, pngChunk("IEND", nil)...)
}

func deflated(b []byte) []byte {
	var out bytes.Buffer
	z, _ := zlib.NewWriterLevel(&out, zlib.BestCompression)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

// bomb is a hidden text that unpacks to so many bytes.
func bomb(word string, size int) []byte {
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	z.Write(make([]byte, size))
	z.Close()
	return append(binary.BigEndian.AppendUint32([]byte(word), uint32(8*packed.Len())), packed.Bytes()...)
}

// hiddenText makes a picture with a message in the lowest bits of its alpha.
func hiddenText(t testing.TB, message []byte) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, 1024, 1024))
	for bit := range m.Rect.Dx() * m.Rect.Dy() {
		c := color.NRGBA{A: 0xFE}
		if bit < 8*len(message) {
			c.A |= message[bit/8] >> (7 - bit%8) & 1
		}
		m.SetNRGBA(bit/1024, bit%1024, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
