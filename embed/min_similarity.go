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

// pictureTexts are prompts of pictures of all kinds of things, no two of the same, with
// what prompts hold beside their subject.
var pictureTexts = []string{
	"masterpiece, best quality, a tin robot watering sunflowers, highly detailed, dramatic lighting",
	"photo of a subway platform at rush hour, film grain, depth of field, 8k",
	"award winning photograph, a beekeeper opening a hive, soft light, sharp focus",
	"digital illustration of a glacier cave, intricate, volumetric light",
	"ultra detailed, cinematic, a market stall full of spices, rich colors, high contrast",
	"oil painting of a ballet rehearsal, muted palette, masterpiece",
	"a wooden desk with a typewriter and old letters, macro, bokeh, best quality",
	"3d render of a tiny island with a windmill, pastel colors, isometric, beautiful",
	"watercolor sketch of a tram on a steep street, loose lines, elegant",
	"portrait of a clockmaker, rim lighting, highly detailed, realistic",
	"anime style, a rooftop greenhouse at dawn, vibrant, detailed background",
	"a crab on black volcanic sand, golden hour, sharp focus, professional photography",
	"vintage poster of a motorcycle race, bold shapes, grain",
	"concept art of a derelict space station, moody, epic, 4k",
	"minimalist logo of a folded paper crane, clean lines, white background",
	"aerial photo of salt ponds, abstract patterns, vivid colors",
}

// Baseline is how alike texts are under a model that have nothing in common. The zero
// value knows nothing: under it every two texts that are alike at all are related.
type Baseline struct {
	// Unrelated is the cosine up to which two texts are alike by chance: no two of two dozen
	// unrelated texts are more alike. Models differ so much in this (0.24 for one, 0.8
	// for another) that no fixed number does.
	Unrelated float64

	pictures [][]float32
}

// MeasureBaseline finds out the baseline of a model. It embeds some forty texts.
func MeasureBaseline(ctx context.Context, e Embedder) (Baseline, error) {
	vectors, err := e.Embed(ctx, slices.Concat(unrelatedTexts, pictureTexts))
	if err != nil {
		return Baseline{}, err
	}
	known := func(list [][]float32) [][]float32 {
		return slices.DeleteFunc(list, func(v []float32) bool { return v == nil })
	}
	b := Baseline{Unrelated: -1, pictures: known(slices.Clone(vectors[len(unrelatedTexts):]))}
	unrelated := known(vectors[:len(unrelatedTexts)])
	for i, v := range unrelated {
		for _, w := range unrelated[:i] {
			b.Unrelated = max(b.Unrelated, cosine(v, w))
		}
	}
	return b, nil
}

// closestAllowed is how many of the pictures a query may really be about.
const closestAllowed = 1

// MinSimilarity returns the cosine up to which a text is like a query by chance: as for
// any two texts, and as for pictures of anything. "The best picture of a fox" is like
// every prompt that speaks of a picture and of quality.
func (b Baseline) MinSimilarity(query []float32) float64 {
	if len(b.pictures) <= closestAllowed {
		return b.Unrelated
	}
	list := make([]float64, len(b.pictures))
	for i, v := range b.pictures {
		list[i] = cosine(v, query)
	}
	slices.Sort(list)
	return max(b.Unrelated, list[len(list)-1-closestAllowed])
}

// cosine is that of unit vectors.
func cosine(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
