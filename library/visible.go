package library

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Unseen reports whether a character is one that no text needs and that readers do not
// see: a control character other than a tab or the end of a line, or one that overrides
// the direction of the text after it, with which a text can show other than it says.
func Unseen(r rune) bool {
	switch {
	case r == '\t' || r == '\n' || r == '\r':
		return false
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return unicode.IsControl(r)
}

// VisibleText returns a text without its unseen characters and without bytes that are not
// UTF-8. Most texts have none and are returned as they are.
func VisibleText(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, Unseen) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if Unseen(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}
