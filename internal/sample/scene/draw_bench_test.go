package scene

import (
	"testing"

	"vitrine/internal/sample/draw"
)

// BenchmarkDraw paints each kind at a usual size.
func BenchmarkDraw(b *testing.B) {
	for i, k := range Kinds() {
		b.Run(k.Name, func(b *testing.B) {
			r := draw.NewRand(uint64(i))
			for range b.N {
				New(k, r).Draw(640, 512)
			}
		})
	}
}
