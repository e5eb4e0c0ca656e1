package gltf

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"vitrine/internal/randtest"
	"vitrine/internal/sample/shape"
)

func opened(t *testing.T, b []byte) *File {
	t.Helper()
	f, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// glb returns a file with a document and numbers.
func glb(document string, data ...any) []byte {
	var b bytes.Buffer
	for _, d := range data {
		_ = binary.Write(&b, binary.LittleEndian, d)
	}
	return shape.Container([]byte(document), b.Bytes())
}

// square is a document with one square in the plane of the screen, 36 bytes of colors behind its corners.
const square = `{"asset":{"version":"2.0"},"nodes":[{"mesh":0NODE}],"meshes":[{"primitives":[{"attributes":{"POSITION":0ATTRIBUTES},"mode":5PRIMITIVE}]}],MORE
"accessors":[{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"},{"bufferView":1,"componentType":5126,"count":4,"type":"VEC2"},{"bufferView":2,"componentType":5121,"count":4,"type":"SCALAR"}],
"bufferViews":[{"buffer":0,"byteLength":48},{"buffer":0,"byteOffset":48,"byteLength":32},{"buffer":0,"byteOffset":80,"byteLength":4}]}`

var (
	corners  = []float32{-1, -1, 0, 1, -1, 0, -1, 1, 0, 1, 1, 0}
	textures = []float32{0, 1, 1, 1, 0, 0, 1, 0}
)

// squareWith fills in the places of square.
func squareWith(places ...string) []byte {
	r := append([]string{}, places...)
	for _, p := range []string{"NODE", "ATTRIBUTES", "PRIMITIVE", "MORE"} {
		r = append(r, p, "")
	}
	return glb(strings.NewReplacer(r...).Replace(square), corners, textures, []byte("tex!"))
}

func drawn(t *testing.T, b []byte, decode Texture) *image.RGBA {
	t.Helper()
	img, err := opened(t, b).Draw(t.Context(), 64, decode)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func TestFacts_SayWhatTheFileHolds(t *testing.T) {
	got := opened(t, shape.Knot(2, 3, 40)).Facts()
	if got.Version != "2.0" || got.Generator != shape.Generator || got.Meshes != 1 || got.Vertices != 40*24 || got.Triangles != 2*40*24 || got.Materials != 1 || got.Nodes != 1 || got.Animations != 1 || got.Textures != 0 {
		t.Errorf("%+v", got)
	}
	if got.Size == nil || math.Abs(got.Size[0]-3.6) > .1 || math.Abs(got.Size[2]-1.74) > .1 {
		t.Errorf("its size is %v", got.Size)
	}
	if got := opened(t, squareWith()).Facts(); got.Size != nil || got.Triangles != 2 || got.Vertices != 4 {
		t.Errorf("a square without bounds: %+v", got)
	}
}

func TestDraw_AShapeStandsInFrontOfTheGround(t *testing.T) {
	img := drawn(t, shape.Knot(2, 3, 80), nil)
	var colors int
	for y := range 64 {
		for x := range 64 {
			if c := img.RGBAAt(x, y); max(c.R, c.G, c.B)-min(c.R, c.G, c.B) > 20 {
				colors++
			}
		}
	}
	if colors < 800 || colors > 3000 {
		t.Errorf("%d of 4096 pixels show the shape", colors)
	}
	if c := img.RGBAAt(1, 1); c.R > 90 || c.A != 255 {
		t.Errorf("the ground is %v", c)
	}
}

// middle returns the pixel in the middle of a picture.
func middle(img *image.RGBA) color.RGBA { return img.RGBAAt(32, 32) }

func TestDraw_MaterialsColorSurfaces(t *testing.T) {
	half := func(io *io.SectionReader) (*image.RGBA, error) {
		if b := make([]byte, 4); io.Size() != 4 || func() bool { _, err := io.ReadAt(b, 0); return err != nil || string(b) != "tex!" }() {
			return nil, errors.New("these are other bytes")
		}
		img := image.NewRGBA(image.Rect(0, 0, 8, 1))
		for x := range 8 {
			img.SetRGBA(x, 0, []color.RGBA{{255, 0, 0, 255}, {0, 0, 255, 255}}[x/4])
		}
		return img, nil
	}
	material := func(inside string) []string {
		return []string{"PRIMITIVE", `,"material":0`, "ATTRIBUTES", `,"TEXCOORD_0":1`, "MORE", `"textures":[{"source":0}],"images":[{"bufferView":2,"mimeType":"image/png"}],"materials":[{` + inside + `}],`}
	}
	red := middle(drawn(t, squareWith(material(`"pbrMetallicRoughness":{"baseColorFactor":[1,0,0,1],"roughnessFactor":1}`)...), nil))
	if red.R < 150 || red.G > 20 || red.B > 20 {
		t.Errorf("a red square is %v", red)
	}
	img := drawn(t, squareWith(material(`"pbrMetallicRoughness":{"baseColorTexture":{"index":0},"roughnessFactor":1},"extensions":{"KHR_materials_unlit":{}}`)...), half)
	left, right := img.RGBAAt(18, 32), img.RGBAAt(46, 32)
	if left.R < 200 || left.B > 80 || right.B < 200 || right.R > 80 {
		t.Errorf("a texture of red and blue is %v and %v", left, right)
	}
	seen := middle(drawn(t, squareWith(material(`"alphaMode":"MASK","pbrMetallicRoughness":{"baseColorFactor":[1,0,0,0.2]}`)...), nil))
	if seen.R > 100 {
		t.Errorf("what is cut out is %v", seen)
	}
}

func TestDraw_NodesPlaceWhatTheyHold(t *testing.T) {
	flat := drawn(t, squareWith("NODE", `,"scale":[1,0.2,1]`), nil)
	if top, at := flat.RGBAAt(32, 8), middle(flat); top.R > 100 || at.R < 150 {
		t.Errorf("a flat square has %v above and %v in its middle", top, at)
	}
	nested := strings.Replace(square, `"nodes":[{"mesh":0NODE}]`, `"scenes":[{"nodes":[1]}],"scene":0,"nodes":[{"mesh":0},{"children":[0,1],"translation":[100,0,0],"scale":[1,0.2,1]}]`, 1)
	img := drawn(t, glb(strings.NewReplacer("ATTRIBUTES", "", "PRIMITIVE", "", "MORE", "").Replace(nested), corners, textures, []byte("tex!")), nil)
	if top, at := img.RGBAAt(32, 8), middle(img); top.R > 100 || at.R < 150 {
		t.Errorf("a square in a flat node, which is its own child, has %v above and %v in its middle", top, at)
	}
}

func TestDraw_WhatCannotBeDrawnSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		file []byte
		want error
		says string
	}{
		"nothing":           {glb(`{"asset":{"version":"2.0"}}`), ErrNothing, "no surfaces"},
		"points":            {glb(strings.NewReplacer("NODE", "", "ATTRIBUTES", "", "\"mode\":5PRIMITIVE", `"mode":0`, "MORE", "").Replace(square), corners, textures, []byte("tex!")), ErrNothing, "no surfaces"},
		"Draco":             {squareWith("MORE", `"extensionsRequired":["KHR_draco_mesh_compression"],`), ErrNothing, "KHR_draco_mesh_compression"},
		"cut off":           {squareWith()[:bytes.Index(squareWith(), []byte("BIN\x00"))+20], errDamaged, "ends"},
		"a corner too many": {squareWith("PRIMITIVE", `,"indices":2`), errDamaged, "a corner that is not there"},
	} {
		f, err := Open(bytes.NewReader(c.file), int64(len(c.file)))
		if err == nil {
			_, err = f.Draw(t.Context(), 32, nil)
		}
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v with %q", name, err, c.want, c.says)
		}
	}
}

