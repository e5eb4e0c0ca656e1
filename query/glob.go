package query

import (
	"strings"
	"unicode"

	"vitrine/mappings"
)

func wildcard(field, pattern string) clause {
	return clause{"wildcard": clause{field: clause{"value": pattern}}}
}

// escapeGlob makes every character of a literal stand for itself; a question
// mark is always literal in our language.
func escapeGlob(s string) string {
	if !strings.ContainsAny(s, `\*?`) {
		return s
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`).Replace(s)
}

func joinGlob(parts []string) string {
	escaped := make([]string, len(parts))
	for i, p := range parts {
		escaped[i] = escapeGlob(p)
	}
	return strings.Join(escaped, "*")
}

// tagGlob writes a pattern for tags_norm, where underscores are blanks.
func tagGlob(parts []string) string {
	spaced := make([]string, len(parts))
	for i, p := range parts {
		spaced[i] = strings.ReplaceAll(p, "_", " ")
	}
	return joinGlob(spaced)
}

// folded writes the parts of a pattern as the prompt analyzer would: patterns on
// analyzed text are not analyzed by the index.
func folded(parts []string) []string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = mappings.FoldText(p)
	}
	return out
}

// isWordRune reports whether a character survives text analysis.
func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsNumber(r) || (r > 0x7f && unicode.Is(unicode.So, r))
}
