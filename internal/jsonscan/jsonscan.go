// Package jsonscan reads JSON that encoding/json does not serve: documents that
// are not quite JSON, documents of which little is wanted, and documents that come
// too often. It also writes those that go out as often.
//
// Parse decodes untrusted documents into a tree of Values, within a budget and as
// Python writes them. A Reader goes through a document once, from front to back,
// hands its parts to whoever wants them and passes over the rest. A Reader finds
// where values begin and end and leaves their numbers and words to whoever takes
// them, so it does not notice every error of a document.
package jsonscan

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// ErrNotJSON means that a document is cut short or otherwise no JSON.
var ErrNotJSON = errors.New("not JSON")

// Reader stands before a value of a document. Strings that it gives are parts of
// the document and keep it in memory.
type Reader struct {
	s  string
	at int
}

// New returns a Reader at the start of a document.
func New(doc []byte) *Reader { return NewText(string(doc)) }

// NewText is New for a document in a string, which is not copied.
func NewText(doc string) *Reader { return &Reader{s: doc} }

// Object calls member with each key, while the value is next. What member does
// not take is passed over. Of null there are no members.
func (r *Reader) Object(member func(key string) error) error {
	if r.Null() {
		return nil
	}
	return r.list('{', '}', func() error {
		key, err := r.Text()
		if err != nil {
			return err
		}
		if !r.take(':') {
			return ErrNotJSON
		}
		return r.value(func() error { return member(key) })
	})
}

// Array calls element with each element, which is next. What element does not
// take is passed over. Of null there are no elements.
func (r *Reader) Array(element func() error) error {
	if r.Null() {
		return nil
	}
	return r.list('[', ']', func() error { return r.value(element) })
}

func (r *Reader) list(begin, end byte, item func() error) error {
	if !r.take(begin) {
		return ErrNotJSON
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
func (r *Reader) value(take func() error) error {
	r.space()
	before := r.at
	if err := take(); err != nil {
		return err
	}
	if r.at > before {
		return nil
	}
	_, err := r.Raw()
	return err
}

// Null passes over the word null when it is next.
func (r *Reader) Null() bool {
	r.space()
	if !strings.HasPrefix(r.s[r.at:], "null") {
		return false
	}
	r.at += len("null")
	return true
}

// take passes over one character when it is next.
func (r *Reader) take(c byte) bool {
	r.space()
	if r.at == len(r.s) || r.s[r.at] != c {
		return false
	}
	r.at++
	return true
}

func (r *Reader) space() {
	for r.at < len(r.s) {
		switch r.s[r.at] {
		case ' ', '\n', '\t', '\r':
			r.at++
		default:
			return
		}
	}
}

// Into decodes the next value with encoding/json.
func (r *Reader) Into(v any) error {
	raw, err := r.Raw()
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(raw), v)
}

// Optional takes a string that may be null.
func (r *Reader) Optional() (*string, error) {
	if r.Null() {
		return nil, nil
	}
	s, err := r.Text()
	return &s, err
}

// Text takes a string; null is an empty one.
func (r *Reader) Text() (string, error) {
	if r.Null() {
		return "", nil
	}
	if r.at == len(r.s) || r.s[r.at] != '"' {
		return "", ErrNotJSON
	}
	raw, err := r.Raw()
	if err != nil {
		return "", err
	}
	if strings.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], nil
	}
	p := parser{s: raw}
	s, ok := p.str()
	if !ok {
		return "", ErrNotJSON
	}
	return s, nil
}

// Int takes a whole number; null is 0.
func (r *Reader) Int() (int64, error) {
	raw, err := r.Raw()
	if err != nil || raw == "null" {
		return 0, err
	}
	return strconv.ParseInt(raw, 10, 64)
}

// Float takes a number; null is 0.
func (r *Reader) Float() (float64, error) {
	raw, err := r.Raw()
	if err != nil || raw == "null" {
		return 0, err
	}
	return strconv.ParseFloat(raw, 64)
}

// Bool takes true or false; null is false.
func (r *Reader) Bool() (bool, error) {
	raw, err := r.Raw()
	return raw == "true", err
}

// Texts takes an array of strings.
func (r *Reader) Texts() (list []string, err error) {
	err = r.Array(func() error {
		s, err := r.Text()
		list = append(list, s)
		return err
	})
	return list, err
}

// Raw takes the next value as it is written.
func (r *Reader) Raw() (string, error) {
	r.space()
	from := r.at
	if from == len(r.s) {
		return "", ErrNotJSON
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
		return "", ErrNotJSON
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
func (r *Reader) skipNest() bool {
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
func (r *Reader) skipString() bool {
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
