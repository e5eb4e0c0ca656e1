package embed

import (
	"strings"
	"unicode/utf8"
)

// recipe names how Text puts an asset into words. It is part of every
// configuration's identity: another recipe makes other vectors.
const recipe = "prompt, else title. description. tags/1"

// maxTextBytes bounds a text. The usual models read about 256 tokens, which is
// about a thousand bytes of prose.
const maxTextBytes = 4000

// Text puts into words what an asset shows: its prompt, and where it has none
// what people wrote about it. It is empty when nothing is known. That a prompt
// stands alone lets all pictures of one prompt share one vector; titles and tags
// beside it are found by their words.
func Text(title, prompt, description string, tags []string) string {
	if p := clean(prompt); p != "" {
		return cut(p, maxTextBytes)
	}
	parts := make([]string, 0, 3)
	for _, p := range []string{title, description, strings.Join(tags, ", ")} {
		if p = clean(p); p != "" {
			parts = append(parts, p)
		}
	}
	return cut(strings.Join(parts, ". "), maxTextBytes)
}

func clean(s string) string { return strings.TrimSpace(strings.ToValidUTF8(s, "")) }

// cut shortens a text to at most n bytes without cutting a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
