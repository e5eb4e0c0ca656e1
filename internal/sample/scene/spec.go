package scene

import (
	"slices"

	"vitrine/internal/sample/draw"
)

// Term is one word of the idea with its wordings. Tag is the short form of tag
// prompts, Phrase the form that continues a sentence; JA and ZH are Japanese
// and Chinese, where known.
type Term struct {
	Key, Tag, Phrase, JA, ZH string
}

// Trait is something a kind may show, with the probability that it does.
type Trait struct {
	Term
	Odds float32
}

// Kind is one family of pictures.
type Kind struct {
	Name     string // stable name, also used in file titles
	Emoji    string
	Subjects []Term   // what is shown; Key is read by the painter
	Traits   []Trait  // what may be there as well
	Times    []string // keys of times; empty when the picture knows no hour
	Palettes []string // names of palettes; empty allows all
	Portrait float32  // probability of an upright format
	Paint    painter
}

type painter func(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look

// Spec is the idea of one picture. Seed varies only what words do not say
// (positions, shapes): pictures of one seed sweep share all but the seed.
type Spec struct {
	Kind    *Kind
	Subject Term
	Traits  []Term
	Palette *Palette
	Time    Term
	Mood    Term
	Medium  Term
	Seed    uint64
}

// Has reports whether the picture shows the trait.
func (s *Spec) Has(key string) bool {
	return slices.ContainsFunc(s.Traits, func(t Term) bool { return t.Key == key })
}

// New invents a picture of the given kind.
func New(k *Kind, r *draw.Rand) *Spec {
	s := &Spec{Kind: k, Subject: draw.Pick(r, k.Subjects), Seed: r.Uint64()}
	s.Palette = paletteNamed(draw.Pick(r, paletteNames))
	if len(k.Palettes) > 0 {
		s.Palette = paletteNamed(draw.Pick(r, k.Palettes))
	}
	if len(k.Times) > 0 {
		s.Time = times[draw.Pick(r, k.Times)]
	}
	for _, t := range k.Traits {
		if r.Chance(t.Odds) {
			s.Traits = append(s.Traits, t.Term)
		}
	}
	s.Mood, s.Medium = draw.Pick(r, moods), draw.Pick(r, media)
	return s
}

// Variation returns the same idea with other positions and shapes.
func (s *Spec) Variation(seed uint64) *Spec {
	v := *s
	v.Seed = seed
	return &v
}

// Draw paints the idea at w×h pixels. Equal arguments give equal bytes.
func (s *Spec) Draw(w, h int) draw.Picture {
	c := draw.NewCanvas(w, h)
	look := s.Kind.Paint(c, s, draw.NewRand(s.Seed))
	look.Seed = draw.Mix(s.Seed, 5)
	defer c.Release()
	return c.Finish(look)
}

// Kinds lists every kind of picture, in a fixed order.
func Kinds() []*Kind { return kinds }

// Recoloured returns the same arrangement in another palette, which is what an
// image-to-image pass over a picture often makes of it.
func (s *Spec) Recoloured(r *draw.Rand) *Spec {
	v := *s
	names := s.Kind.Palettes
	if len(names) == 0 {
		names = paletteNames
	}
	for range 8 {
		if v.Palette = paletteNamed(draw.Pick(r, names)); v.Palette != s.Palette {
			break
		}
	}
	return &v
}
