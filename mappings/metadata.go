package mappings

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of what the index holds of an asset's own metadata. What is beyond them is
// kept with the asset and shown, and not searched.
const (
	MaxMetadataValues = 256 // of an asset, those of the first keys in order
	MaxMetadataDepth  = 8   // levels of objects
	MaxMetadataKey    = 128 // characters of a key with the keys around it
	MaxMetadataValue  = 256 // characters of a value
)

// MetadataPrefix stands before the key in the language and in metadata_keys.
const MetadataPrefix = "metadata."

// Metadata is what the index holds of the data that people keep with an asset.
type Metadata struct {
	Pairs  []string // "key=value" of every text, number and boolean
	Keys   []string // "metadata.key", also of the objects around it
	Values []string // the values alone
	Ranks  []string // MetadataRank of every number and date, in the order that they compare in
}

// NewMetadata reads metadata as it came. The keys of objects within are joined by dots,
// the values of a list are values of its key.
func NewMetadata(m map[string]any) Metadata {
	if len(m) == 0 {
		return Metadata{}
	}
	r := metadataReader{pairs: map[string]struct{}{}, keys: map[string]struct{}{}, values: map[string]struct{}{}, ranks: map[string]struct{}{}}
	r.object("", m, 1)
	return Metadata{sorted(r.pairs), sorted(r.keys), sorted(r.values), sorted(r.ranks)}
}

func sorted(set map[string]struct{}) []string {
	if len(set) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(set))
}

type metadataReader struct{ pairs, keys, values, ranks map[string]struct{} }

func (r *metadataReader) object(path string, m map[string]any, depth int) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		key := MetadataKey(name)
		if key == "" {
			key = "_"
		}
		if path != "" {
			key = path + "." + key
		}
		if utf8.RuneCountInString(key) <= MaxMetadataKey {
			r.value(key, m[name], depth)
		}
	}
}

// value takes one value in. A key whose value is null or empty is no key.
func (r *metadataReader) value(key string, v any, depth int) {
	switch v := v.(type) {
	case map[string]any:
		if depth < MaxMetadataDepth {
			r.object(key, v, depth+1)
		}
		return
	case []any:
		for _, one := range v {
			r.value(key, one, depth+1)
		}
		return
	}
	text, isText := v.(string)
	if !isText && v != nil {
		text = scalarText(v)
	}
	if text = strings.TrimSpace(text); text == "" || len(r.pairs) >= MaxMetadataValues {
		return
	}
	for end := len(key); end > 0; end = strings.LastIndexByte(key[:end], '.') {
		r.keys[MetadataPrefix+key[:end]] = struct{}{}
	}
	if utf8.RuneCountInString(text) > MaxMetadataValue {
		return
	}
	text = CanonicalNumber(text)
	r.pairs[key+"="+text], r.values[text] = struct{}{}, struct{}{}
	if rank := rankOf(text); rank != "" {
		r.ranks[key+"="+rank] = struct{}{}
	}
}

// scalarText writes a number or a boolean of JSON.
func scalarText(v any) string {
	switch v := v.(type) {
	case json.Number:
		return v.String()
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// MetadataKey returns the name of a key as it is searched: folded, and with _ for what
// the language reads otherwise, such as blanks, colons and quotes.
func MetadataKey(name string) string {
	return strings.Map(func(r rune) rune {
		if IsMetadataKeyRune(r) {
			return r
		}
		return '_'
	}, FoldText(strings.TrimSpace(name)))
}

// IsMetadataKeyRune reports whether a character of a key is itself in the language.
func IsMetadataKeyRune(r rune) bool {
	return r == '_' || r == '-' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}

// metadataDates are the forms of dates that compare as dates.
var metadataDates = []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04", "2006-01"}

// rankOf returns the rank of a value that is a number or a date, or "".
func rankOf(text string) string {
	if len(text) > 40 || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return ""
	}
	if strings.Trim(text, "0123456789.-+eE") == "" {
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return NumberRank(f)
		}
	}
	for _, layout := range metadataDates {
		if at, err := time.Parse(layout, text); err == nil {
			return DateRank(at)
		}
	}
	return ""
}

// The beginnings of ranks: numbers compare with numbers, dates with dates.
const (
	numberRank = "n"
	dateRank   = "d"
)

// NumberRank returns a text that compares with others of its kind as the numbers do.
func NumberRank(f float64) string { return numberRank + ordered(f) }

// DateRank returns a text that compares with others of its kind as the times do.
func DateRank(at time.Time) string { return dateRank + ordered(float64(at.UnixMilli())) }

// RankBounds returns what is below and above every rank of the kind of one.
func RankBounds(rank string) (low, high string) { return rank[:1], rank[:1] + "~" }

func ordered(f float64) string {
	if f == 0 {
		f = 0 // -0 is 0
	}
	bits := math.Float64bits(f)
	if f < 0 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	return fmt.Sprintf("%016x", bits)
}
