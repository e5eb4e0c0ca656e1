package embed

import (
	"context"
	"slices"
)

// unrelatedTexts are texts of which no two are about the same: as people write what a
// picture shows, and as they write of other things.
var unrelatedTexts = []string{
	"a red bicycle leaning on a brick wall", "portrait of an old fisherman, oil painting", "two kittens asleep in a basket",
	"aerial view of a container port at night", "watercolor of a mountain lake in autumn", "a bowl of ramen with a soft egg",
	"spaceship landing on an icy moon", "wedding dress with long lace sleeves", "a goalkeeper jumping for the ball",
	"isometric icon of a coffee machine", "dragonfly on a blade of grass, macro", "abandoned factory with broken windows",
	"quarterly earnings report", "how to file a tax return", "irregular verbs of the Latin language",
	"error in line 12 of the log", "bus timetable for weekdays", "proof of the theorem by induction",
	"symptoms of a vitamin deficiency", "the senate adopted the resolution", "version 2.1 fixes a memory leak",
	"opening moves of a chess game", "he tuned his violin before the concert", "sediment layers of the river delta",
}

// MinSimilarity returns the cosine up to which two texts are alike by chance: no two of two
// dozen unrelated texts are more alike. Models differ so much in this (0.24 for
// one, 0.8 for another) that no fixed number does. It embeds these texts.
func MinSimilarity(ctx context.Context, e Embedder) (float64, error) {
	vectors, err := e.Embed(ctx, unrelatedTexts)
	if err != nil {
		return 0, err
	}
	vectors = slices.DeleteFunc(vectors, func(v []float32) bool { return v == nil })
	most := -1.0
	for i, a := range vectors {
		for _, b := range vectors[:i] {
			most = max(most, cosine(a, b))
		}
	}
	return most, nil
}

// cosine is that of unit vectors.
func cosine(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