// TestOpen_AFewBytesDoNotTakeMuchMemory reads lists of elements that are larger in memory than in the file.
func TestOpen_AFewBytesDoNotTakeMuchMemory(t *testing.T) {
	for _, list := range []string{`"nodes":[`, `"meshes":[{"primitives":[`} {
		document := `{"asset":{"version":"2.0"},` + list + strings.Repeat("{},", 1<<17) + "{}]" + strings.Repeat("}]", strings.Count(list, "{")) + "}"
		b := glb(document)
		if _, err := Open(bytes.NewReader(b), int64(len(b))); !errors.Is(err, ErrNothing) {
			t.Errorf("%s: %v", list, err)
		}
	}
	claims := squareWith("MORE", "")
	claims = bytes.Replace(claims, []byte(`"count":4,"type":"VEC3"`), []byte(`"count":4000000000,"type":"VEC3"`), 1)
	binary.LittleEndian.PutUint32(claims[12:], binary.LittleEndian.Uint32(claims[12:])+9)
	if _, err := opened(t, claims).Draw(t.Context(), 32, nil); !errors.Is(err, errDamaged) && !errors.Is(err, ErrNothing) {
		t.Errorf("four billion vertices: %v", err)
	}
}

// TestDraw_ChangedFilesEndWithAPictureOrAnError changes bytes of files at random, most of them in the document.
func TestDraw_ChangedFilesEndWithAPictureOrAnError(t *testing.T) {
	whole := [][]byte{shape.Knot(2, 3, 8), squareWith("PRIMITIVE", `,"material":0`, "ATTRIBUTES", `,"TEXCOORD_0":1,"NORMAL":0,"COLOR_0":0`, "MORE", `"materials":[{}],"skins":[{"joints":[0]}],`, "NODE", `,"skin":0`)}
	randtest.Run(t, func(t *testing.T, r *rand.Rand) {
		for range randtest.Cases(t, 100) {
			b := bytes.Clone(whole[r.IntN(len(whole))])
			n := int(binary.LittleEndian.Uint32(b[12:]))
			for range 1 + r.IntN(4) {
				switch at := 20 + r.IntN(n); r.IntN(3) {
				case 0:
					b[at] = "0123456789-e,[]{}\""[r.IntN(18)]
				case 1:
					b[at] ^= 1 << r.IntN(8)
				default:
					b[r.IntN(len(b))] = byte(r.IntN(256))
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			if f, err := Open(bytes.NewReader(b), int64(len(b))); err == nil {
				f.Facts()
				_, err = f.Draw(ctx, 16, nil)
				if errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("a file takes longer than 20 s")
				}
			}
			cancel()
		}
	})
}
