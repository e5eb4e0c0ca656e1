package comfy

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// dims is a picture size in pixels; zero means unknown.
type dims struct{ w, h int }

func (d dims) known() bool { return d.w > 0 && d.h > 0 }

var sizeText = regexp.MustCompile(`(\d{2,5})\s*[x×*X]\s*(\d{2,5})`)

// sizer follows sizes through a graph, with a memo of its own.
type sizer struct {
	values   *values
	pictures *pictures
	models   *models
	memo     map[*node]dims
	// likely takes it that an opaque node leaves the size as it is. That tells outputs
	// apart, but is no size of anything.
	likely bool
}

func newSizer(v *values, p *pictures, m *models, likely bool) *sizer {
	return &sizer{values: v, pictures: p, models: m, memo: map[*node]dims{}, likely: likely}
}

// at returns the size of the picture or latent a node gives, followed from its
// source through every step that changes it. Unknown steps give an unknown size.
func (r *sizer) at(n *node) dims {
	if d, known := r.memo[n]; known {
		return d
	}
	r.memo[n] = dims{}
	d := r.of(n)
	if d.w > 1<<16 || d.h > 1<<16 || d.w < 0 || d.h < 0 {
		d = dims{}
	}
	r.memo[n] = d
	return d
}

func (r *sizer) of(n *node) dims {
	if isLatentSource(n) {
		return r.stated(n)
	}
	before := func() dims {
		if p := r.measured(n); p != nil {
			return r.at(p.node)
		}
		return dims{}
	}
	switch {
	case r.pictures.isSampler(n) && !n.like("tiled_upscale"):
		if d := before(); d.known() {
			return d
		}
		return r.stated(n)
	case n.opaque() && !r.likely:
		return dims{}
	case n.like("pads") && n.has("left"):
		return r.padded(n, before())
	case n.like("reshapes"), n.hasLinked("bbox", "crop_region"):
		return dims{}
	case n.like("tiled_upscale"):
		return r.scaled(n, before())
	case n.like("upscales_by_model") || n.has("upscale_model") && n.like("upsamples"):
		return r.modelScaled(n, before())
	case resizes(n) || n.like("sets_size"):
		return r.resized(n, before())
	case n.like("arranges"):
		return dims{}
	case n.links() == 0 && n.givesFirst("mask"):
		return r.stated(n)
	}
	return before()
}

// measured returns the link on which what a node gives the size of comes in: its
// picture, or else the mask of one that is known to hand it on or make a picture of it.
func (r *sizer) measured(n *node) *port {
	for _, p := range r.pictures.inputs(n) {
		return &p
	}
	if p, ok := n.link("mask"); ok && (n.givesFirst("mask") || n.givesFirst("image")) {
		return &p
	}
	return nil
}

// givesFirst reports whether the first output of a described class has this name.
func (n *node) givesFirst(name string) bool {
	return n.about != nil && len(n.about.Outputs) > 0 && n.about.Outputs[0] == name
}

// stated reads the size a node states itself: as two numbers or as a choice
// such as "1024 x 1024 (square)".
func (r *sizer) stated(n *node) dims {
	if w, h := r.values.number(n, []string{"width_override"}), r.values.number(n, []string{"height_override"}); w != nil && h != nil && *w > 0 && *h > 0 {
		return dims{int(*w), int(*h)}
	}
	d := r.chosen(n)
	if !d.known() {
		w, h := r.values.number(n, widthNames), r.values.number(n, heightNames)
		if w == nil || h == nil || *w < 1 || *h < 1 || *w > 1<<16 || *h > 1<<16 {
			return dims{}
		}
		d = dims{int(*w), int(*h)}
	}
	return r.adjusted(n, d)
}

// chosen returns the size of a ratio, or one read out of the words of a choice.
func (r *sizer) chosen(n *node) dims {
	if d := r.ofRatio(n); d.known() {
		return d
	}
	for _, name := range []string{"dimensions", "resolution", "aspect_ratio", "size", "preset", "image_size"} {
		if s, ok := r.values.scalar(n.in(name), name); ok {
			if d := sizeIn(s); d.known() {
				return d
			}
		}
	}
	return n.unnamedSize()
}

// unnamedSize returns the size that an empty latent nothing is known of holds as a choice
// without a name: the only one that its values state.
func (n *node) unnamedSize() dims {
	var only dims
	if n.about != nil || n.links() > 0 {
		return dims{}
	}
	for i := range n.inputs {
		in := &n.inputs[i]
		if d := sizeIn(in.val.Str()); d.known() && strings.HasPrefix(in.name, "widget_") {
			if only.known() {
				return dims{}
			}
			only = d
		}
	}
	return only
}

// sizeIn reads a size out of the words of a choice. Words that name several, such as one
// for each kind of model, do not say which is meant.
func sizeIn(s string) dims {
	if len(s) > 200 {
		return dims{}
	}
	sizes := sizeText.FindAllStringSubmatch(s, 2)
	if len(sizes) != 1 {
		return dims{}
	}
	w, _ := strconv.Atoi(sizes[0][1])
	h, _ := strconv.Atoi(sizes[0][2])
	if w < 64 || h < 64 {
		return dims{}
	}
	return dims{w, h}
}

