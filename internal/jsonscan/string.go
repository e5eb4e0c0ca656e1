package jsonscan

import (
	"encoding/json"
	"unicode/utf8"
)

// AppendString appends a text as a JSON string to dst. Plain texts are copied. What
// is not UTF-8 becomes replacement characters, as in encoding/json.
func AppendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return appendEscaped(dst, s, i)
		}
	}
	return append(append(append(dst, '"'), s...), '"')
}

// appendEscaped appends a text whose first plain bytes are known.
func appendEscaped(dst []byte, s string, plain int) []byte {
	start := len(dst)
	dst = append(append(dst, '"'), s[:plain]...)
	for i := plain; i < len(s); {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b, _ := json.Marshal(s) // a string cannot fail
				return append(dst[:start], b...)
			}
			dst = append(dst, s[i:i+n]...)
			i += n
			continue
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case '\b' <= c && c <= '\r' && c != '\v':
			dst = append(dst, '\\', "btn fr"[c-'\b'])
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			dst = append(dst, c)
		}
		i++
	}
	return append(dst, '"')
}

const hexDigits = "0123456789abcdef"
