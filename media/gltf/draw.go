package gltf

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"slices"
)

// Texture decodes a picture of the file.
type Texture func(data *io.SectionReader) (*image.RGBA, error)

const (
	maxTextures = 12 // that are decoded; surfaces of others have their base color alone
	textureCost = 4 << 20
	// samples is how many pixels of the drawing, across and down, make one of the picture.
	samples = 2
	// maxTriangles and maxPixels bound how long drawing takes: what all placements of meshes have, and what
	// all triangles may touch.
	maxTriangles = 40 << 20
	maxTouched   = 3 << 30
	// blockTriangles is after how many triangles it is asked whether anybody still waits.
	blockTriangles = 1 << 14
)

// compressed are extensions without which a file's meshes cannot be read.
var compressed = []string{"KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression"}

// Cost returns how many bytes drawing a picture takes at most.
func (f *File) Cost(edge int) int64 {
	var most int64 // one primitive is in memory at a time
	for _, m := range f.doc.meshes {
		for _, p := range m.primitives {
			n := f.doc.count(p.Attributes["POSITION"]) * vertexCost
			if p.Indices != nil {
				n += f.doc.count(*p.Indices) * 4
			}
			most = max(most, n)
		}
	}
	wide := int64(edge * samples)
	return most + 8*wide*wide + 4*int64(edge)*int64(edge) + maxTextures*textureCost + 2*blockBytes
}

// Draw draws the scene from the front, a little from the right and from above, as large as it fits into a
// square of edge pixels. ErrNothing: it has nothing that can be drawn.
func (f *File) Draw(ctx context.Context, edge int, decode Texture) (*image.RGBA, error) {
	for _, e := range f.doc.required {
		if slices.Contains(compressed, e) {
			return nil, fmt.Errorf("%w: its meshes are compressed (%s)", ErrNothing, e)
		}
	}
	low, high, err := f.bounds(ctx)
	if err != nil {
		return nil, err
	}
	c := newCanvas(edge*samples, low, high)
	loaded := map[int]*image.RGBA{}
	var failed error
	f.placed(func(p placement) bool {
		for _, part := range f.doc.meshes[p.mesh].primitives {
			if failed = f.primitive(ctx, c, p, part, f.paint(part, loaded, decode)); failed != nil {
				return false
			}
		}
		return true
	})
	if failed != nil {
		return nil, failed
	}
	return c.picture(edge), nil
}

