package extract

import (
	"reflect"
	"strings"
	"unicode/utf8"

	"vitrine/library"
)

// clean makes every text of a lineage storable: valid UTF-8 without NUL, which
// PostgreSQL refuses, and of bounded length. The graphs are kept byte for byte.
func clean(l *library.Lineage) {
	cleanValue(reflect.ValueOf(l).Elem())
}

var rawJSON = reflect.TypeFor[library.RawJSON]()

func cleanValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); v.CanSet() && dirty(s) {
			v.SetString(cleanText(s))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			cleanValue(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			cleanValue(v.Field(i))
		}
	case reflect.Slice:
		if v.Type() != rawJSON {
			for i := range v.Len() {
				cleanValue(v.Index(i))
			}
		}
	case reflect.Map:
		cleanMap(v)
	}
}

func cleanMap(v reflect.Value) {
	texts, ok := v.Interface().(map[string]string)
	if !ok {
		return
	}
	for key, text := range texts {
		if dirty(key) || dirty(text) {
			delete(texts, key)
			texts[cleanText(key)] = cleanText(text)
		}
	}
}

// maxText bounds one text of a lineage. Longer ones are hostile or no text; the
// raw chunk keeps them whole.
const maxText = 1 << 20

func dirty(s string) bool {
	return len(s) > maxText || strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s)
}

func cleanText(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "")
}
