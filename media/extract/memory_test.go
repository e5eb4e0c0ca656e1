package extract

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"vitrine/media/memory"
	"vitrine/media/preview/previewtest"
)

// withText puts a compressed text into a PNG.
func withText(t *testing.T, png []byte, text string) []byte {
	t.Helper()
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	body := append([]byte("zTXtparameters\x00\x00"), z.Bytes()...)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(body)-4))
	chunk = binary.BigEndian.AppendUint32(append(chunk, body...), crc32.ChecksumIEEE(body))
	const afterHeader = 33
	return append(append(append([]byte{}, png[:afterHeader]...), chunk...), png[afterHeader:]...)
}

// TestRead_LargeMetadataWaitsForMemoryAndSmallDoesNot: small files that unpack to many
// megabytes are read one at a time.
func TestRead_LargeMetadataWaitsForMemoryAndSmallDoesNot(t *testing.T) {
	budget := memory.New(memory.Config{Wait: 20 * time.Millisecond})
	var words strings.Builder
	rnd := rand.New(rand.NewPCG(1, 2))
	for words.Len() < 12<<20 {
		words.WriteString([]string{"fox, ", "snow, ", "a pine\n", "dusk; "}[rnd.IntN(4)])
	}
	plain := previewtest.PNG(8, 8, 8, 2, false)
	large, small := withText(t, plain, words.String()[:12<<20]), withText(t, plain, "a fox\nSteps: 20, Seed: 1")
	hidden := previewtest.LosslessWebP(1000, 1000, false) // is searched for hidden text
	hidden = append(hidden, make([]byte, 1000)...)

	first := budget.Lease()
	if r, err := Read(t.Context(), bytes.NewReader(large), int64(len(large)), Options{Memory: first}); err != nil || len(r.Chunks) == 0 || len(r.Chunks[0].Text) < 10<<20 {
		t.Fatalf("%d chunks, %v", len(r.Chunks), err)
	}
	for name, data := range map[string][]byte{"large": large, "hidden": hidden} {
		second := budget.Lease()
		if _, err := Read(t.Context(), bytes.NewReader(data), int64(len(data)), Options{Memory: second}); !errors.Is(err, memory.ErrBusy) {
			t.Errorf("%s, while another is held: %v", name, err)
		}
		second.Release()
	}
	if _, err := Read(t.Context(), bytes.NewReader(small), int64(len(small)), Options{Memory: budget.Lease()}); err != nil {
		t.Errorf("small metadata waits: %v", err)
	}
	first.Release()
	for name, data := range map[string][]byte{"large": large, "hidden": hidden} {
		again := budget.Lease()
		if _, err := Read(t.Context(), bytes.NewReader(data), int64(len(data)), Options{Memory: again}); err != nil {
			t.Errorf("%s, afterwards: %v", name, err)
		}
		again.Release()
	}
	if s := budget.Stats(); s.Used != 0 {
		t.Errorf("something is left: %+v", s)
	}
}
