package c2pa

import (
	"bytes"
	"encoding/binary"
	"math"
)

// Limits of one manifest store.
const (
	maxDepth   = 16
	maxBoxes   = 4096
	maxContent = 4 << 20 // bytes of one CBOR box
)

// superbox is a JUMBF superbox: a label and what it holds (ISO 19566-5).
type superbox struct {
	label    string
	cbor     []byte // the first CBOR box in it
	children []superbox
}

// child returns the first child with this label.
func (s *superbox) child(label string) *superbox {
	for i := range s.children {
		if s.children[i].label == label {
			return &s.children[i]
		}
	}
	return nil
}

// walker reads superboxes and counts them.
type walker struct{ boxes int }

// superboxes reads the superboxes that b consists of. What is broken ends the
// reading; what precedes it counts.
func (w *walker) superboxes(b []byte, depth int) []superbox {
	var all []superbox
	w.each(b, func(kind string, body []byte) {
		if kind == "jumb" && depth < maxDepth {
			all = append(all, w.superbox(body, depth))
		}
	})
	return all
}

func (w *walker) superbox(b []byte, depth int) superbox {
	var s superbox
	w.each(b, func(kind string, body []byte) {
		switch {
		case kind == "jumd" && s.label == "":
			s.label = label(body)
		case kind == "cbor" && s.cbor == nil && len(body) <= maxContent:
			s.cbor = body
		case kind == "jumb" && depth+1 < maxDepth:
			s.children = append(s.children, w.superbox(body, depth+1))
		}
	})
	return s
}

// each visits the boxes in b: length, type, and a 64-bit length if the first is 1.
func (w *walker) each(b []byte, visit func(kind string, body []byte)) {
	for len(b) >= 8 && w.boxes < maxBoxes {
		w.boxes++
		n, head, kind := uint64(binary.BigEndian.Uint32(b)), 8, string(b[4:8])
		switch {
		case n == 0: // up to the end
			n = uint64(len(b))
		case n == 1 && len(b) >= 16:
			n, head = min(binary.BigEndian.Uint64(b[8:]), math.MaxInt64), 16
		}
		if n < uint64(head) || n > uint64(len(b)) {
			return
		}
		visit(kind, b[head:n])
		b = b[n:]
	}
}

// label reads a description box: type, toggles, and the label if toggle 2 is on.
func label(b []byte) string {
	if len(b) < 17 || b[16]&2 == 0 {
		return ""
	}
	text, _, _ := bytes.Cut(b[17:], []byte{0})
	return string(bytes.ToValidUTF8(text, []byte("\uFFFD")))
}
