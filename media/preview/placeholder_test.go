package preview

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/internal/testenv"
	"vitrine/media/memory"
)

// drawn is a picture of a few soft shapes, different for every seed.
func drawn(w, h int, seed uint64) *image.RGBA {
	r := rand.New(rand.NewPCG(seed, 7))
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	a, b, c := r.Float64()*4, r.Float64()*4, r.Float64()*4
	for y := range h {
		for x := range w {
			u, v := float64(x)/float64(w), float64(y)/float64(h)
			wave := func(f, g float64) uint8 { return uint8(127.5 + 127*math.Sin(f*u*3+g*v*3+a)) }
			img.SetRGBA(x, y, color.RGBA{wave(a, b), wave(b, c), wave(c, a), 255})
		}
	}
	return img
}

// published is the script that encodes and decodes with the package that the format's
// author publishes.
const published = `
import { readFileSync } from 'node:fs'
const t = await import(process.argv[1])
const out = JSON.parse(readFileSync(0)).map(({ w, h, rgba, hash }) => {
  const theirs = t.rgbaToThumbHash(w, h, Uint8Array.from(Buffer.from(rgba, 'base64')))
  const p = t.thumbHashToRGBA(Uint8Array.from(Buffer.from(hash, 'base64')))
  return { hash: Buffer.from(theirs).toString('base64'), w: p.w, h: p.h, rgba: Buffer.from(p.rgba).toString('base64') }
})
console.log(JSON.stringify(out))`

type publishedCase struct {
	W    int    `json:"w"`
	H    int    `json:"h"`
	RGBA []byte `json:"rgba"`
	Hash []byte `json:"hash"`
}

func TestPlaceholder_IsWhatThePublishedEncoderMakes(t *testing.T) {
	var in, out []publishedCase
	for i, size := range [][2]int{{100, 100}, {100, 75}, {75, 100}, {100, 56}, {100, 1}, {1, 100}, {1, 1}, {17, 3}, {64, 63}} {
		img := drawn(size[0], size[1], uint64(i))
		in = append(in, publishedCase{size[0], size[1], img.Pix, thumbHash(img)})
	}
	single := image.NewRGBA(image.Rect(0, 0, 40, 30))
	for i := range single.Pix {
		single.Pix[i] = 0xff
	}
	in = append(in, publishedCase{40, 30, single.Pix, thumbHash(single)})
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), testenv.Tool(t, "node"), "--input-type=module", "-e", published, "--", filepath.Join(testenv.Tool(t, "thumbhash"), "thumbhash.js"))
	cmd.Stdin = bytes.NewReader(raw)
	var failed strings.Builder
	cmd.Stderr = &failed
	answer, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, failed.String())
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		t.Fatal(err)
	}
	for i, theirs := range out {
		mine := in[i]
		compared := len(mine.Hash)
		if i == len(out)-1 {
			compared = 5 // of a single color, they encode the noise of their arithmetic behind the header
		}
		if len(theirs.Hash) != len(mine.Hash) || !bytes.Equal(theirs.Hash[:compared], mine.Hash[:compared]) {
			t.Errorf("%d×%d: %s, and the published encoder makes %s", mine.W, mine.H, base64.StdEncoding.EncodeToString(mine.Hash), base64.StdEncoding.EncodeToString(theirs.Hash))
		}
		if len(mine.Hash) > maxPlaceholder || theirs.W*mine.H*8 < theirs.H*mine.W*7 && mine.W < 2*mine.H {
			t.Errorf("%d×%d: %d bytes, shown as %d×%d", mine.W, mine.H, len(mine.Hash), theirs.W, theirs.H)
		}
	}
}

func TestPlaceholder_IsMadeOfTheKeptThumbnail(t *testing.T) {
	m, _, hash := keeper(t, picture(900, 600, false), memory.Config{})
	made, err := m.Thumbnail(t.Context(), tenant, hash)
	if err != nil {
		t.Fatal(err)
	}
	got := Placeholder(made)
	if len(got) < 5 || len(got) > maxPlaceholder {
		t.Fatalf("%x", got)
	}
	again, err := m.Thumbnail(t.Context(), tenant, hash)
	if err != nil || !bytes.Equal(got, Placeholder(again)) {
		t.Errorf("%x, then %v %v", got, again, err)
	}
	if _, err := m.blobs.GetDerived(t.Context(), tenant, hash, "512.jpg"); err != nil {
		t.Errorf("the thumbnail is not kept: %v", err)
	}
}
