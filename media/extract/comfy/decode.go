package comfy

import (
	"encoding/json"

	"vitrine/internal/jsonscan"
)

// Documents are read as trees of JSON values.
type (
	value  = jsonscan.Value
	member = jsonscan.Member
)

const maxUnwraps = 4 // a graph that is a JSON string of a JSON string of …

// decode reads a document as writers really leave it: with a byte order mark,
// trailing NULs, bare NaN and Infinity, or wrapped in JSON strings. budget is
// shared by the documents of a file.
func decode(raw []byte, budget *int) (value, bool) {
	text := string(raw)
	for range maxUnwraps {
		v, ok := jsonscan.ParseAll(text, budget)
		if ok && v.Kind == jsonscan.Object {
			return v, true
		}
		if !ok || v.Kind != jsonscan.String {
			return value{}, false
		}
		text = v.Text
	}
	return value{}, false
}

// scalar returns strings, numbers and booleans as text. File choices with a preview
// picture keep the name as the content of an object; they are that name.
func scalar(v value) (string, bool) {
	if c := v.Get("content"); v.Kind == jsonscan.Object && c.Kind == jsonscan.String {
		return c.Text, true
	}
	return v.Scalar()
}

func isValidJSON(b []byte) bool { return json.Valid(b) }
