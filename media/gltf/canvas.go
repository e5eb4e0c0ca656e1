package gltf

import (
	"image"
	"math"
)

// canvas is what a scene is drawn on: colors, and how near what was drawn is.
type canvas struct {
	size                 int
	pix                  []byte // red, green, blue, whether anything was drawn
	near                 []float32
	eye                  vec
	right, up, ahead     vec
	scale                float64
	touched              int64
	key, fill, highlight vec // where light comes from, and where highlights are
}

// spot is where a vertex is on the canvas. w is one over its distance, 0 behind the eye.
type spot struct{ x, y, w float64 }

const (
	turn  = 30 * math.Pi / 180 // to the right
	rise  = 18 * math.Pi / 180
	angle = 30 * math.Pi / 180 // of view
	// margin is how much of the canvas the scene leaves free on each side.
	margin = .04
)

// newCanvas returns an empty canvas for what lies in a box.
func newCanvas(size int, low, high vec) *canvas {
	middle := low.add(high).times(.5)
	radius := math.Sqrt(high.sub(low).dot(high.sub(low))) / 2
	if radius == 0 {
		radius = 1
	}
	from := vec{math.Sin(turn) * math.Cos(rise), math.Sin(rise), math.Cos(turn) * math.Cos(rise)}
	c := &canvas{size: size, pix: make([]byte, 4*size*size), near: make([]float32, size*size), ahead: from.times(-1)}
	c.right = c.ahead.cross(vec{0, 1, 0}).unit()
	c.up = c.right.cross(c.ahead)
	distance := radius / math.Sin(angle/2)
	c.eye = middle.add(from.times(distance))
	c.frame(low, high)
	c.key = c.right.times(-.55).add(c.up.times(.75)).add(from.times(.8)).unit()
	c.fill = c.right.times(.9).add(c.up.times(.1)).add(from.times(.5)).unit()
	c.highlight = c.key.add(from).unit()
	return c
}

// frame chooses the scale and moves the eye sideways, so that the box fills the canvas.
func (c *canvas) frame(low, high vec) {
	left, right, bottom, top := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	depth := 0.0
	for corner := range 8 {
		v := low
		for axis := range 3 {
			if corner>>axis&1 == 1 {
				v[axis] = high[axis]
			}
		}
		v = v.sub(c.eye)
		z := v.dot(c.ahead)
		x, y := v.dot(c.right)/z, v.dot(c.up)/z
		left, right, bottom, top, depth = min(left, x), max(right, x), min(bottom, y), max(top, y), max(depth, z)
	}
	wide := max(right-left, top-bottom, 1e-9)
	c.scale = float64(c.size) * (1 - 2*margin) / wide
	// Turning the eye would change the view a little; moving what it sees does not.
	c.eye = c.eye.add(c.right.times((left + right) / 2 * depth)).add(c.up.times((bottom + top) / 2 * depth))
	c.eye = c.eye.add(c.ahead.times(-.03 * depth))
}

// project returns where vertices are on the canvas.
func (c *canvas) project(list []vertex) []spot {
	out := make([]spot, len(list))
	half := float64(c.size) / 2
	for i := range list {
		v := list[i].at.sub(c.eye)
		if z := v.dot(c.ahead); z > 0 {
			out[i] = spot{half + v.dot(c.right)/z*c.scale, half - v.dot(c.up)/z*c.scale, 1 / z}
		}
	}
	return out
}

