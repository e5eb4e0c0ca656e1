package indexer

import (
	"encoding/json"
	"errors"
	"strings"
)

// errNotJSON says that a document is cut short or otherwise no JSON. The reader
// here finds the parts of a document and leaves its numbers and words to whoever
// takes a part, so it does not notice every fault.
var errNotJSON = errors.New("not JSON")

// jsonReader walks through a document once, from front to back, and gives its
// strings as parts of the document. It exists because most of a lineage document
// is of no interest to the index, and the rest is short strings: decoding it by
// encoding/json was more than half of the indexer's own work per asset.
type jsonReader struct {
	s  string
	at int
}

// object calls member with each key, while the value is next. What member does
// not take is passed over. Of null there are no members.
func (r *jsonReader) object(member func(key string) error) error {
	if r.null() {
		return nil
	}
	return r.list('{', '}', func() error {
		key, err := r.text()
		if err != nil {
			return err
		}
		if !r.take(':') {
			return errNotJSON
		}
		return r.value(func() error { return member(key) })
	})
}

// array calls element with each element, which is next. What element does not
// take is passed over. Of null there are no elements.
func (r *jsonReader) array(element func() error) error {
	if r.null() {
		return nil
	}
	return r.list('[', ']', func() error { return r.value(element) })
}

func (r *jsonReader) list(begin, end byte, item func() error) error {
	if !r.take(begin) {
		return errNotJSON
	}
	for !r.take(end) {
		if err := item(); err != nil {
			return err
		}
		r.take(',')
	}
	return nil
}

// value lets somebody take the next value, or passes over it.
func (r *jsonReader) value(take func() error) error {
	r.space()
	before := r.at
	if err := take(); err != nil {
		return err
	}
	if r.at > before {
		return nil
	}
	_, err := r.raw()
	return err
}

// null passes over the word null when it is next.
func (r *jsonReader) null() bool {
	r.space()
	if !strings.HasPrefix(r.s[r.at:], "null") {
		return false
	}
	r.at += len("null")
	return true
}

// take passes over one character when it is next.
func (r *jsonReader) take(c byte) bool {
	r.space()
	if r.at == len(r.s) || r.s[r.at] != c {
		return false
	}
	r.at++
	return true
}

func (r *jsonReader) space() {
	for r.at < len(r.s) {
		switch r.s[r.at] {
		case ' ', '\n', '\t', '\r':
			r.at++
		default:
			return
		}
	}
}

// into decodes the next value with encoding/json.
func (r *jsonReader) into(v any) error {
	raw, err := r.raw()
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(raw), v)
}

// optional takes a string that may be null.
func (r *jsonReader) optional() (*string, error) {
	if r.null() {
		return nil, nil
	}
	s, err := r.text()
	return &s, err
}

// text takes a string.
func (r *jsonReader) text() (string, error) {
	r.space()
	if r.at == len(r.s) || r.s[r.at] != '"' {
		return "", errNotJSON
	}
	raw, err := r.raw()
	if err != nil {
		return "", err
	}
	if strings.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], nil
	}
	var s string
	err = json.Unmarshal([]byte(raw), &s)
	return s, err
}

// raw takes the next value as it is written.
func (r *jsonReader) raw() (string, error) {
	r.space()
	from := r.at
	if from == len(r.s) {
		return "", errNotJSON
	}
	ok := true
	switch r.s[from] {
	case '"':
		ok = r.skipString()
	case '{', '[':
		ok = r.skipNest()
	default:
		for r.at < len(r.s) && !endsWord(r.s[r.at]) {
			r.at++
		}
	}
	if !ok || r.at == from {
		return "", errNotJSON
	}
	return r.s[from:r.at], nil
}

func endsWord(c byte) bool {
	switch c {
	case ',', ':', '}', ']', '{', '[', '"', ' ', '\n', '\t', '\r':
		return true
	}
	return false
}

// skipNest passes over the object or array that is next, if it ends.
func (r *jsonReader) skipNest() bool {
	for depth := 0; r.at < len(r.s); {
		switch r.s[r.at] {
		case '"':
			if !r.skipString() {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		r.at++
		if depth == 0 {
			return true
		}
	}
	return false
}

// skipString passes over the string that is next, if it ends.
func (r *jsonReader) skipString() bool {
	begin := r.at
	for at := begin + 1; ; {
		n := strings.IndexByte(r.s[at:], '"')
		if n < 0 {
			return false
		}
		at += n + 1
		slashes := 0
		for j := at - 2; j > begin && r.s[j] == '\\'; j-- {
			slashes++
		}
		if slashes%2 == 0 {
			r.at = at
			return true
		}
	}
}
