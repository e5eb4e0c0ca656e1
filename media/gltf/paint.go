package gltf

import (
	"bytes"
	"image"
	"math"
)

// paint is how the surface of a primitive looks.
type paint struct {
	color   [4]float32
	glow    [3]float32
	texture *image.RGBA
	set     int     // of texture coordinates
	least   float32 // opacity below which nothing is seen
	unlit   bool
	shine   float32 // how strong highlights are
}

// paint returns the looks of a primitive. What cannot be decoded is left out.
func (f *File) paint(part primitive, loaded map[int]*image.RGBA, decode Texture) paint {
	look := paint{color: [4]float32{1, 1, 1, 1}, shine: .12}
	if part.Material == nil {
		return look
	}
	m := at(f.doc.materials, *part.Material)
	if m == nil {
		return look
	}
	if m.PBR.Color != nil {
		for i, v := range m.PBR.Color {
			look.color[i] = float32(v)
		}
	}
	for i, v := range m.Emissive {
		look.glow[i] = float32(v)
	}
	switch m.AlphaMode {
	case "MASK":
		look.least = .5
		if m.AlphaCutoff != nil {
			look.least = float32(*m.AlphaCutoff)
		}
	case "BLEND":
		look.least = .05 // what is behind is not mixed in
	}
	if m.PBR.Roughness != nil {
		look.shine = float32(.35 * (1 - min(max(*m.PBR.Roughness, 0), 1)))
	}
	look.unlit = bytes.Contains(m.Extensions, []byte(`"KHR_materials_unlit"`))
	if t := m.PBR.Texture; t != nil {
		look.set, look.texture = t.TexCoord, f.texture(t.Index, loaded, decode)
	}
	return look
}

// texture returns a decoded picture, nil where there is none.
func (f *File) texture(i int, loaded map[int]*image.RGBA, decode Texture) *image.RGBA {
	t := at(f.doc.textures, i)
	if t == nil || t.Source == nil {
		return nil
	}
	kept, known := loaded[*t.Source]
	if known || len(loaded) >= maxTextures {
		return kept
	}
	loaded[*t.Source] = nil
	picture := at(f.doc.images, *t.Source)
	if picture == nil || picture.BufferView == nil {
		return nil
	}
	data, err := f.section(*picture.BufferView)
	if err != nil {
		return nil
	}
	if img, err := decode(data); err == nil && img != nil && !img.Rect.Empty() {
		loaded[*t.Source] = img
	}
	return loaded[*t.Source]
}

// sample returns the linear color of a texture at a place, between its pixels.
func sample(img *image.RGBA, u, v float32) [3]float32 {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	x, y := repeat(u)*float32(w)-.5, repeat(v)*float32(h)-.5
	x0, y0 := float32(math.Floor(float64(x))), float32(math.Floor(float64(y)))
	fx, fy := x-x0, y-y0
	var out [3]float32
	for i := range 4 {
		px, py := wrap(int(x0)+i&1, w), wrap(int(y0)+i>>1, h)
		share := (1 - fx) * (1 - fy)
		switch i {
		case 1:
			share = fx * (1 - fy)
		case 2:
			share = (1 - fx) * fy
		case 3:
			share = fx * fy
		}
		at := py*img.Stride + 4*px
		for c := range 3 {
			out[c] += share * linear[img.Pix[at+c]]
		}
	}
	return out
}

// repeat returns the place in a texture that is laid again and again; 0 for what is no number.
func repeat(v float32) float32 {
	f := v - float32(math.Floor(float64(v)))
	if f >= 0 && f <= 1 {
		return f
	}
	return 0
}

func wrap(i, n int) int { return ((i % n) + n) % n }

// linear has the light of each value of a pixel, which grows by the curve of sRGB.
var linear = func() (table [256]float32) {
	for i := range table {
		v := float64(i) / 255
		if v <= .04045 {
			table[i] = float32(v / 12.92)
		} else {
			table[i] = float32(math.Pow((v+.055)/1.055, 2.4))
		}
	}
	return table
}()

// encoded is the way back from linear, in steps fine enough for the dark.
var encoded = func() (table [4096]byte) {
	for i := range table {
		v := float64(i) / 4095
		if v <= .0031308 {
			v *= 12.92
		} else {
			v = 1.055*math.Pow(v, 1/2.4) - .055
		}
		table[i] = byte(math.Round(255 * v))
	}
	return table
}()

// pixel returns the value of a pixel for light, bright light without a hard edge.
func pixel(v float32) byte {
	if !(v > 0) {
		return 0
	}
	if v > .8 {
		v = .8 + .2*(1-float32(math.Exp(float64(-(v-.8)*5))))
	}
	return encoded[int(min(v, 1)*4095)]
}
