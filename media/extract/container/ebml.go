package container

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// element is one element of an EBML document (RFC 8794).
type element struct {
	id   uint32
	at   int64 // where it begins, in the range it was found in
	next int64 // where the one behind it begins
	body source
	open bool // its size is unknown: it ends where its parent's next child begins
	cut  bool // it is longer than what encloses it
}

// nextElement reads the header of the element at off.
func nextElement(s source, off int64) (element, bool) {
	h := s.peek(off, min(12, s.size-off))
	if len(h) < 2 || h[0] == 0 {
		return element{}, false
	}
	idLen := bits.LeadingZeros8(h[0]) + 1
	if idLen > 4 || len(h) <= idLen || h[idLen] == 0 {
		return element{}, false
	}
	e := element{at: off}
	for _, b := range h[:idLen] {
		e.id = e.id<<8 | uint32(b)
	}
	sizeLen := bits.LeadingZeros8(h[idLen]) + 1
	if len(h) < idLen+sizeLen {
		return element{}, false
	}
	var size uint64
	for _, b := range h[idLen : idLen+sizeLen] {
		size = size<<8 | uint64(b)
	}
	size &= 1<<(7*sizeLen) - 1
	start := off + int64(idLen+sizeLen)
	e.open = size == 1<<(7*sizeLen)-1
	e.cut = !e.open && size > uint64(s.size-start)
	e.body = s.part(start, int64(min(size, math.MaxInt64/2)))
	e.next = start + e.body.size
	return e, true
}

// walkElements visits the elements in s, one level deep, until visit says stop.
func walkElements(s source, visit func(e element) (more bool)) {
	for off := int64(0); off < s.size && s.step(); {
		e, ok := nextElement(s, off)
		if !ok || !visit(e) {
			return
		}
		off = e.next
	}
}

// integer returns an unsigned integer element's value, 0 for none.
func (e element) integer() uint64 {
	c := cursor{b: e.body.front(8)}
	return c.uint(len(c.b))
}

// float returns a float element's value, 0 for none.
func (e element) float() float64 {
	b := e.body.front(8)
	switch len(b) {
	case 4:
		return float64(math.Float32frombits(binary.BigEndian.Uint32(b)))
	case 8:
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	}
	return 0
}

// text returns a string element's value.
func (e element) text(what string) string {
	b, ok := e.body.value(what, 0, e.body.size)
	if !ok {
		return ""
	}
	return utf8OrLatin1(b)
}
