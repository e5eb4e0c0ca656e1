package indexer

import (
	"bytes"
	"encoding/json"
	"errors"
)

// errNotJSON says that a document is cut short or otherwise no JSON. The
// functions here find the parts of a document and leave its strings, numbers and
// words to whoever reads a part, so they do not notice every fault.
var errNotJSON = errors.New("not JSON")

// members calls fn with each key and raw value of an object. It reads each byte
// once and decodes nothing but keys, which is why it exists: most of a lineage
// document is of no interest to the index. Of any other value it gives errNotJSON.
func members(object []byte, fn func(key string, value []byte) error) error {
	i := space(object, 0)
	if i == len(object) || object[i] != '{' {
		return errNotJSON
	}
	for i = space(object, i+1); i < len(object) && object[i] != '}'; i = space(object, i) {
		end := valueEnd(object, i)
		if end < 0 || object[i] != '"' {
			return errNotJSON
		}
		key, err := unquote(object[i:end])
		if err != nil {
			return err
		}
		if i = space(object, end); i == len(object) || object[i] != ':' {
			return errNotJSON
		}
		i = space(object, i+1)
		if end = valueEnd(object, i); end < 0 {
			return errNotJSON
		}
		if err := fn(key, object[i:end]); err != nil {
			return err
		}
		if i = space(object, end); i < len(object) && object[i] == ',' {
			i++
		}
	}
	if i >= len(object) {
		return errNotJSON
	}
	return nil
}

// elements calls fn with each raw value of an array. Of null it does nothing.
func elements(array []byte, fn func(value []byte) error) error {
	if string(array) == "null" {
		return nil
	}
	i := space(array, 0)
	if i == len(array) || array[i] != '[' {
		return errNotJSON
	}
	for i = space(array, i+1); i < len(array) && array[i] != ']'; i = space(array, i) {
		end := valueEnd(array, i)
		if end < 0 {
			return errNotJSON
		}
		if err := fn(array[i:end]); err != nil {
			return err
		}
		if i = space(array, end); i < len(array) && array[i] == ',' {
			i++
		}
	}
	if i >= len(array) {
		return errNotJSON
	}
	return nil
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// valueEnd gives the index after the value that begins at i, or -1 when it does
// not end.
func valueEnd(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		return nestEnd(b, i)
	}
	start := i
	for i < len(b) && !endsWord(b[i]) {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

func endsWord(c byte) bool {
	switch c {
	case ',', ':', '}', ']', '{', '[', '"', ' ', '\n', '\t', '\r':
		return true
	}
	return false
}

// nestEnd gives the index after the object or array that begins at i.
func nestEnd(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			if i = stringEnd(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// stringEnd gives the index after the string that begins at i.
func stringEnd(b []byte, i int) int {
	for i++; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n + 1
		slashes := 0
		for j := i - 2; b[j] == '\\'; j-- {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}

// unquote reads a string.
func unquote(value []byte) (string, error) {
	if n := len(value); n >= 2 && value[0] == '"' && bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : n-1]), nil
	}
	var s string
	err := json.Unmarshal(value, &s)
	return s, err
}
