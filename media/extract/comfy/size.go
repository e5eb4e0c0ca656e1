package comfy

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// dims is a picture size in pixels; zero means unknown.
type dims struct{ w, h int }

func (d dims) known() bool { return d.w > 0 && d.h > 0 }

var sizeText = regexp.MustCompile(`(\d{2,5})\s*[x×*X]\s*(\d{2,5})`)

// sizer follows sizes through a graph, with a memo of its own.
type sizer struct {
	*reader
	known map[*node]dims
	// likely takes it that an opaque node leaves the size as it is. That tells outputs
	// apart, but is no size of anything.
	likely bool
}

func newSizer(r *reader, likely bool) *sizer {
	return &sizer{reader: r, known: map[*node]dims{}, likely: likely}
}

// sizeAt returns the size of the picture or latent a node gives, followed from its
// source through every step that changes it. Unknown steps give an unknown size.
func (r *reader) sizeAt(n *node) dims { return r.sizes.at(n) }

func (z *sizer) at(n *node) dims {
	if d, known := z.known[n]; known {
		return d
	}
	z.known[n] = dims{}
	d := z.of(n)
	if d.w > 1<<16 || d.h > 1<<16 || d.w < 0 || d.h < 0 {
		d = dims{}
	}
	z.known[n] = d
	return d
}

func (z *sizer) of(n *node) dims {
	if isLatentSource(n) {
		return z.statedSize(n)
	}
	before := func() dims {
		for _, p := range z.pictureInputs(n) {
			return z.at(p.node)
		}
		return dims{}
	}
	switch {
	case z.isSampler(n) && !n.is("ultimatesdupscale"):
		if d := before(); d.known() {
			return d
		}
		return z.statedSize(n)
	case n.opaque() && !z.likely:
		return dims{}
	case n.is("pad") && n.has("left"):
		return z.padded(n, before())
	case n.is("ultimatesdupscale"):
		return z.scaled(n, before())
	case n.is("withmodel") || n.has("upscale_model") && n.is("upscale", "upsampl"):
		return z.modelScaled(n, before())
	case resizes(n) || n.is("crop", "scale", "resolution"):
		return z.resized(n, before())
	case n.is("stitch", "grid", "imageconcat", "imagebatchgrid"):
		return dims{}
	}
	return before()
}

// statedSize reads the size a node states itself: as two numbers or as a choice
// such as "1024 x 1024 (square)".
func (r *reader) statedSize(n *node) dims {
	if w, h := r.number(n, []string{"width_override"}), r.number(n, []string{"height_override"}); w != nil && h != nil && *w > 0 && *h > 0 {
		return dims{int(*w), int(*h)}
	}
	if d := r.chosenSize(n); d.known() {
		return d
	}
	w, h := r.number(n, widthNames), r.number(n, heightNames)
	if w == nil || h == nil || *w < 1 || *h < 1 || *w > 1<<16 || *h > 1<<16 {
		return dims{}
	}
	return dims{int(*w), int(*h)}
}

func (r *reader) chosenSize(n *node) dims {
	for _, name := range []string{"dimensions", "resolution", "aspect_ratio", "size", "preset", "image_size"} {
		s, ok := r.scalar(n.in(name), name)
		if !ok || len(s) > 200 {
			continue
		}
		m := sizeText.FindStringSubmatch(s)
		if m == nil {
			continue
		}
		w, _ := strconv.Atoi(m[1])
		h, _ := strconv.Atoi(m[2])
		if w < 64 || h < 64 {
			continue
		}
		for _, swap := range []string{"swap_dimensions", "invert", "swap"} {
			if v, ok := r.scalar(n.in(swap), swap); ok && truthy(v) {
				w, h = h, w
			}
		}
		return dims{w, h}
	}
	return dims{}
}

var ratioText = regexp.MustCompile(`^\s*(\d{1,2})\s*:\s*(\d{1,2})\b`)

// ratioSize computes what a resolution selector does: the sides of a stated ratio
// that come to so many megapixels, rounded to a multiple.
func (r *reader) ratioSize(n *node) dims {
	mp := r.number(n, []string{"megapixels", "megapixel"})
	s, ok := r.scalar(n.in("aspect_ratio"), "aspect_ratio")
	m := ratioText.FindStringSubmatch(s)
	if !n.is("resolutionselector") || mp == nil || !ok || m == nil || *mp <= 0 || *mp > 1024 {
		return dims{}
	}
	w, _ := strconv.ParseFloat(m[1], 64)
	h, _ := strconv.ParseFloat(m[2], 64)
	if w == 0 || h == 0 {
		return dims{}
	}
	step := 8.0
	if v := r.number(n, []string{"multiple", "multiple_of", "divisible_by", "round_to"}); v != nil && *v >= 1 {
		step = *v
	}
	scale := math.Sqrt(*mp * 1024 * 1024 / (w * h))
	return dims{int(math.RoundToEven(w*scale/step) * step), int(math.RoundToEven(h*scale/step) * step)}
}

func (r *reader) padded(n *node, d dims) dims {
	if !d.known() {
		return d
	}
	side := func(name string) int {
		if v := r.whole(n, []string{name}); v != nil {
			return *v
		}
		return 0
	}
	return dims{d.w + side("left") + side("right"), d.h + side("top") + side("bottom")}
}

var factorNames = []string{"scale_by", "upscale_by", "scale", "factor", "upscale_factor", "scale_factor", "rescale_factor", "multiplier"}

