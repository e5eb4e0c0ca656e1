package library

import (
	"bytes"
	"encoding/json"
)

// ValidJSON returns the first of several texts that is not empty, as JSON that can be part
// of a response: a file may hold a graph that is not quite JSON, and its bare words NaN and
// Infinity become null. It returns null when all are empty.
func ValidJSON(texts ...[]byte) json.RawMessage {
	for _, t := range texts {
		if len(t) == 0 {
			continue
		}
		if !json.Valid(t) {
			t = NullNaN(t)
		}
		if json.Valid(t) {
			return t
		}
	}
	return json.RawMessage("null")
}

// NullNaN replaces the bare words NaN, Infinity and -Infinity by null, outside
// strings only. Python writes them into what it calls JSON.
func NullNaN(text []byte) []byte {
	var out []byte
	inString := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inString && c == '\\' && i+1 < len(text):
			out = append(out, c)
			i++
			c = text[i]
		case c == '"':
			inString = !inString
		case !inString && (c == 'N' || c == 'I' || c == '-'):
			if n := notANumber(text[i:]); n > 0 {
				out = append(out, "null"...)
				i += n - 1
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

func notANumber(text []byte) int {
	for _, word := range []string{"NaN", "-Infinity", "Infinity"} {
		if bytes.HasPrefix(text, []byte(word)) {
			return len(word)
		}
	}
	return 0
}