func (r *sizer) padded(n *node, d dims) dims {
	if !d.known() || n.hasLinked("target_width", "target_height", "mask") && n.has("extra_padding") {
		return dims{}
	}
	if extra := r.values.number(n, []string{"extra_padding"}); extra != nil && *extra != 0 {
		return dims{}
	}
	side := func(name string) int {
		if v := r.values.whole(n, []string{name}); v != nil {
			return *v
		}
		return 0
	}
	return dims{d.w + side("left") + side("right"), d.h + side("top") + side("bottom")}
}

var factorNames = []string{"scale_by", "upscale_by", "scale", "factor", "upscale_factor", "scale_factor", "rescale_factor", "multiplier"}

func (r *sizer) scaled(n *node, d dims) dims {
	if n.like("no_upscale") {
		return d
	}
	f := r.values.number(n, factorNames)
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

func (r *sizer) modelScaled(n *node, d dims) dims {
	if p, ok := n.link("upscale_model"); ok && d.known() {
		for _, l := range r.models.of(p.node) {
			if m := modelFactor.FindStringSubmatch(l.name); m != nil {
				f, _ := strconv.Atoi(m[1] + m[2])
				return d.times(float64(f))
			}
		}
	}
	return dims{}
}

// resized reads a resize: to a stated size, by a factor, or to a pixel count.
func (r *sizer) resized(n *node, d dims) dims {
	if mp := r.values.number(n, []string{"megapixels", "total_megapixels"}); mp != nil && d.known() {
		f := math.Sqrt(*mp * 1024 * 1024 / float64(d.w*d.h))
		return d.times(f)
	}
	w, h := r.values.number(n, widthNames), r.values.number(n, heightNames)
	switch {
	case n.hasPercent():
		return dims{}
	case w != nil && h != nil && *w >= 1 && *h >= 1 && *w <= 1<<16 && *h <= 1<<16:
		if r.keepsRatio(n) {
			return dims{}
		}
		return dims{int(*w), int(*h)}.cut(r.values.whole(n, []string{"divisible_by", "multiple_of"}))
	case w != nil && h != nil && *w <= 0 && *h >= 1 && d.known():
		return d.times(*h / float64(d.h))
	case w != nil && h != nil && *h <= 0 && *w >= 1 && d.known():
		return d.times(*w / float64(d.w))
	}
	if r.values.number(n, factorNames) != nil {
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
func (r *sizer) keepsRatio(n *node) bool {
	if s, ok := r.values.scalar(n.in("condition"), "condition"); ok && s != "always" && s != "" {
		return true
	}
	for _, name := range ratioKeepers {
		s, ok := r.values.scalar(n.in(name), name)
		if s = strings.ToLower(s); ok && (truthy(s) || name == "keep_proportion" && strings.Contains(s, "resize") || holdsAny(s, ratioWords)) {
			return true
		}
	}
	return false
}

// hasPercent reports whether a resize counts its sides in parts of the picture.
func (n *node) hasPercent() bool {
	in := n.in("measurement", "unit")
	return in != nil && strings.HasPrefix(strings.ToLower(in.val.Str()), "percent")
}

// Choices of a resize by which its sides are no size in pixels, or no more than the ends
// of a box: where they stand, and what they say.
var (
	ratioKeepers = []string{"keep_proportion", "keep_proportions", "keep_ratio", "method", "mode", "proportional", "fit", "resize_mode", "maintain_aspect_ratio", "aspect_ratio_mode"}
	ratioWords   = []string{"keep", "longer", "shorter", "letterbox", "contain", "inside", "total_pixels", "rescale"}
)

func holdsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// side resolves a link to the width or height output of a node that measures,
// picks or changes a size. done is false for every other node: a node that takes a
// picture gives the size of the picture, whatever sides it was asked for.
func (r *sizer) side(p port, want string) (s string, ok, done bool) {
	n := p.node
	measures := n.like("measures")
	side := sideOfSize(p, want, measures)
	takes := measures || n.takesPicture() && resizes(n)
	if side == 0 {
		return "", false, measures
	}
	var d dims
	switch {
	case measures:
		if from := r.measured(n); from != nil {
			d = r.at(from.node)
		}
	case takes:
		d = r.at(n)
	default:
		d = r.selected(n)
	}
	switch {
	case !d.known():
		return "", false, takes || n.has(prescaleNames...)
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
	case measures || !p.node.like("numbers_size"):
		switch {
		case measures && p.slot == 0, !measures && slices.Contains(widthNames, want):
			return 'w'
		case measures && p.slot == 1, !measures && slices.Contains(heightNames, want):
			return 'h'
		}
		return 0
	}
	first := 0 // the output of the width
	if p.node.like("named_latent") {
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
		if in.linked() && (pictureTypes[in.from.outType()] || slices.Contains(pictureNames, in.name) || pictureStem(in.name)) {
			return true
		}
	}
	return false
}
