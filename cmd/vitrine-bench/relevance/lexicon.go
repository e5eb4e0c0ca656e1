package relevance

import (
	_ "embed"
	"fmt"
	"strings"
)

// concept is one thing that a scene may show, with the words for it.
type concept struct {
	kind     string // subject, attribute, style, setting, light or mood
	fits     string // letters: whom an attribute fits; of a subject, what it is
	english  []string
	chinese  string
	japanese string
}

//go:embed lexicon.txt
var lexiconText string

// lexicon has the concepts of each kind, in the order of the file: the earlier,
// the more frequent.
var lexicon = readLexicon(lexiconText)

func readLexicon(text string) map[string][]*concept {
	out := map[string][]*concept{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, " | ")
		if len(cells) != 5 {
			panic(fmt.Sprintf("the lexicon's line %q has %d cells instead of 5", line, len(cells)))
		}
		c := &concept{english: append([]string{cells[1]}, strings.Split(cells[2], "; ")...), chinese: cells[3], japanese: cells[4]}
		c.kind, c.fits, _ = strings.Cut(cells[0], ".")
		out[c.kind] = append(out[c.kind], c)
	}
	return out
}

// usual returns the word that most people use.
func (c *concept) usual() string { return c.english[0] }

// in returns the word of a language other than English.
func (c *concept) in(language string) string {
	if language == chinese {
		return c.chinese
	}
	return c.japanese
}

// The languages of prompts.
const (
	english  = "en"
	chinese  = "zh"
	japanese = "ja"
)