// bounds returns where the vertices of all surfaces are. What the file claims is not relied on: it decides
// what can be seen.
func (f *File) bounds(ctx context.Context) (low, high vec, err error) {
	low, high = vec{math.Inf(1), math.Inf(1), math.Inf(1)}, vec{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	var all int64
	f.placed(func(p placement) bool {
		for _, part := range f.doc.meshes[p.mesh].primitives {
			n := f.doc.triangles(part)
			if all += 1 + max(n, f.doc.count(part.Attributes["POSITION"])/3); all > maxTriangles {
				err = fmt.Errorf("%w: it has more than %d million triangles", ErrNothing, maxTriangles>>20)
			}
			if err = errors.Join(err, ctx.Err()); err != nil {
				return false
			}
			if n == 0 {
				continue
			}
			var list []vertex
			if list, err = f.vertices(p, part, false); err != nil {
				return false
			}
			for _, v := range list {
				if finite(v.at[:]...) {
					for axis := range 3 {
						low[axis], high[axis] = min(low[axis], v.at[axis]), max(high[axis], v.at[axis])
					}
				}
			}
		}
		return true
	})
	if err == nil && !finite(low.sub(high).dot(low.sub(high))) {
		err = fmt.Errorf("%w: it has no surfaces", ErrNothing)
	}
	return low, high, err
}

// vertex is a corner of triangles.
type vertex struct {
	at     vec // in the scene
	normal vec // zero: that of its triangle
	uv     [2]float32
	color  [4]float32
}

const vertexCost = 72 + 24 + 24 // and where it is on the canvas, and what holds it

// vertices returns the corners of a primitive where a placement has them.
func (f *File) vertices(p placement, part primitive, looks bool) ([]vertex, error) {
	where, ok := part.Attributes["POSITION"]
	if !ok || f.doc.count(where) == 0 {
		return nil, nil
	}
	a := at(f.doc.accessors, where)
	// Memory is taken for what the file holds, not for what it claims.
	if a.BufferView == nil || at(f.doc.views, *a.BufferView) == nil || a.Count > f.length {
		return nil, fmt.Errorf("%w: it ends within its numbers", errDamaged)
	}
	list := make([]vertex, a.Count)
	for i := range list {
		list[i].color = [4]float32{1, 1, 1, 1}
	}
	move, err := f.skinned(p, part, a.Count)
	if err != nil {
		return nil, err
	}
	err = f.floats(where, 3, a.Count, func(i int, v []float64) {
		list[i].at = move(i).point(vec{v[0], v[1], v[2]})
	})
	if err != nil || !looks {
		return list, err
	}
	if n, ok := part.Attributes["NORMAL"]; ok {
		err = f.floats(n, 3, a.Count, func(i int, v []float64) { list[i].normal = move(i).normal(vec{v[0], v[1], v[2]}).unit() })
	}
	if n, ok := part.Attributes["COLOR_0"]; ok && err == nil {
		of := 3
		if c := at(f.doc.accessors, n); c != nil && c.Type == "VEC4" {
			of = 4
		}
		err = f.floats(n, of, a.Count, func(i int, v []float64) {
			for k := range v {
				list[i].color[k] = float32(v[k])
			}
		})
	}
	return list, err
}

// skinned returns how a vertex is moved: by its placement, or by the joints of a skin that hold it.
func (f *File) skinned(p placement, part primitive, n int64) (func(i int) *matrix, error) {
	joints, hasJoints := part.Attributes["JOINTS_0"]
	weights, hasWeights := part.Attributes["WEIGHTS_0"]
	if p.bones == nil || !hasJoints || !hasWeights || n > maxSkinned {
		return func(int) *matrix { return &p.world }, nil
	}
	held := make([][4]uint16, n)
	share := make([][4]float32, n)
	err := f.floats(joints, 4, n, func(i int, v []float64) {
		for k := range 4 {
			held[i][k] = uint16(min(max(v[k], 0), float64(len(p.bones)-1)))
		}
	})
	if err == nil {
		err = f.floats(weights, 4, n, func(i int, v []float64) {
			for k := range 4 {
				share[i][k] = float32(v[k])
			}
		})
	}
	return func(i int) *matrix {
		var m matrix
		for k := range 4 {
			if w := float64(share[i][k]); w != 0 {
				for j, v := range p.bones[held[i][k]] {
					m[j] += w * v
				}
			}
		}
		return &m
	}, err
}

// maxSkinned is how many vertices with a skin are moved by it; their shares are in memory beside them.
const maxSkinned = 1 << 20

// primitive draws the triangles of a primitive.
func (f *File) primitive(ctx context.Context, c *canvas, p placement, part primitive, look paint) error {
	n := f.doc.triangles(part)
	if n == 0 {
		return nil
	}
	list, err := f.vertices(p, part, true)
	if err != nil || len(list) == 0 {
		return err
	}
	if i, ok := part.Attributes[fmt.Sprint("TEXCOORD_", look.set)]; ok && look.texture != nil {
		err = f.floats(i, 2, int64(len(list)), func(i int, v []float64) { list[i].uv = [2]float32{float32(v[0]), float32(v[1])} })
	} else {
		look.texture = nil
	}
	corners := func(i int64) int64 { return i }
	if part.Indices != nil && err == nil {
		var order []uint32
		order, err = f.order(*part.Indices)
		n = min(n, f.doc.triangles(part))
		corners = func(i int64) int64 { return int64(order[i]) }
	}
	if err != nil {
		return err
	}
	seen := c.project(list)
	for t := range n {
		if t%blockTriangles == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		i, j, k := threeOf(part.mode(), t)
		a, b, d := corners(i), corners(j), corners(k)
		if most := int64(len(list)); a >= most || b >= most || d >= most {
			return fmt.Errorf("%w: a triangle has a corner that is not there", errDamaged)
		}
		c.triangle([3]*vertex{&list[a], &list[b], &list[d]}, [3]*spot{&seen[a], &seen[b], &seen[d]}, &look)
		if c.touched > maxTouched {
			return fmt.Errorf("%w: drawing it takes too long", ErrNothing)
		}
	}
	return nil
}

// order returns the indices of a primitive.
func (f *File) order(i int) ([]uint32, error) {
	n := f.doc.count(i)
	if n > f.length {
		return nil, fmt.Errorf("%w: it ends within its triangles", errDamaged)
	}
	order := make([]uint32, n)
	return order, f.floats(i, 1, n, func(i int, v []float64) { order[i] = uint32(v[0]) })
}

// threeOf returns which corners the t-th triangle has.
func threeOf(mode int, t int64) (a, b, c int64) {
	switch {
	case mode == modeFan:
		return 0, t + 1, t + 2
	case mode == modeStrip && t%2 == 1:
		return t + 1, t, t + 2
	case mode == modeStrip:
		return t, t + 1, t + 2
	}
	return 3 * t, 3*t + 1, 3*t + 2
}
