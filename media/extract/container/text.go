package container

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/japanese"
)

// maxKey bounds a chunk's name and a warning; longer ones are clipped.
const maxKey = 256

// utf8OrLatin1 decodes text whose format says Latin-1, or says nothing. Writers
// put UTF-8 there all the same, and Latin-1 text is hardly ever valid UTF-8; some
// put UTF-16, which is used when a mark says so.
func utf8OrLatin1(b []byte) string {
	if hasUTF16Mark(b) {
		return sniffUTF16(b, nil)
	}
	if utf8.Valid(b) {
		return string(b)
	}
	var t strings.Builder
	t.Grow(len(b) + len(b)/8)
	for _, c := range b {
		t.WriteRune(rune(c))
	}
	return t.String()
}

// hasUTF16Mark reports whether text stands behind UTF-16's byte order mark.
func hasUTF16Mark(b []byte) bool {
	return len(b) > 3 && (bytes.HasPrefix(b, []byte{0xFE, 0xFF}) || bytes.HasPrefix(b, []byte{0xFF, 0xFE}))
}

// textHead returns the start of a text file as UTF-8 without mark and blanks.
func textHead(head []byte) []byte {
	if hasUTF16Mark(head) {
		head = []byte(sniffUTF16(head, nil))
	}
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
}

// sniffUTF16 decodes UTF-16 of unknown byte order. Writers mark none, and the
// order of the surrounding TIFF is no guide: text of the other order is common.
// The order that gives likelier text is taken.
func sniffUTF16(b []byte, fallback binary.ByteOrder) string {
	switch {
	case bytes.HasPrefix(b, []byte{0xFE, 0xFF}):
		return utf16Text(b[2:], binary.BigEndian)
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE}):
		return utf16Text(b[2:], binary.LittleEndian)
	}
	if text := bytes.TrimRight(b, "\x00"); utf8.Valid(text) && bytes.IndexByte(text, 0) < 0 {
		return string(text) // no ASCII in 16 bits at all: it is not UTF-16
	}
	switch little, big := likely(b, binary.LittleEndian), likely(b, binary.BigEndian); {
	case little > big:
		return utf16Text(b, binary.LittleEndian)
	case big > little || fallback == nil:
		return utf16Text(b, binary.BigEndian)
	}
	return utf16Text(b, fallback)
}

// likely weighs how much b looks like text in this byte order. Zero bytes alone
// would mislead: many a Chinese character has one, and the wrong order turns
// letters into Chinese. So ASCII counts twice, other common scripts once.
func likely(b []byte, order binary.ByteOrder) int {
	n := 0
	for i := 0; i+1 < min(len(b), 1<<11); i += 2 {
		switch c := order.Uint16(b[i:]); {
		case c >= ' ' && c <= '~', c == '\t', c == '\n', c == '\r':
			n += 2
		case unicode.In(rune(c), commonScripts...), utf16.IsSurrogate(rune(c)):
			n++
		}
	}
	return n
}

// commonScripts are those in which people write prompts.
var commonScripts = []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Arabic, unicode.Hebrew, unicode.Thai,
	unicode.Devanagari, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Punct}

// utf16Text decodes UTF-16; a trailing odd byte is ignored.
func utf16Text(b []byte, order binary.ByteOrder) string {
	var t strings.Builder
	t.Grow(len(b) / 2)
	for i := 0; i+1 < len(b); i += 2 {
		r := rune(order.Uint16(b[i:]))
		if utf16.IsSurrogate(r) && i+3 < len(b) {
			if pair := utf16.DecodeRune(r, rune(order.Uint16(b[i+2:]))); pair != utf8.RuneError {
				t.WriteRune(pair)
				i += 2
				continue
			}
		}
		t.WriteRune(r)
	}
	return t.String()
}

// userComment decodes EXIF's UserComment: eight bytes of character code, then
// the text (Exif 2.32, 4.6.5). Writers that give no code are read as well.
func userComment(b []byte, order binary.ByteOrder) string {
	if len(b) < 8 {
		return asciiText(b, order)
	}
	switch code := strings.ToUpper(string(b[:8])); {
	case strings.HasPrefix(code, "UNICODE"):
		return sniffUTF16(b[8:], order)
	case strings.HasPrefix(code, "ASCII\x00"):
		return asciiText(b[8:], order)
	case strings.HasPrefix(code, "JIS\x00"):
		return jisText(b[8:])
	}
	return asciiText(b, order)
}

// jisText decodes Japanese text: with escapes between character sets as the
// standard says, or in the Shift JIS that some writers use.
func jisText(b []byte) string {
	b = bytes.TrimRight(b, "\x00")
	decoder := japanese.ShiftJIS.NewDecoder()
	if bytes.IndexByte(b, 0x1B) >= 0 {
		decoder = japanese.ISO2022JP.NewDecoder()
	}
	if t, err := decoder.Bytes(b); err == nil {
		return string(t)
	}
	return utf8OrLatin1(b)
}

// asciiText decodes a field declared as ASCII: in truth UTF-8, Latin-1, or now
// and then UTF-16, which shows by its many zero bytes.
func asciiText(b []byte, order binary.ByteOrder) string {
	text := bytes.Trim(b, "\x00")
	if zeros := bytes.Count(text, []byte{0}); zeros > len(text)/3 || zeros > len(text)/16 && !utf8.Valid(text) {
		for len(b) > 1 && b[0] == 0 && b[1] == 0 { // in pairs: one zero is half a letter
			b = b[2:]
		}
		return sniffUTF16(b, order)
	}
	return utf8OrLatin1(text)
}

// plain makes a text storable anywhere: valid UTF-8 without NUL characters.
// Those at the ends are padding; inside they separate values and become spaces.
func plain(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.Trim(s, "\x00"), "\x00", " ")
}

// clip shortens a name to maxKey bytes at a character's border.
func clip(s string) string {
	if len(s) <= maxKey {
		return s
	}
	n := maxKey
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
