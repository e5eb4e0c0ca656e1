package mappings

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"vitrine/library"
)

// Fields that every document has and no Document holds: they follow from others.
const (
	// NumberField holds AssetNumber. It ends the sorts of searches.
	NumberField = "asset_n"
	// WordsField holds the words of all text fields but the negative prompt, as
	// they are and, marked, their stems. The index fills it.
	WordsField = "words"
	// VocabularyField holds Vocabulary.
	VocabularyField = "vocabulary"
)

// StemAnalyzer is the analyzer that turns a word of a query into its stem as
// WordsField has it.
const StemAnalyzer = "stem_search"

// AssetNumber returns the last 60 bits of a hash as a number: it tells assets apart
// as their hashes do, and comparing it costs a tenth of comparing them.
func AssetNumber(h library.AssetHash) int64 {
	n, err := strconv.ParseInt(string(h[max(0, len(h)-15):]), 16, 64)
	if err != nil {
		return 0
	}
	return n
}

// Bounds of what stands in a vocabulary.
const (
	minVocabulary  = 3 // letters and digits of a word
	maxVocabulary  = 32
	maxVocabularyN = 1024 // distinct words of a document
)

// VocabularyPrefix returns what stands before every word of a tenant in
// VocabularyField. The index's dictionary then has a part for each tenant, so that
// looking for words spelled alike meets nobody else's.
func VocabularyPrefix(tenant library.TenantID) string {
	if p, ok := prefixes.Load(tenant); ok {
		return p.(string)
	}
	sum := sha256.Sum256([]byte(tenant))
	p := base64.RawURLEncoding.EncodeToString(sum[:9]) + "|"
	prefixes.Store(tenant, p)
	return p
}

var prefixes sync.Map // by tenant; they are few bytes each

// Words calls yield with each run of letters and digits of a text, folded, that
// could be misspelled: of 3 to 32 characters, not all digits, not Chinese, Japanese
// or Korean.
func Words(text string, yield func(word string)) {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) }) {
		if len(w) < minVocabulary || len(w) > 4*maxVocabulary || strings.IndexFunc(w, isIdeograph) >= 0 || strings.IndexFunc(w, unicode.IsLetter) < 0 {
			continue
		}
		if w = FoldText(w); len(w) >= minVocabulary && len(w) <= maxVocabulary {
			yield(w)
		}
	}
}

func isIdeograph(r rune) bool {
	return r > 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// AppendDerived appends, to a document written as JSON but for its last brace, the
// fields that follow from its own. A tombstone has none.
func (d *Document) AppendDerived(dst []byte) []byte {
	if d.Deleted {
		return dst
	}
	dst = append(dst, `,"`+NumberField+`":`...)
	dst = strconv.AppendInt(dst, AssetNumber(d.AssetH), 10)
	prefix, seen := VocabularyPrefix(d.TenantID), make(map[string]struct{}, 64)
	add := func(w string) {
		if _, ok := seen[w]; ok || len(seen) >= maxVocabularyN {
			return
		}
		if len(seen) == 0 {
			dst = append(dst, `,"`+VocabularyField+`":[`...)
		} else {
			dst = append(dst, ',')
		}
		seen[w] = struct{}{}
		dst = append(dst, '"') // letters and digits need no escapes
		dst = append(append(dst, prefix...), w...)
		dst = append(dst, '"')
	}
	for _, text := range []string{d.Title, d.Prompt, d.Description, d.Filename} {
		Words(text, add)
	}
	for _, list := range [][]string{d.Tags, d.ModelNames} {
		for _, text := range list {
			Words(text, add)
		}
	}
	if len(seen) > 0 {
		dst = append(dst, ']')
	}
	return dst
}

var ligatures = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "đ", "d", "ð", "d", "þ", "th", "ł", "l", "ı", "i")

// FoldText lowers a text and takes the accents off its letters, as the index's
// analysis does.
func FoldText(s string) string {
	s = strings.ToLower(s)
	ascii := true
	for i := range len(s) {
		ascii = ascii && s[i] < 0x80
	}
	if ascii {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) && r < 0x3000 {
			return -1
		}
		return r
	}, norm.NFKD.String(s))
	return ligatures.Replace(norm.NFC.String(s))
}