// triangle draws one, from both sides.
func (c *canvas) triangle(v [3]*vertex, p [3]*spot, look *paint) {
	area := (p[1].x-p[0].x)*(p[2].y-p[0].y) - (p[1].y-p[0].y)*(p[2].x-p[0].x)
	if !(p[0].w > 0 && p[1].w > 0 && p[2].w > 0) || !(math.Abs(area) > 1e-9) || !finite(area) {
		return
	}
	edge := float64(c.size - 1)
	x0, x1 := max(0, math.Ceil(min(p[0].x, p[1].x, p[2].x)-.5)), min(edge, math.Floor(max(p[0].x, p[1].x, p[2].x)-.5))
	y0, y1 := max(0, math.Ceil(min(p[0].y, p[1].y, p[2].y)-.5)), min(edge, math.Floor(max(p[0].y, p[1].y, p[2].y)-.5))
	if x1 < x0 || y1 < y0 {
		return
	}
	c.touched += int64((x1 - x0 + 1) * (y1 - y0 + 1))
	flat := v[1].at.sub(v[0].at).cross(v[2].at.sub(v[0].at)).unit()
	if flat.dot(c.ahead) > 0 { // its other side is seen
		flat = flat.times(-1)
	}
	for y := int(y0); y <= int(y1); y++ {
		for x := int(x0); x <= int(x1); x++ {
			sx, sy := float64(x)+.5, float64(y)+.5
			a := ((p[1].x-sx)*(p[2].y-sy) - (p[1].y-sy)*(p[2].x-sx)) / area
			b := ((p[2].x-sx)*(p[0].y-sy) - (p[2].y-sy)*(p[0].x-sx)) / area
			d := 1 - a - b
			if a < 0 || b < 0 || d < 0 {
				continue
			}
			w := a*p[0].w + b*p[1].w + d*p[2].w
			at := y*c.size + x
			if float32(w) <= c.near[at] {
				continue
			}
			// Shares on the triangle, not on the canvas, where what is near is larger.
			shares := [3]float32{float32(a * p[0].w / w), float32(b * p[1].w / w), float32(d * p[2].w / w)}
			if rgb, ok := c.shade(v, shares, flat, look); ok {
				c.near[at] = float32(w)
				copy(c.pix[4*at:], rgb[:])
				c.pix[4*at+3] = 0xff
			}
		}
	}
}

// shade returns the color of a place of a triangle; false where it cannot be seen.
func (c *canvas) shade(v [3]*vertex, shares [3]float32, flat vec, look *paint) (rgb [3]byte, seen bool) {
	color, normal := look.color, vec{}
	var tint [4]float32
	var u, t float32
	for i, s := range shares {
		for k := range tint {
			tint[k] += s * v[i].color[k]
		}
		u, t = u+s*v[i].uv[0], t+s*v[i].uv[1]
		normal = normal.add(v[i].normal.times(float64(s)))
	}
	for k := range color {
		color[k] *= tint[k]
	}
	if color[3] < look.least {
		return rgb, false
	}
	if look.texture != nil {
		for k, v := range sample(look.texture, u, t) {
			color[k] *= v
		}
	}
	if normal = normal.unit(); normal == (vec{}) {
		normal = flat
	} else if normal.dot(flat) < 0 {
		normal = normal.times(-1)
	}
	light, shine := c.light(normal, look)
	for k := range rgb {
		rgb[k] = pixel(color[k]*light + look.glow[k] + shine)
	}
	return rgb, true
}

// light returns how much light a surface of some direction throws back, and how strong its highlight is.
func (c *canvas) light(normal vec, look *paint) (light, shine float32) {
	if look.unlit {
		return 1, 0
	}
	sky := .5 + .5*normal[1]
	sum := .18 + .22*sky + .72*max(0, normal.dot(c.key)) + .18*max(0, normal.dot(c.fill))
	glance := max(0, normal.dot(c.highlight))
	for range 5 { // to the power of 32
		glance *= glance
	}
	return float32(sum), look.shine * float32(glance)
}

// picture returns what was drawn on a ground that is lighter in its middle, in fewer and smoother pixels.
func (c *canvas) picture(edge int) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, edge, edge))
	for y := range edge {
		for x := range edge {
			dx, dy := float64(x)/float64(edge)-.5, float64(y)/float64(edge)-.45
			ground := 74 - 66*(dx*dx+dy*dy)
			sum := [3]float64{}
			for s := range samples * samples {
				at := 4 * ((y*samples+s/samples)*c.size + x*samples + s%samples)
				for k := range sum {
					if c.pix[at+3] != 0 {
						sum[k] += float64(c.pix[at+k])
					} else {
						sum[k] += ground + 2*float64(k)
					}
				}
			}
			at := out.PixOffset(x, y)
			for k := range sum {
				out.Pix[at+k] = byte(min(255, sum[k]/(samples*samples)+.5))
			}
			out.Pix[at+3] = 0xff
		}
	}
	return out
}
