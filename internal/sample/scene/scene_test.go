package scene

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"vitrine/internal/sample/draw"
)

func TestScene_KindsAreSound(t *testing.T) {
	if n := len(Kinds()); n < 14 {
		t.Fatalf("%d kinds of scene, want at least 14", n)
	}
	names := map[string]bool{}
	for _, k := range Kinds() {
		if names[k.Name] {
			t.Errorf("two kinds are called %s", k.Name)
		}
		names[k.Name] = true
		for _, p := range k.Palettes {
			if paletteNamed(p) == nil {
				t.Errorf("%s: no palette %s", k.Name, p)
			}
		}
		for _, h := range k.Times {
			if _, ok := times[h]; !ok {
				t.Errorf("%s: no hour %s", k.Name, h)
			}
			if _, ok := hours[h]; !ok {
				t.Errorf("%s: no light for %s", k.Name, h)
			}
		}
		for _, term := range append(k.Subjects, traitTerms(k)...) {
			if term.Key == "" || term.Tag == "" || term.Phrase == "" || term.JA == "" || term.ZH == "" {
				t.Errorf("%s: the term %q lacks a wording", k.Name, term.Tag)
			}
		}
	}
}

func traitTerms(k *Kind) (out []Term) {
	for _, t := range k.Traits {
		out = append(out, t.Term)
	}
	return out
}

func TestScene_EqualSpecsPaintEqualPictures(t *testing.T) {
	for i, k := range Kinds() {
		s := New(k, draw.NewRand(uint64(i)))
		a, b := s.Draw(96, 72), s.Draw(96, 72)
		if !bytes.Equal(a.Pix, b.Pix) {
			t.Errorf("%s differs between two paintings of one spec", k.Name)
		}
		if v := s.Variation(99).Draw(96, 72); bytes.Equal(a.Pix, v.Pix) {
			t.Errorf("%s: a variation is the same picture", k.Name)
		}
	}
}

// A picture worth showing uses the range between dark and light and is neither
// black nor white as a whole.
func TestScene_PicturesAreNeitherFlatNorBurntOut(t *testing.T) {
	for i, k := range Kinds() {
		for n := range uint64(6) {
			s := New(k, draw.NewRand(uint64(i)<<8|n))
			pic := s.Draw(128, 96)
			var sum, dark, bright int
			lo, hi := 255, 0
			for _, v := range pic.Pix {
				sum += int(v)
				lo, hi = min(lo, int(v)), max(hi, int(v))
				if v < 4 {
					dark++
				}
				if v > 251 {
					bright++
				}
			}
			mean := sum / len(pic.Pix)
			if mean < 8 || mean > 243 || hi-lo < 70 {
				t.Errorf("%s %d: mean %d, range %d to %d", k.Name, n, mean, lo, hi)
			}
			if bright > len(pic.Pix)*6/10 || dark > len(pic.Pix)*9/10 {
				t.Errorf("%s %d: %d %% burnt out, %d %% black", k.Name, n, bright*100/len(pic.Pix), dark*100/len(pic.Pix))
			}
		}
	}
}

func TestScene_PaintingAnySizeIsSafe(t *testing.T) {
	for i, k := range Kinds() {
		for _, size := range [][2]int{{8, 8}, {64, 40}, {33, 97}, {200, 31}} {
			pic := New(k, draw.NewRand(uint64(i))).Draw(size[0], size[1])
			if len(pic.Pix) != size[0]*size[1]*3 {
				t.Errorf("%s at %v: %d bytes", k.Name, size, len(pic.Pix))
			}
		}
	}
}

func TestScene_EnglishPromptsNameColourAndSubject(t *testing.T) {
	r := draw.NewRand(3)
	for _, k := range Kinds() {
		for _, m := range []Manner{Tags, Sentence, Mixed, Emoji} {
			s := New(k, r)
			p := s.Prompt(m, r)
			if !strings.Contains(p, s.Palette.Tag+" "+s.Subject.Tag) {
				t.Errorf("%s, %s: %q does not name %s %s", k.Name, m, p, s.Palette.Tag, s.Subject.Tag)
			}
			for _, trait := range s.Traits {
				if !strings.Contains(p, trait.Tag) && !strings.Contains(p, trait.Phrase) {
					t.Errorf("%s, %s: %q does not mention %s", k.Name, m, p, trait.Tag)
				}
			}
			if s.Time.Key != "" && !strings.Contains(p, s.Time.Tag) && !strings.Contains(p, s.Time.Phrase) {
				t.Errorf("%s, %s: %q does not say when", k.Name, m, p)
			}
		}
		for _, m := range []Manner{Japanese, Chinese} {
			p := New(k, r).Prompt(m, r)
			if !strings.ContainsFunc(p, func(c rune) bool { return unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana) }) {
				t.Errorf("%s, %s: %q", k.Name, m, p)
			}
		}
	}
}

func TestScene_RecolouringKeepsAllButTheColours(t *testing.T) {
	r := draw.NewRand(4)
	for _, k := range Kinds() {
		s := New(k, r)
		v := s.Recoloured(r)
		if v.Seed != s.Seed || v.Subject != s.Subject || v.Palette == s.Palette {
			t.Errorf("%s: %s became %s, seed %d became %d", k.Name, s.Palette.Name, v.Palette.Name, s.Seed, v.Seed)
		}
	}
}