func (r *reader) scaled(n *node, d dims) dims {
	if n.is("noupscale") {
		return d
	}
	f := r.number(n, factorNames)
	if f == nil {
		return dims{}
	}
	return d.times(*f)
}

func (d dims) times(f float64) dims {
	if !d.known() || f <= 0 || f > 64 {
		return dims{}
	}
	return dims{int(math.Round(float64(d.w) * f)), int(math.Round(float64(d.h) * f))}
}

// modelFactor reads the factor an upscale model has in its name: "4x", "x2".
var modelFactor = regexp.MustCompile(`(?i)(?:^|[^0-9a-z])x?([1248])x(?:[^0-9]|$)|x([1248])(?:[^0-9]|$)`)

func (r *reader) modelScaled(n *node, d dims) dims {
	if p, ok := n.link("upscale_model"); ok && d.known() {
		for _, l := range r.loadsOf(p.node) {
			if m := modelFactor.FindStringSubmatch(l.name); m != nil {
				f, _ := strconv.Atoi(m[1] + m[2])
				return d.times(float64(f))
			}
		}
	}
	return dims{}
}

// resized reads a resize: to a stated size, by a factor, or to a pixel count.
func (r *reader) resized(n *node, d dims) dims {
	if mp := r.number(n, []string{"megapixels", "total_megapixels"}); mp != nil && d.known() {
		f := math.Sqrt(*mp * 1024 * 1024 / float64(d.w*d.h))
		return d.times(f)
	}
	w, h := r.number(n, widthNames), r.number(n, heightNames)
	switch {
	case w != nil && h != nil && *w >= 1 && *h >= 1 && *w <= 1<<16 && *h <= 1<<16:
		if r.keepsRatio(n) {
			return dims{}
		}
		return dims{int(*w), int(*h)}.cut(r.whole(n, []string{"divisible_by", "multiple_of"}))
	case w != nil && h != nil && *w <= 0 && *h >= 1 && d.known():
		return d.times(*h / float64(d.h))
	case w != nil && h != nil && *h <= 0 && *w >= 1 && d.known():
		return d.times(*w / float64(d.w))
	}
	if r.number(n, factorNames) != nil {
		return r.scaled(n, d)
	}
	return dims{}
}

// cut makes both sides a multiple of a number, as nodes do that ask for one.
func (d dims) cut(step *int) dims {
	if step == nil || *step < 2 || *step > d.w || *step > d.h {
		return d
	}
	return dims{d.w - d.w%*step, d.h - d.h%*step}
}

// keepsRatio reports whether a resize may come to another size than it states.
func (r *reader) keepsRatio(n *node) bool {
	if s, ok := r.scalar(n.in("condition"), "condition"); ok && s != "always" && s != "" {
		return true
	}
	for _, name := range []string{"keep_proportion", "keep_proportions", "keep_ratio", "method", "mode", "proportional", "fit", "resize_mode", "maintain_aspect_ratio"} {
		s, ok := r.scalar(n.in(name), name)
		if ok && (truthy(s) || strings.Contains(strings.ToLower(s), "keep") || strings.Contains(s, "resize") && name == "keep_proportion" || strings.Contains(s, "longer") || strings.Contains(s, "shorter") || strings.Contains(s, "letterbox")) {
			return true
		}
	}
	return false
}

// sizeScalar resolves a link to the width or height output of a node that measures,
// picks or changes a size. done is false for every other node: a node that takes a
// picture gives the size of the picture, whatever sides it was asked for.
func (r *reader) sizeScalar(p port, want string) (s string, ok, done bool) {
	n := p.node
	measures := n.is("imagesize", "getlatentsize", "imageinfo", "getsize")
	side := sideOfSize(p, want, measures)
	takes := measures || n.takesPicture() && resizes(n)
	if side == 0 {
		return "", false, measures
	}
	var d dims
	switch {
	case measures:
		for _, from := range r.pictureInputs(n) {
			d = r.sizeAt(from.node)
			break
		}
	case takes:
		d = r.sizeAt(n)
	default:
		if d = r.ratioSize(n); !d.known() {
			d = r.chosenSize(n)
		}
	}
	switch {
	case !d.known():
		return "", false, takes
	case side == 'w':
		return strconv.Itoa(d.w), true, true
	}
	return strconv.Itoa(d.h), true, true
}

// sideOfSize reports which side of a size an output gives: 'w', 'h', or 0 for neither.
func sideOfSize(p port, want string, measures bool) rune {
	name := p.outName()
	switch {
	case strings.Contains(name, "width"):
		return 'w'
	case strings.Contains(name, "height"):
		return 'h'
	case p.outType() != "INT" && p.outType() != "", name != "" && name != "int":
		return 0
	case measures || !p.node.is("latentimagergthree", "sizepicker", "resolution"):
		switch {
		case measures && p.slot == 0, !measures && contains(widthNames, want):
			return 'w'
		case measures && p.slot == 1, !measures && contains(heightNames, want):
			return 'h'
		}
		return 0
	}
	first := 0 // the output of the width
	if p.node.is("latent") {
		first = 1
	}
	switch p.slot {
	case first:
		return 'w'
	case first + 1:
		return 'h'
	}
	return 0
}

// takesPicture reports whether a picture or latent goes into a node.
func (n *node) takesPicture() bool {
	for i := range n.inputs {
		in := &n.inputs[i]
		if in.linked() && (pictureTypes[in.from.outType()] || contains(pictureNames, in.name) || pictureStem(in.name)) {
			return true
		}
	}
	return false
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}
