package jsonscan

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// Append appends a tree of maps, lists and plain values, such as a request to
// OpenSearch, to dst. It writes the value that encoding/json writes, keys in order
// (OpenSearch caches answers by the bytes of the request), in a fraction of its time,
// and escapes no more than it must; what is neither map, list nor plain,
// encoding/json writes. It fails where encoding/json does.
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
		return appendList(dst, v, appendStringValue)
	case string:
		return AppendString(dst, v), nil
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
		if dst, err = Append(append(AppendString(dst, k), ':'), m[k]); err != nil {
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

func appendStringValue(dst []byte, s string) ([]byte, error) { return AppendString(dst, s), nil }
