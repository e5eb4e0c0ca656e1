package gltf

import "math"

type vec [3]float64

func (a vec) sub(b vec) vec { return vec{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }
func (a vec) add(b vec) vec { return vec{a[0] + b[0], a[1] + b[1], a[2] + b[2]} }
func (a vec) times(s float64) vec {
	return vec{a[0] * s, a[1] * s, a[2] * s}
}
func (a vec) dot(b vec) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }
func (a vec) cross(b vec) vec {
	return vec{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// unit returns the vector of length 1, or zero for one without a direction.
func (a vec) unit() vec {
	n := math.Sqrt(a.dot(a))
	if n == 0 || !finite(n) {
		return vec{}
	}
	return a.times(1 / n)
}

// matrix is four columns, one after the other, as glTF writes them.
type matrix [16]float64

var identity = matrix{0: 1, 5: 1, 10: 1, 15: 1}

func (m matrix) times(b matrix) (out matrix) {
	for c := range 4 {
		for r := range 4 {
			for k := range 4 {
				out[4*c+r] += m[4*k+r] * b[4*c+k]
			}
		}
	}
	return out
}

// point moves a point.
func (m *matrix) point(v vec) vec {
	return vec{m[0]*v[0] + m[4]*v[1] + m[8]*v[2] + m[12], m[1]*v[0] + m[5]*v[1] + m[9]*v[2] + m[13], m[2]*v[0] + m[6]*v[1] + m[10]*v[2] + m[14]}
}

// normal turns a normal: by the cofactors, which keep it upright on surfaces that are stretched.
func (m *matrix) normal(v vec) vec {
	x, y, z := vec{m[0], m[1], m[2]}, vec{m[4], m[5], m[6]}, vec{m[8], m[9], m[10]}
	return y.cross(z).times(v[0]).add(z.cross(x).times(v[1])).add(x.cross(y).times(v[2]))
}

// local returns where a node is in its parent.
func (n *node) local() matrix {
	if n.Matrix != nil {
		return *n.Matrix
	}
	q, s := [4]float64{0, 0, 0, 1}, [3]float64{1, 1, 1}
	if n.Rotation != nil {
		q = *n.Rotation
	}
	if n.Scale != nil {
		s = *n.Scale
	}
	x, y, z, w := q[0], q[1], q[2], q[3]
	return matrix{
		(1 - 2*(y*y+z*z)) * s[0], 2 * (x*y + z*w) * s[0], 2 * (x*z - y*w) * s[0], 0,
		2 * (x*y - z*w) * s[1], (1 - 2*(x*x+z*z)) * s[1], 2 * (y*z + x*w) * s[1], 0,
		2 * (x*z + y*w) * s[2], 2 * (y*z - x*w) * s[2], (1 - 2*(x*x+y*y)) * s[2], 0,
		n.Translation[0], n.Translation[1], n.Translation[2], 1,
	}
}

// placement is a mesh at a place in the scene.
type placement struct {
	mesh  int
	world matrix
	bones []matrix // of a mesh with a skin: where its joints move vertices
}

// roots returns the nodes that the scene begins with.
func (d *document) roots() []int {
	if s := at(d.scenes, max(d.scene, 0)); s != nil {
		return s.Nodes
	}
	child := make([]bool, len(d.nodes))
	for _, n := range d.nodes {
		for _, c := range n.Children {
			if c >= 0 && c < len(child) {
				child[c] = true
			}
		}
	}
	var roots []int
	for i := range d.nodes {
		if !child[i] {
			roots = append(roots, i)
		}
	}
	return roots
}

// worlds returns where the nodes of the scene are. A node is there once, however often the file
// names it, so that links that lead back end.
func (d *document) worlds() (order []int, world map[int]matrix) {
	type step struct {
		node   int
		parent matrix
	}
	world = map[int]matrix{}
	var todo []step
	for _, r := range d.roots() {
		todo = append(todo, step{r, identity})
	}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		n := at(d.nodes, s.node)
		if _, seen := world[s.node]; seen || n == nil {
			continue
		}
		here := s.parent.times(n.local())
		world[s.node] = here
		order = append(order, s.node)
		for _, c := range n.Children {
			if _, seen := world[c]; !seen && len(todo) < 2*maxList {
				todo = append(todo, step{c, here})
			}
		}
	}
	return order, world
}

// placed calls see for every mesh of the scene until it returns false.
func (f *File) placed(see func(placement) bool) {
	order, world := f.doc.worlds()
	joints := maxJoints
	for _, i := range order {
		n := &f.doc.nodes[i]
		if n.Mesh == nil || at(f.doc.meshes, *n.Mesh) == nil {
			continue
		}
		p := placement{mesh: *n.Mesh, world: world[i]}
		if s := skinOf(f, n); s != nil && joints >= len(s.Joints) {
			joints -= len(s.Joints)
			p.bones = f.bones(*n.Skin, world)
		}
		if p.bones != nil {
			p.world = identity // the joints alone say where a skin is
		}
		if !see(p) {
			return
		}
	}
}

// maxJoints is how many joints are moved in one scene.
const maxJoints = 1 << 18

func skinOf(f *File, n *node) *skin {
	if n.Skin == nil {
		return nil
	}
	return at(f.doc.skins, *n.Skin)
}

// bones returns where the joints of a skin move vertices, nil when the file does not say.
func (f *File) bones(i int, world map[int]matrix) []matrix {
	s := at(f.doc.skins, i)
	if s == nil || len(s.Joints) == 0 || len(s.Joints) > 4096 {
		return nil
	}
	bones := make([]matrix, len(s.Joints))
	for b, joint := range s.Joints {
		at, ok := world[joint]
		if !ok {
			return nil
		}
		bones[b] = at
	}
	if s.Inverse == nil {
		return bones
	}
	err := f.floats(*s.Inverse, 16, int64(len(bones)), func(n int, v []float64) {
		if n < len(bones) {
			bones[n] = bones[n].times(matrix(v))
		}
	})
	if err != nil {
		return nil
	}
	return bones
}
