package query

import (
	"strings"
	"time"
	"unicode/utf8"
)

// reader carries one text through lexing, repair and typing.
type reader struct {
	text     string
	zone     *time.Location
	now      time.Time
	warnings []Warning
	counts   map[string]int // of warnings by code
}

func newReader(text string, opts Options) (*reader, error) {
	if len(text) > MaxBytes {
		return nil, tooComplex("The query has %d bytes; at most %d are allowed. Shorten it, or split it into several searches.", len(text), MaxBytes)
	}
	r := &reader{text: text, zone: opts.Zone, now: opts.Now}
	if r.zone == nil {
		r.zone = time.UTC
	}
	if r.now.IsZero() {
		r.now = time.Now()
	}
	if !utf8.ValidString(text) {
		r.text = blankInvalid(text)
		r.warn(InvalidEncoding, span{0, len(text)}, "the query has bytes that are not UTF-8; they were read as spaces")
	}
	return r, nil
}

// blankInvalid replaces each invalid byte by a blank, so offsets stay right.
func blankInvalid(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRuneInString(s[i:])
		if c == utf8.RuneError && n == 1 {
			b.WriteByte(' ')
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

func (r *reader) read() (Node, error) {
	tokens := r.lex()
	if err := checkLimits(tokens); err != nil {
		return nil, err
	}
	tokens = r.repair(tokens)
	if len(tokens) == 0 {
		return Everything, nil
	}
	g, err := parseTokens(tokens)
	if err != nil {
		return nil, err
	}
	b := builder{r: r, tokens: tokens}
	return r.resolveSimilar(b.or(g, nil)), nil
}

// checkLimits looks at the tokens as they came, before anything walks them again.
func checkLimits(tokens []token) error {
	leaves, globs, depth := 0, 0, 0
	for _, t := range tokens {
		switch t.kind {
		case tokWord, tokPhrase:
			leaves++
			if len(t.stars) > 0 && strings.Trim(t.text, "*") != "" {
				globs++
			}
			if n := len(pattern(t)) - 1; n > MaxStars {
				return tooComplex("A value of the query has %d wildcards; at most %d are allowed. Write more of the word instead.", n, MaxStars)
			}
		case tokOpen:
			depth++
			if depth > MaxDepth {
				return tooComplex("The query nests parentheses deeper than %d levels. Remove parentheses that group nothing.", MaxDepth)
			}
		case tokClose:
			depth = max(depth-1, 0)
		}
	}
	if leaves > MaxLeaves {
		return tooComplex("The query has %d words, phrases and values; at most %d are allowed. Split it into several searches.", leaves, MaxLeaves)
	}
	if globs > MaxGlobs {
		return tooComplex("The query has %d values with a wildcard; at most %d are allowed. Write whole words where you can.", globs, MaxGlobs)
	}
	return nil
}
