package comfy

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// SizeRule is how a class makes a size of a ratio: of the height, before the size is
// turned on its side, or of so many megapixels.
type SizeRule struct {
	Ratio   string `json:"ratio"`             // the input that holds the ratio, such as 16:9
	Short   string `json:"short,omitempty"`   // the input of the height
	Pixels  string `json:"pixels,omitempty"`  // the input of the megapixels
	Up      int    `json:"up,omitempty"`      // the computed sides are rounded up to a multiple of it: both, with Short the width
	Nearest string `json:"nearest,omitempty"` // the input of the multiple to which they are rounded, 8 where it has none
}

func (s *SizeRule) check() error {
	switch {
	case s == nil:
		return nil
	case s.Ratio == "" || (s.Short == "") == (s.Pixels == ""):
		return fmt.Errorf("size must name the input of the ratio, and that of the shorter side or of the megapixels")
	case s.Up < 0 || s.Up > 1024:
		return fmt.Errorf("size rounds up to a multiple of %d; it must be from 0 to 1024", s.Up)
	}
	return nil
}

var ratioText = regexp.MustCompile(`^\s*(\d{1,2})\s*:\s*(\d{1,2})\b`)

// ofRatio computes the size that a node makes of a ratio, by the rule of its class.
func (r *sizer) ofRatio(n *node) dims {
	if n.about == nil || n.about.Size == nil {
		return dims{}
	}
	rule := n.about.Size
	s, ok := r.values.scalar(n.in(rule.Ratio), rule.Ratio)
	m := ratioText.FindStringSubmatch(s)
	if !ok || m == nil {
		return dims{}
	}
	w, _ := strconv.ParseFloat(m[1], 64)
	h, _ := strconv.ParseFloat(m[2], 64)
	if w == 0 || h == 0 {
		return dims{}
	}
	if rule.Short != "" {
		short := r.values.number(n, []string{rule.Short})
		if short == nil || *short < 1 || *short > 1<<16 {
			return dims{}
		}
		return dims{roundUp(int(*short*w/h), rule.Up), int(*short)}
	}
	mp := r.values.number(n, []string{rule.Pixels})
	if mp == nil || *mp <= 0 || *mp > 1024 {
		return dims{}
	}
	if rule.Nearest == "" {
		total := math.Trunc(*mp * 1024 * 1024)
		return dims{int(math.Sqrt(total * w / h)), int(math.Sqrt(total * h / w))}.up(rule.Up)
	}
	step := 8.0
	if v := r.values.number(n, []string{rule.Nearest}); v != nil && *v >= 1 {
		step = *v
	}
	scale := math.Sqrt(*mp * 1024 * 1024 / (w * h))
	return dims{int(math.RoundToEven(w*scale/step) * step), int(math.RoundToEven(h*scale/step) * step)}
}

// up rounds both sides up to a multiple.
func (d dims) up(step int) dims { return dims{roundUp(d.w, step), roundUp(d.h, step)} }

// roundUp rounds up to a multiple of step; below 2 nothing is rounded.
func roundUp(v, step int) int {
	if step < 2 {
		return v
	}
	return (v + step - 1) / step * step
}

// adjusted turns a stated size on its side and scales it, as the node's choices ask.
func (r *sizer) adjusted(n *node, d dims) dims {
	if !d.known() {
		return d
	}
	for _, swap := range swapNames {
		if v, ok := r.values.scalar(n.in(swap), swap); ok && truthy(v) {
			d.w, d.h = d.h, d.w
		}
	}
	for _, name := range orientationNames {
		v, _ := r.values.scalar(n.in(name), name)
		if v = strings.ToLower(v); strings.HasPrefix(v, "portrait") && d.w > d.h || strings.HasPrefix(v, "landscape") && d.h > d.w {
			d.w, d.h = d.h, d.w
		}
	}
	if n.has(prescaleNames...) {
		f := r.values.number(n, prescaleNames)
		if f == nil || *f <= 0 || *f > 64 {
			return dims{}
		}
		d = dims{int(float64(d.w) * *f), int(float64(d.h) * *f)}
	}
	return d
}

var (
	swapNames        = []string{"swap_dimensions", "invert", "swap"}
	orientationNames = []string{"direction", "orientation"}
	prescaleNames    = []string{"prescale_factor", "multiplier"}
)

// selected returns the size that a node gives as two numbers: that of a ratio or a choice,
// or its own two numbers where a choice turns or scales them.
func (r *sizer) selected(n *node) dims {
	d := r.chosen(n)
	switch {
	case d.known():
		return r.adjusted(n, d)
	case n.has(swapNames...) || n.has(prescaleNames...):
		return r.stated(n)
	}
	return dims{}
}
