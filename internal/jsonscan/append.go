package jsonscan

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// Append writes a tree of maps, lists and plain values, such as a request to
// OpenSearch, behind dst. It gives what encoding/json gives, keys in order and all
// (OpenSearch caches answers by the bytes of the request), in a fraction of its
// time; of what is neither map, list nor plain, encoding/json writes it.
func Append(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case map[string]any:
		return appendObject(dst, v)
	case []any:
		return appendList(dst, v, Append)
	case []map[string]any:
		return appendList(dst, v, appendObject)
	case []string:
		return appendList(dst, v, appendText)
	case string:
		return appendText(dst, v)
	case bool:
		return strconv.AppendBool(dst, v), nil
	case int:
		return strconv.AppendInt(dst, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	}
	raw, err := json.Marshal(v)
	return append(dst, raw...), err
}

func appendObject(dst []byte, m map[string]any) ([]byte, error) {
	if m == nil {
		return append(dst, "null"...), nil
	}
	var some [12]string // most have fewer keys; these cost no memory
	keys := slices.AppendSeq(some[:0], maps.Keys(m))
	slices.Sort(keys)
	dst = append(dst, '{')
	for i, k := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendText(dst, k); err != nil {
			return dst, err
		}
		if dst, err = Append(append(dst, ':'), m[k]); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func appendList[T any](dst []byte, list []T, one func([]byte, T) ([]byte, error)) ([]byte, error) {
	if list == nil {
		return append(dst, "null"...), nil
	}
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = one(dst, v); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// appendText writes a text that has nothing to escape as it is.
func appendText(dst []byte, s string) ([]byte, error) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			raw, err := json.Marshal(s)
			return append(dst, raw...), err
		}
	}
	return append(append(append(dst, '"'), s...), '"'), nil
}
