package op

import (
	"encoding/json"
	"fmt"

	"vitrine/library"
)

// ObjectLimits bound an argument that takes any object.
type ObjectLimits struct {
	Bytes int // as JSON
	Depth int // of objects and lists in each other; {"a": 1} has one
	Keys  int // names in all objects together
}

// The limits of objects that are kept beside an asset or a model, and of what an
// uploader claims about a file's making, which may hold whole graphs.
var (
	SmallObject = ObjectLimits{Bytes: 64 << 10, Depth: 16, Keys: 1000}
	LargeObject = ObjectLimits{Bytes: 1 << 20, Depth: 32, Keys: 20_000}
)

// CheckObject returns what is wrong with an argument that takes any object.
func CheckObject(field string, object map[string]any, l ObjectLimits) []library.FieldError {
	if object == nil {
		return nil
	}
	tooMuch := func(format string, args ...any) []library.FieldError {
		return []library.FieldError{{Field: field, Code: "length", Message: fmt.Sprintf(format, args...), Hint: "Leave out what nobody will ask for, or store it as a file."}}
	}
	keys := 0
	if depth := measure(object, &keys); depth > l.Depth {
		return tooMuch("Expected at most %d levels of objects and lists.", l.Depth)
	}
	if keys > l.Keys {
		return tooMuch("Expected at most %d names in all.", l.Keys)
	}
	raw, err := json.Marshal(object)
	if err != nil {
		return []library.FieldError{{Field: field, Code: "type", Message: "It cannot be stored as JSON."}}
	}
	if len(raw) > l.Bytes {
		return tooMuch("Expected at most %d KiB of JSON.", l.Bytes>>10)
	}
	return nil
}

// measure returns how deep a value is nested and counts its names.
func measure(v any, keys *int) (depth int) {
	switch v := v.(type) {
	case map[string]any:
		*keys += len(v)
		for _, x := range v {
			depth = max(depth, measure(x, keys))
		}
		return depth + 1
	case []any:
		for _, x := range v {
			depth = max(depth, measure(x, keys))
		}
		return depth + 1
	}
	return 0
}
