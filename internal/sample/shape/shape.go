// Package shape makes 3D models for the sample library: binary glTF files (GLB) as programs for image-to-3D
// write them, of shapes that a formula describes.
package shape

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
)

// Generator is the program that the models name.
const Generator = "Vitrine sample"

// Knot returns a GLB with a torus knot of p turns one way and q the other: one mesh with normals and vertex
// colors, and an animation that turns it. Detail is how many rings it has, 8 to 4096.
func Knot(p, q, detail int) []byte {
	const around = 24
	rings := min(max(detail, 8), 4096)
	var m model
	for i := range rings {
		t := 2 * math.Pi * float64(i) / float64(rings)
		center, ahead := knotAt(p, q, t), sub(knotAt(p, q, t+1e-3), knotAt(p, q, t))
		side := unit(cross(ahead, add(knotAt(p, q, t+1e-3), knotAt(p, q, t))))
		out := unit(cross(side, ahead))
		for j := range around {
			a := 2 * math.Pi * float64(j) / around
			normal := add(times(side, math.Sin(a)), times(out, math.Cos(a)))
			hue := .5 + .5*math.Sin(t*float64(q)+a)
			m.vertex(add(center, times(normal, .32)), normal, [3]float64{.85 - .55*hue, .25 + .2*hue, .25 + .6*hue})
			next := (i + 1) % rings
			b := (j + 1) % around
			m.quad(i*around+j, next*around+j, next*around+b, i*around+b)
		}
	}
	return m.glb("Torus knot")
}

func knotAt(p, q int, t float64) [3]float64 {
	r := 1.15 + .5*math.Cos(float64(q)*t)
	return [3]float64{r * math.Cos(float64(p)*t), r * math.Sin(float64(p)*t), .55 * math.Sin(float64(q)*t)}
}

// model collects vertices and triangles.
type model struct {
	at, normals [][3]float32
	colors      [][3]float32
	indices     []uint32
}

func (m *model) vertex(at, normal, color [3]float64) {
	single := func(v [3]float64) [3]float32 { return [3]float32{float32(v[0]), float32(v[1]), float32(v[2])} }
	m.at, m.normals, m.colors = append(m.at, single(at)), append(m.normals, single(normal)), append(m.colors, single(color))
}

func (m *model) quad(a, b, c, d int) {
	for _, i := range []int{a, b, c, a, c, d} {
		m.indices = append(m.indices, uint32(i)) //nolint:gosec // fewer than 4096×24
	}
}

// glb returns the file.
func (m *model) glb(name string) []byte {
	var data bytes.Buffer
	var views, accessors []map[string]any
	low, high := m.bounds()
	add := func(list any, target int, accessor map[string]any) {
		begin := data.Len()
		_ = binary.Write(&data, binary.LittleEndian, list) // a buffer takes everything
		view := map[string]any{"buffer": 0, "byteOffset": begin, "byteLength": data.Len() - begin}
		if target != 0 {
			view["target"] = target
		}
		accessor["bufferView"] = len(views)
		views, accessors = append(views, view), append(accessors, accessor)
	}
	vec3 := func(n int) map[string]any {
		return map[string]any{"componentType": 5126, "type": "VEC3", "count": n}
	}
	positions := vec3(len(m.at))
	positions["min"], positions["max"] = low, high
	add(m.at, 34962, positions)
	add(m.normals, 34962, vec3(len(m.at)))
	add(m.colors, 34962, vec3(len(m.at)))
	add(m.indices, 34963, map[string]any{"componentType": 5125, "type": "SCALAR", "count": len(m.indices)})
	add([]float32{0, 2, 4}, 0, map[string]any{"componentType": 5126, "type": "SCALAR", "count": 3, "min": []float32{0}, "max": []float32{4}})
	add([][4]float32{{0, 0, 0, 1}, {0, 1, 0, 0}, {0, 0, 0, -1}}, 0, map[string]any{"componentType": 5126, "type": "VEC4", "count": 3})
	document := map[string]any{
		"asset": map[string]any{"version": "2.0", "generator": Generator}, "scene": 0, "scenes": []any{map[string]any{"nodes": []int{0}}},
		"nodes":       []any{map[string]any{"name": name, "mesh": 0}},
		"materials":   []any{map[string]any{"name": "Glaze", "pbrMetallicRoughness": map[string]any{"baseColorFactor": []float64{1, 1, 1, 1}, "metallicFactor": 0, "roughnessFactor": .35}}},
		"meshes":      []any{map[string]any{"name": name, "primitives": []any{map[string]any{"attributes": map[string]any{"POSITION": 0, "NORMAL": 1, "COLOR_0": 2}, "indices": 3, "material": 0}}}},
		"animations":  []any{map[string]any{"name": "Turn", "samplers": []any{map[string]any{"input": 4, "output": 5}}, "channels": []any{map[string]any{"sampler": 0, "target": map[string]any{"node": 0, "path": "rotation"}}}}},
		"bufferViews": views, "accessors": accessors, "buffers": []any{map[string]any{"byteLength": data.Len()}},
	}
	text, _ := json.Marshal(document) // numbers, texts, lists and maps alone
	return Container(text, data.Bytes())
}

func (m *model) bounds() (low, high [3]float32) {
	low, high = m.at[0], m.at[0]
	for _, v := range m.at {
		for i := range 3 {
			low[i], high[i] = min(low[i], v[i]), max(high[i], v[i])
		}
	}
	return low, high
}

// Container returns a GLB file with a document and binary data.
func Container(document, data []byte) []byte {
	pad := func(b []byte, with byte) []byte {
		b = bytes.Clone(b)
		for len(b)%4 != 0 {
			b = append(b, with)
		}
		return b
	}
	document, data = pad(document, ' '), pad(data, 0)
	le := binary.LittleEndian.AppendUint32
	out := le(le([]byte("glTF"), 2), uint32(12+8+len(document)+8+len(data))) //nolint:gosec // a few megabytes
	out = append(le(out, uint32(len(document))), "JSON"...)                  //nolint:gosec // the same
	out = append(out, document...)
	out = append(le(out, uint32(len(data))), "BIN\x00"...) //nolint:gosec // the same
	return append(out, data...)
}

func add(a, b [3]float64) [3]float64 { return [3]float64{a[0] + b[0], a[1] + b[1], a[2] + b[2]} }
func sub(a, b [3]float64) [3]float64 { return [3]float64{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }
func times(a [3]float64, s float64) [3]float64 {
	return [3]float64{a[0] * s, a[1] * s, a[2] * s}
}
func cross(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}
func unit(a [3]float64) [3]float64 {
	return times(a, 1/math.Sqrt(a[0]*a[0]+a[1]*a[1]+a[2]*a[2]))
}
