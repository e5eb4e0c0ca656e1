package scene

import (
	"fmt"
	"strings"

	"vitrine/internal/sample/draw"
)

// Manner is how a person words a prompt.
type Manner string

const (
	Tags     Manner = "tags"     // comma separated tags with weights
	Sentence Manner = "sentence" // one or two English sentences
	Mixed    Manner = "mixed"    // a sentence, then tags, perhaps after BREAK
	Japanese Manner = "ja"
	Chinese  Manner = "zh"
	Emoji    Manner = "emoji" // tags sprinkled with emoji
)

// PickManner draws a manner: about eight in a hundred are not plain English.
func PickManner(r *draw.Rand) Manner {
	switch f := r.Float(); {
	case f < 0.03:
		return Japanese
	case f < 0.06:
		return Chinese
	case f < 0.085:
		return Emoji
	case f < 0.45:
		return Tags
	case f < 0.78:
		return Sentence
	default:
		return Mixed
	}
}

var qualityTags = []string{"masterpiece", "best quality", "highly detailed", "sharp focus", "8k", "award winning", "intricate", "ultra detailed"}

var styleTags = []string{"volumetric light", "soft light", "film grain", "rim lighting", "depth of field", "rich colors", "dramatic lighting", "god rays", "subtle gradients", "high contrast"}

var jaQuality, zhQuality = []string{"最高品質", "傑作", "高精細"}, []string{"最高质量", "杰作", "高细节"}

// Prompt words the idea. Every wording names the colour and the subject as
// neighbours ("red stained glass fish"), then what else is to be seen.
func (s *Spec) Prompt(m Manner, r *draw.Rand) string {
	switch m {
	case Sentence:
		return s.sentence(r)
	case Mixed:
		joint := ", "
		if r.Chance(0.35) {
			joint = " BREAK "
		}
		return s.sentence(r) + joint + strings.Join(s.looks(r, true), ", ")
	case Japanese:
		return strings.Join(s.foreign(jaQuality, func(t Term) string { return t.JA }, s.Palette.JA+"の", r), "、")
	case Chinese:
		return strings.Join(s.foreign(zhQuality, func(t Term) string { return t.ZH }, s.Palette.ZH+"的", r), "，")
	case Emoji:
		return s.Kind.Emoji + " " + s.named() + " " + draw.Pick(r, []string{"✨", "💫", "🎨", "❤️", "🔥"}) + " " + strings.Join(append(s.details(), s.looks(r, false)...), ", ")
	default:
		return s.tags(r)
	}
}

// named is the subject with its colour: "red stained glass fish".
func (s *Spec) named() string { return s.Palette.Tag + " " + s.Subject.Tag }

func (s *Spec) details() []string {
	var out []string
	for _, t := range s.Traits {
		out = append(out, t.Tag)
	}
	if s.Time.Key != "" {
		out = append(out, s.Time.Tag)
	}
	return append(out, s.Medium.Tag, s.Mood.Tag)
}

func (s *Spec) tags(r *draw.Rand) string {
	head := []string{s.named()}
	if r.Chance(0.3) {
		head[0] = fmt.Sprintf("(%s:1.%d)", s.named(), r.Between(1, 4))
	}
	parts := append(head, s.details()...)
	if looks := s.looks(r, true); r.Chance(0.5) {
		parts = append(looks, parts...)
	} else {
		parts = append(parts, looks...)
	}
	return strings.Join(parts, ", ")
}

// looks are the words that describe quality rather than content.
func (s *Spec) looks(r *draw.Rand, weights bool) []string {
	list := append(append([]string{}, qualityTags...), styleTags...)
	draw.Shuffle(r, list)
	list = list[:r.Between(2, 5)]
	if weights && r.Chance(0.6) {
		list[0] = fmt.Sprintf("(%s:1.%d)", list[0], r.Between(1, 4))
	}
	if weights && r.Chance(0.2) {
		list[1] = "((" + list[1] + "))"
	}
	return list
}

func (s *Spec) sentence(r *draw.Rand) string {
	var b strings.Builder
	subject := s.Subject.Phrase
	if r.Chance(0.5) {
		fmt.Fprintf(&b, "%s of %s", s.Medium.Phrase, subject)
	} else {
		fmt.Fprintf(&b, "%s, %s", upperFirst(subject), s.Medium.Tag)
	}
	for _, t := range s.Traits {
		b.WriteString(" " + t.Phrase)
	}
	if s.Time.Key != "" {
		b.WriteString(" " + s.Time.Phrase)
	}
	endings := []string{
		". %s in %s tones, with %s.",
		", %s, %s palette and %s.",
		". Think %s with %s light; %s.",
	}
	fmt.Fprintf(&b, draw.Pick(r, endings), s.named(), s.Palette.Tag, s.Mood.Phrase)
	return b.String()
}

func (s *Spec) foreign(quality []string, word func(Term) string, colour string, r *draw.Rand) []string {
	out := []string{colour + word(s.Subject)}
	for _, t := range s.Traits {
		out = append(out, word(t))
	}
	if s.Time.Key != "" {
		out = append(out, word(s.Time))
	}
	return append(out, word(s.Medium), word(s.Mood), draw.Pick(r, quality))
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

var negativeTags = []string{"blurry", "low quality", "worst quality", "jpeg artifacts", "watermark", "signature", "text", "oversaturated", "noise", "cropped", "deformed", "ugly", "bad composition", "flat lighting", "duplicate", "lowres", "frame", "logo"}

// Negative words what should not be seen; about one prompt in eight has none.
func Negative(r *draw.Rand) string {
	if r.Chance(0.12) {
		return ""
	}
	list := append([]string{}, negativeTags...)
	draw.Shuffle(r, list)
	list = list[:r.Between(3, 8)]
	if r.Chance(0.3) {
		list[0] = fmt.Sprintf("(%s:1.%d)", list[0], r.Between(2, 5))
	}
	if r.Chance(0.15) {
		list = append(list, "embedding:clearview_neg")
	}
	return strings.Join(list, ", ")
}
