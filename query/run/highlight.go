package run

import (
	"html"
	"strings"
	"unicode/utf8"

	"vitrine/mappings"
	"vitrine/query"
)

// Highlight shows where a field has what a search looked for.
type Highlight struct {
	Fragments []string `json:"fragments" doc:"Up to three fragments of the value, HTML-escaped, with <em> around matches."`
	Matches   []Match  `json:"matches" doc:"Positions of the first 100 matches in the value."`
}

// Match is the place of a match in the whole value of a field.
type Match struct {
	Offset     int `json:"offset" doc:"In bytes of UTF-8."`
	Length     int `json:"length" doc:"In bytes."`
	RuneOffset int `json:"rune_offset" doc:"In characters (code points)."`
	RuneLength int `json:"rune_length" doc:"In characters."`
}

const (
	maxMatches    = 100
	maxFragments  = 3
	maxWholeValue = 200 // bytes that are shown uncut
	contextBytes  = 60  // bytes shown before a match, and at least as many behind it
)

// parseHighlights reads the values of a document that the index has marked, by field.
func parseHighlights(marked map[string][]string, d *mappings.Document) map[string]Highlight {
	if len(marked) == 0 {
		return nil
	}
	out := make(map[string]Highlight, len(marked))
	for field, whole := range map[string]string{"title": d.Title, "description": d.Description, "prompt": d.Prompt} {
		if text, matches := parseMarks(strings.Join(marked[mappings.Highlighted(field)], "\n")); len(matches) > 0 {
			pieces := fragments(text, matches)
			out[field] = Highlight{Fragments: pieces, Matches: shiftMatches(matches, leadingBlanks(whole))}
		}
	}
	return out
}

// leadingBlanks is how many bytes, each a character, the index leaves out at the beginning
// of a value that it marks.
func leadingBlanks(value string) int {
	return len(value) - len(strings.TrimLeftFunc(value, func(r rune) bool { return r <= ' ' }))
}

func shiftMatches(matches []Match, by int) []Match {
	for i := range matches {
		matches[i].Offset += by
		matches[i].RuneOffset += by
	}
	return matches
}

// parseMarks takes the marks out of a value and tells where they were.
func parseMarks(marked string) (text string, matches []Match) {
	var b strings.Builder
	runes := 0
	for {
		before, rest, found := strings.Cut(marked, query.MarkStart)
		b.WriteString(before)
		runes += utf8.RuneCountInString(before)
		if !found {
			return b.String(), matches
		}
		match, after, closed := strings.Cut(rest, query.MarkEnd)
		if closed && match != "" && len(matches) < maxMatches {
			matches = append(matches, Match{Offset: b.Len(), Length: len(match), RuneOffset: runes, RuneLength: utf8.RuneCountInString(match)})
		}
		b.WriteString(match)
		runes += utf8.RuneCountInString(match)
		marked = after
	}
}

// fragments cuts the pieces of a text that show its matches, which are in order and
// do not overlap; a short text is shown whole. Where a piece leaves something out, it
// has an ellipsis. A match that a piece would cut is shown whole in it, so that the
// next piece begins at or before its first match.
func fragments(text string, matches []Match) []string {
	if len(text) <= maxWholeValue {
		return []string{fragment(text, 0, len(text), matches)}
	}
	var out []string
	for shown := 0; len(matches) > 0 && len(out) < maxFragments; {
		from := max(shown, matches[0].Offset-contextBytes)
		to := min(len(text), matches[0].Offset+max(matches[0].Length, maxWholeValue-contextBytes)+contextBytes)
		from, to = wordStart(text, from, matches[0].Offset), wordEnd(text, to)
		n := 1
		for n < len(matches) && matches[n].Offset+matches[n].Length <= to {
			n++
		}
		if n < len(matches) && matches[n].Offset < to {
			to = matches[n].Offset + matches[n].Length
			n++
		}
		out = append(out, fragment(text, from, to, matches[:n]))
		matches, shown = matches[n:], to
	}
	return out
}

// fragment writes one piece as HTML.
func fragment(text string, from, to int, matches []Match) string {
	var b strings.Builder
	if from > 0 {
		b.WriteString("… ")
	}
	at := from
	for _, m := range matches {
		b.WriteString(html.EscapeString(text[at:m.Offset]))
		at = m.Offset + m.Length
		b.WriteString("<em>" + html.EscapeString(text[m.Offset:at]) + "</em>")
	}
	b.WriteString(html.EscapeString(text[at:to]))
	if to < len(text) {
		b.WriteString(" …")
	}
	return b.String()
}

// wordStart moves a cut to behind the next blank before a limit, or else to the next
// character.
func wordStart(text string, at, limit int) int {
	if at == 0 {
		return 0
	}
	if i := strings.IndexAny(text[at:limit], " \n"); i >= 0 {
		return at + i + 1
	}
	for at < limit && !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}

// wordEnd moves a cut to the blank before it, if one is near, or else to the end of
// the character.
func wordEnd(text string, at int) int {
	if at >= len(text) {
		return len(text)
	}
	if i := strings.LastIndexAny(text[at-contextBytes/2:at], " \n"); i >= 0 {
		return at - contextBytes/2 + i
	}
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}
