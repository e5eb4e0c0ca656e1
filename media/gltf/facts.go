package gltf

import (
	"math"
	"slices"
	"strings"
)

// Facts is what a model's file says of it. What it does not say is zero.
type Facts struct {
	Version    string    `json:"version,omitempty" doc:"Version of glTF."`
	Generator  string    `json:"generator,omitempty" doc:"The program that wrote the file, as it names itself."`
	Meshes     int       `json:"meshes"`
	Vertices   int64     `json:"vertices" doc:"Of all meshes, each counted once however often it is placed."`
	Triangles  int64     `json:"triangles" doc:"Of all meshes, each counted once however often it is placed."`
	Materials  int       `json:"materials"`
	Textures   int       `json:"textures" doc:"Pictures that the file holds or names."`
	Nodes      int       `json:"nodes"`
	Skins      int       `json:"skins,omitempty"`
	Animations int       `json:"animations,omitempty"`
	Extensions []string  `json:"extensions,omitempty" doc:"Extensions of glTF that the file uses, for example KHR_draco_mesh_compression."`
	Size       []float64 `json:"size,omitempty" doc:"Width, height and depth of the scene in meters, by the bounds that the file names."`
}

// Facts returns what the document says.
func (f *File) Facts() Facts {
	d := &f.doc
	out := Facts{Version: short(d.asset.Version), Generator: short(d.asset.Generator), Meshes: len(d.meshes), Materials: len(d.materials), Textures: len(d.images), Nodes: len(d.nodes),
		Skins: len(d.skins), Animations: d.animations}
	for _, e := range d.used[:min(len(d.used), 32)] {
		out.Extensions = append(out.Extensions, short(e))
	}
	slices.Sort(out.Extensions)
	for _, m := range d.meshes {
		counted := map[int]bool{} // primitives of one mesh may share vertices
		for _, p := range m.primitives {
			corners := d.count(p.Attributes["POSITION"])
			if at, ok := p.Attributes["POSITION"]; !ok || counted[at] {
				corners = 0
			} else {
				counted[at] = true
			}
			out.Vertices += corners
			out.Triangles += d.triangles(p)
		}
	}
	if low, high, ok := f.claimed(); ok {
		out.Size = make([]float64, 3)
		for i := range 3 {
			out.Size[i] = rounded(high[i] - low[i])
		}
	}
	return out
}

// short returns a text of the file as it is kept.
func short(s string) string {
	if runes := []rune(s); len(runes) > 200 {
		s = string(runes[:200])
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "")
}

// rounded keeps four digits, which is more than anybody measures a model to.
func rounded(v float64) float64 {
	if v <= 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-3)
	if unit < 1 {
		return math.Round(v/unit) / math.Round(1/unit)
	}
	return math.Round(v/unit) * unit
}

// count returns how many elements an accessor claims to have.
func (d *document) count(i int) int64 {
	if a := at(d.accessors, i); a != nil && a.Count > 0 && a.Count < 1<<32 {
		return a.Count
	}
	return 0
}

// triangles returns how many triangles a primitive draws.
func (d *document) triangles(p primitive) int64 {
	n := int64(0)
	if p.Indices != nil {
		n = d.count(*p.Indices)
	} else if i, ok := p.Attributes["POSITION"]; ok {
		n = d.count(i)
	}
	switch p.mode() {
	case modeTriangles:
		return n / 3
	case modeStrip, modeFan:
		return max(0, n-2)
	}
	return 0
}

// Modes of primitives that have surfaces.
const (
	modeTriangles = 4
	modeStrip     = 5
	modeFan       = 6
)

func (p primitive) mode() int {
	if p.Mode == nil {
		return modeTriangles
	}
	return *p.Mode
}

// claimed returns the bounds of the scene by the least and greatest positions that the file names.
func (f *File) claimed() (low, high vec, ok bool) {
	low, high = vec{math.Inf(1), math.Inf(1), math.Inf(1)}, vec{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	left := maxList // of all placements together
	f.placed(func(p placement) bool {
		for _, part := range f.doc.meshes[p.mesh].primitives {
			if left--; left < 0 {
				return false
			}
			i, has := part.Attributes["POSITION"]
			a := at(f.doc.accessors, i)
			if !has || a == nil || len(a.Min) != 3 || len(a.Max) != 3 || !finite(a.Min...) || !finite(a.Max...) {
				continue
			}
			for corner := range 8 {
				v := vec{a.Min[0], a.Min[1], a.Min[2]}
				for axis := range 3 {
					if corner>>axis&1 == 1 {
						v[axis] = a.Max[axis]
					}
				}
				v = p.world.point(v)
				for axis := range 3 {
					low[axis], high[axis] = min(low[axis], v[axis]), max(high[axis], v[axis])
				}
			}
		}
		return true
	})
	return low, high, left >= 0 && finite(low[:]...) && finite(high[:]...)
}
