package container

import (
	"bytes"
	"encoding/json"
)

// maxDocument bounds a JSON document that is decoded; decoding copies it twice.
const maxDocument = 16 << 20

// jsonFields returns the members of a JSON object in their order: strings without
// their quotes, everything else as it is written. Nothing for what is no object.
func jsonFields(object []byte, visit func(key, text string)) {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return
		}
		text := string(raw)
		var s string
		if raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
			text = s
		}
		name, _ := key.(string)
		visit(name, text)
	}
}

// decodeJSON decodes into v. Python writes NaN and Infinity bare, which JSON does
// not know: a document with them is read a second time with null in their place.
func decodeJSON(b []byte, v any) error {
	err := json.Unmarshal(b, v)
	if err == nil {
		return nil
	}
	if repaired, changed := withoutNaN(b); changed {
		return json.Unmarshal(repaired, v)
	}
	return err
}

// withoutNaN puts null for NaN, Infinity and -Infinity outside of strings.
func withoutNaN(b []byte) ([]byte, bool) {
	out := make([]byte, 0, len(b)+64)
	changed, inString := false, false
	for i := 0; i < len(b); i++ {
		switch {
		case inString && b[i] == '\\' && i+1 < len(b):
			out = append(out, b[i])
			i++
		case b[i] == '"':
			inString = !inString
		case !inString:
			if n := notFinite(b[i:]); n > 0 {
				out, changed = append(out, "null"...), true
				i += n - 1
				continue
			}
		}
		out = append(out, b[i])
	}
	return out, changed
}

// notFinite returns the length of a NaN or Infinity at the start of b.
func notFinite(b []byte) int {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(b, []byte(word)) {
			return len(word)
		}
	}
	return 0
}
