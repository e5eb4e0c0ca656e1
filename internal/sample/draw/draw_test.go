package draw

import (
	"math"
	"testing"
)

// The stream is a promise: samples made years apart must be equal.
func TestDraw_RandStreamNeverChanges(t *testing.T) {
	r := NewRand(0)
	for i, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f} { // published splitmix64 test values
		if got := r.Uint64(); got != want {
			t.Errorf("value %d is %#x, want %#x", i, got, want)
		}
	}
}

func TestDraw_NoiseStaysBetweenZeroAndOne(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {2, 3}, {97, 64}, {128, 33}} {
		for _, cell := range []float32{1.5, 9, 40} {
			field := Field(size[0], size[1], NoiseSpec{CellX: cell, CellY: cell * 2, Octaves: 5, Gain: 0.6, Seed: 3})
			lo, hi := float32(1), float32(0)
			for _, v := range field {
				lo, hi = min(lo, v), max(hi, v)
			}
			if lo < 0 || hi > 1 {
				t.Errorf("%v, cell %v: values from %v to %v", size, cell, lo, hi)
			}
			if len(field) > 1000 && hi-lo < 0.2 {
				t.Errorf("%v, cell %v: flat, %v to %v", size, cell, lo, hi)
			}
		}
	}
}

func TestDraw_DiscCoversItsArea(t *testing.T) {
	for _, radius := range []float32{0.6, 3, 17.3} {
		c := NewCanvas(64, 64)
		c.Disc(31.7, 32.2, radius, Grey(1), 1)
		sum := 0.0
		for i := 0; i < len(c.Pix); i += 3 {
			sum += float64(c.Pix[i])
		}
		want := math.Pi * float64(radius*radius)
		if math.Abs(sum-want) > 0.06*want+0.6 {
			t.Errorf("radius %v covers %.1f pixels, want %.1f", radius, sum, want)
		}
	}
}

func TestDraw_StrokesBeyondTheBordersAreCutOff(t *testing.T) {
	c := NewCanvas(20, 10)
	c.Disc(-5, -5, 4, Grey(1), 1)
	c.Glow(500, 3, 10, Grey(1), 1)
	c.Line(-40, 5, 80, 5, 1, Grey(1), 1)
	c.Ring(10, 40, 5, 1, Grey(1), 1)
	c.Poly([]Point{{-9, -9}, {-5, -9}, {-5, -1}}, Grey(1), 1)
	for x := range c.W {
		if c.At(x, 1).R != 0 || c.At(x, 5).R+c.At(x, 4).R == 0 {
			t.Fatalf("column %d: %v above, %v on the line", x, c.At(x, 1), c.At(x, 5))
		}
	}
}

func TestDraw_FinishRollsHighlightsOffInOrder(t *testing.T) {
	c := NewCanvas(6, 1)
	for x, v := range []float32{-1, 0, 0.5, 1, 2, 90} {
		c.Set(x, 0, Grey(v))
	}
	p := c.Finish(Look{})
	for x := 1; x < 6; x++ {
		if p.Pix[3*x] < p.Pix[3*x-3] {
			t.Errorf("a brighter colour came out darker: %v", p.Pix)
		}
	}
	if p.Pix[0] != 0 || p.Pix[6] != 128 || p.Pix[15] < 250 {
		t.Errorf("black, half and glare became %d, %d, %d", p.Pix[0], p.Pix[6], p.Pix[15])
	}
}

func TestDraw_AReleasedCanvasComesBackBlack(t *testing.T) {
	for range 20 {
		c := NewCanvas(16, 16)
		for _, v := range c.Pix {
			if v != 0 {
				t.Fatal("a new canvas is not black")
			}
		}
		c.Fill(Grey(1))
		c.Release()
	}
}

func TestDraw_FastLog2IsClose(t *testing.T) {
	for x := float32(0.01); x < 5000; x *= 1.07 {
		if got, want := FastLog2(x), float32(math.Log2(float64(x))); Abs(got-want) > 0.01 {
			t.Errorf("log2(%v) = %v, want %v", x, got, want)
		}
	}
}
