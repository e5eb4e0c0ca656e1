package library

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// maxPageSlug is the longest slug that is made of a name.
const maxPageSlug = 60

// PageSlug returns what a name is called in the URL of a page: its Latin letters, without accents
// and in lower case, and its digits, with single dashes between words. A name without any gets its
// CollectionLabel, and a blank one "page".
func PageSlug(name string) string {
	var b strings.Builder
	dash := false
	for _, r := range norm.NFKD.String(latin.Replace(strings.ToLower(norm.NFC.String(name)))) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			dash = false
			b.WriteRune(r)
		case r < 0x300 || r > 0x36f: // accents are within words
			dash = true
		}
		if b.Len() >= maxPageSlug {
			break
		}
	}
	switch label := CollectionLabel(name); {
	case b.Len() > 0:
		return b.String()
	case label != "":
		return label[:min(len(label), maxPageSlug)]
	}
	return "page"
}
