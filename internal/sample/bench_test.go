package sample

import (
	"context"
	"testing"
)

func BenchmarkWrite(b *testing.B) {
	for range b.N {
		if _, err := Write(context.Background(), b.TempDir(), Options{Count: 100, Seed: 5}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
