package relevance

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// usually is how often a prompt says a thing in its usual word.
const usually = 0.5

// word returns a concept in English, as a prompt may name it.
func word(r *rand.Rand, c *concept) string {
	if r.Float64() < usually {
		return c.usual()
	}
	return pick(r, c.english[1:]...)
}

// writePrompt puts a scene into words, as tags, sentences or both.
func writePrompt(r *rand.Rand, s scene, language string) string {
	if language != english {
		return writeEastern(r, s, language)
	}
	switch r.IntN(10) {
	case 0, 1, 2, 3:
		return writeTags(r, s)
	case 4, 5, 6:
		return writeSentence(r, s)
	}
	cut := 1 + r.IntN(len(s))
	if cut == len(s) {
		return writeSentence(r, s) + " " + boilerplate(r)
	}
	return writeSentence(r, s[:cut]) + " " + writeTags(r, s[cut:])
}

// writeTags writes a list, with the habits of those who write such lists.
func writeTags(r *rand.Rand, s scene) string {
	var list []string
	underscores := r.IntN(5) < 2
	for _, c := range s {
		w := word(r, c)
		if underscores {
			w = strings.ReplaceAll(w, " ", "_")
		}
		if r.IntN(7) == 0 {
			w = fmt.Sprintf("(%s:1.%d)", w, 1+r.IntN(4))
		}
		list = append(list, w)
	}
	if r.IntN(3) > 0 {
		list = append([]string{boilerplate(r)}, list...)
	}
	if r.IntN(8) == 0 {
		list = append(list, fmt.Sprintf("<lora:%s:0.%d>", pick(r, models...), 5+r.IntN(5)))
	}
	return strings.Join(list, ", ")
}

// boilerplate is what prompts say whatever they show.
func boilerplate(r *rand.Rand) string {
	return strings.Join(some(r, []string{"masterpiece", "best quality", "highly detailed", "8k", "sharp focus", "trending", "award winning",
		"intricate details", "cinematic composition", "professional", "volumetric shading", "ultra high resolution"}, 1+r.IntN(3)), ", ")
}

// models are the names of models that assets are made with.
var models = []string{"aurora_mix_v4", "realvista_xl", "inkwell_lora", "detail_plus", "moonframe_v2", "softbrush_v1"}

// writeSentence writes prose.
func writeSentence(r *rand.Rand, s scene) string {
	var b strings.Builder
	say := func(format string, c *concept) { fmt.Fprintf(&b, format, word(r, c)) }
	for _, c := range s.of("style") {
		say(pick(r, "%s of ", "in %s style, ", "a beautiful %s showing "), c)
	}
	for _, c := range s.of("mood") {
		say(pick(r, "a %s scene with ", "%s mood, ", "a truly %s picture of "), c)
	}
	for _, c := range s.of("subject") {
		say("a %s", c)
	}
	for _, c := range s.of("attribute") {
		say(pick(r, " with %s", " having %s", " and %s"), c)
	}
	for _, c := range s.of("setting") {
		say(pick(r, " standing near %s", " in %s", " somewhere around %s"), c)
	}
	for _, c := range s.of("light") {
		say(pick(r, ", %s", " during %s", ", one can see %s"), c)
	}
	return strings.TrimSpace(b.String()) + "."
}

// writeEastern writes Chinese or Japanese.
func writeEastern(r *rand.Rand, s scene, language string) string {
	var list []string
	for _, c := range s {
		list = append(list, c.in(language))
	}
	if r.IntN(2) == 0 {
		return strings.Join(list, pick(r, "、", "，", ", "))
	}
	var b strings.Builder
	say := func(before string, kind, after string) {
		for _, c := range s.of(kind) {
			b.WriteString(before + c.in(language) + after)
		}
	}
	if language == chinese {
		say("在", "setting", "的")
		say("", "light", "时，")
		say("一个", "subject", "，")
		say("有", "attribute", "，")
		say("", "mood", "的气氛，")
		say("", "style", "风格")
	} else {
		say("", "setting", "で")
		say("", "light", "の中、")
		say("", "attribute", "のある")
		say("", "subject", "、")
		say("", "mood", "な雰囲気、")
		say("", "style", "風")
	}
	return b.String()
}
