package embed

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// words calls f for each word of a text as BERT sees them, until f says to stop:
// control characters are dropped, every punctuation mark and every Chinese
// character is a word, case and accents go unless they are kept.
func words(text string, keepCase bool, f func(string) bool) {
	buf := make([]byte, 0, 64)
	flush := func() bool {
		if len(buf) == 0 {
			return true
		}
		word := string(buf)
		buf = buf[:0]
		return f(word)
	}
	add := func(r rune) bool {
		switch {
		case unicode.IsSpace(r):
			return flush()
		case punctuation(r) || chinese(r):
			if !flush() {
				return false
			}
			buf = utf8.AppendRune(buf, r)
			return flush()
		}
		if !keepCase {
			r = unicode.ToLower(r)
		}
		buf = utf8.AppendRune(buf, r)
		return true
	}
	if !each(text, keepCase, add) {
		return
	}
	flush()
}

// each calls f for every character that counts, taken apart from its accents
// unless those are kept.
func each(text string, keepAccents bool, f func(rune) bool) bool {
	var part [16]byte
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			if r >= ' ' && r != 0x7f || r == '\t' || r == '\n' || r == '\r' {
				if !f(r) {
					return false
				}
			}
			continue
		case r == utf8.RuneError || dropped(r):
			continue
		case keepAccents:
			if !f(r) {
				return false
			}
			continue
		}
		if unicode.Is(unicode.Mn, r) {
			continue
		}
		d := norm.NFD.Append(part[:0], utf8.AppendRune(nil, r)...)
		for len(d) > 0 {
			r, n := utf8.DecodeRune(d)
			d = d[n:]
			if !unicode.Is(unicode.Mn, r) && !f(r) {
				return false
			}
		}
	}
	return true
}

// dropped reports whether a character stands for nothing: controls, formats,
// surrogates, private use.
func dropped(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs) }

// punctuation counts the marks of ASCII that Unicode calls symbols, too.
func punctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= '!' && r <= '/' || r >= ':' && r <= '@' || r >= '[' && r <= '`' || r >= '{' && r <= '~'
	}
	return unicode.IsPunct(r)
}

// chinese reports whether a character is a unified ideograph or one of their extensions;
// kana and hangul form words.
func chinese(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2B73F || r >= 0x2B740 && r <= 0x2B81F || r >= 0x2B820 && r <= 0x2CEAF ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}
