package strip

import (
	"encoding/binary"
	"slices"
)

// items rewrites the meta box of an AVIF or HEIC, which lists the file's items: those of
// metadata are taken off the lists and their bytes overwritten. The box keeps its size,
// because places in the file are counted from its start.
func (b *bmff) items(off, start, n int64) error {
	body, err := b.in.bytes(off+start, n-start)
	if err != nil {
		return err
	}
	if len(body) < 4 {
		return damaged("its list of items is too short")
	}
	boxes, err := splitBoxes(body[4:])
	if err != nil {
		return err
	}
	gone := goneItems(boxes["iinf"], b.edit.keep)
	var out []byte
	for _, kind := range orderOf(body[4:]) {
		data, keep, err := b.itemBox(kind, boxes, gone)
		if err != nil {
			return err
		}
		if keep {
			out = append(out, box(kind, data)...)
		}
	}
	for _, kind := range gone {
		b.plan.drop("item " + printable(kind))
	}
	rest := len(body) - 4 - len(out)
	if rest != 0 && rest < 8 {
		return &Error{CodeUnsupported, "The list of items of this file has no room to be rewritten. Export it in another format."}
	}
	if rest > 0 {
		out = append(out, box("free", make([]byte, rest-8))...)
	}
	b.blanks.put(off+start+4, out)
	return nil
}

// itemBox returns the body of one of the boxes that list items, without the items that are
// gone. keep is false for a box that is left out.
func (b *bmff) itemBox(kind string, boxes map[string][]byte, gone map[uint32]string) (data []byte, keep bool, err error) {
	data = boxes[kind]
	switch kind {
	case "iinf":
		data = withoutInfo(data, gone)
	case "iloc":
		data, err = b.itemPlaces(data, boxes["idat"], gone)
	case "iref":
		data = withoutReferences(data, gone)
	case "hdlr":
		data = slices.Clone(data)
		clear(data[min(24, len(data)):])
	case "iprp":
		data = cleanProperties(data)
	case "pitm", "idat", "grpl", "dinf":
	case "free", "skip":
		return nil, false, nil
	default:
		b.plan.drop(printable(kind))
		return nil, false, nil
	}
	return data, err == nil, err
}

// itemPlaces overwrites the bytes of the items that are gone, in idat or elsewhere in the
// file, and returns the list of places without them.
func (b *bmff) itemPlaces(iloc, idat []byte, gone map[uint32]string) (kept []byte, err error) {
	places, kept, err := withoutPlaces(iloc, gone)
	if err != nil {
		return nil, err
	}
	for _, at := range places {
		if at.inside {
			if err := blankInside(idat, at); err != nil {
				return nil, err
			}
		} else if at.off < 0 || at.off+at.n > b.in.size {
			return nil, damaged("an item is outside of the file")
		} else {
			b.blanks.zero(at.off, at.n)
		}
	}
	return kept, nil
}

// cleanProperties returns the properties of items with color profiles that have no texts.
func cleanProperties(iprp []byte) []byte {
	out := slices.Clone(iprp)
	boxes, err := splitBoxes(out)
	if err != nil {
		return out
	}
	for list := boxes["ipco"]; len(list) >= 8; {
		n := int(binary.BigEndian.Uint32(list))
		if n < 8 || n > len(list) {
			break
		}
		switch kind := string(list[4:8]); kind {
		case "colr":
			cleanColors(list[8:n])
		case "free", "skip", "udes": // space, and descriptions by users
			clear(list[8:n])
		}
		list = list[n:]
	}
	return out
}

// splitBoxes returns the bodies of a sequence of boxes by their kinds.
func splitBoxes(data []byte) (map[string][]byte, error) {
	out := map[string][]byte{}
	for at := 0; at+8 <= len(data); {
		n := int(binary.BigEndian.Uint32(data[at:]))
		if n < 8 || n > len(data)-at {
			return nil, damaged("a box of its list of items reaches beyond its end")
		}
		kind := string(data[at+4 : at+8])
		if _, twice := out[kind]; !twice {
			out[kind] = data[at+8 : at+n]
		}
		at += n
	}
	return out, nil
}

// orderOf returns the kinds of a sequence of boxes in their order, each once.
func orderOf(data []byte) (kinds []string) {
	for at := 0; at+8 <= len(data); at += int(binary.BigEndian.Uint32(data[at:])) {
		if kind := string(data[at+4 : at+8]); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// goneItems returns the items of metadata by their numbers, with their kinds.
func goneItems(iinf []byte, keep Keep) map[uint32]string {
	gone := map[uint32]string{}
	eachInfo(iinf, func(id uint32, kind string, _ []byte) {
		if kind == "Exif" && !keep.exif() || (kind == "mime" || kind == "uri " || kind == "jumb" || kind == "c2pa") && !keep.xmp() {
			gone[id] = kind
		}
	})
	return gone
}

// eachInfo calls fn with the entries of a list of items.
func eachInfo(iinf []byte, fn func(id uint32, kind string, whole []byte)) {
	at := infoStart(iinf)
	for at > 0 && at+8 <= len(iinf) {
		n := int(binary.BigEndian.Uint32(iinf[at:]))
		if n < 20 || n > len(iinf)-at {
			return
		}
		whole := iinf[at : at+n]
		if whole[8] == 2 {
			fn(uint32(binary.BigEndian.Uint16(whole[12:])), string(whole[16:20]), whole)
		} else if whole[8] == 3 && n >= 22 {
			fn(binary.BigEndian.Uint32(whole[12:]), string(whole[18:22]), whole)
		}
		at += n
	}
}

func infoStart(iinf []byte) int {
	switch {
	case len(iinf) >= 6 && iinf[0] == 0:
		return 6
	case len(iinf) >= 8:
		return 8
	}
	return 0
}

// withoutInfo takes entries off a list of items, and the names that entries have.
func withoutInfo(iinf []byte, gone map[uint32]string) []byte {
	at := infoStart(iinf)
	if at == 0 {
		return iinf
	}
	out, count := slices.Clone(iinf[:at]), 0
	eachInfo(iinf, func(id uint32, _ string, whole []byte) {
		if gone[id] == "" {
			whole = slices.Clone(whole)
			fixed := 20
			if whole[8] == 3 {
				fixed = 22
			}
			clear(whole[min(fixed, len(whole)):])
			out = append(out, whole...)
			count++
		}
	})
	if at == 6 {
		binary.BigEndian.PutUint16(out[4:], uint16(count))
	} else {
		binary.BigEndian.PutUint32(out[4:], uint32(count))
	}
	return out
}

// place is where bytes of an item are: in the file, or inside of the list's own data.
type place struct {
	off, n int64
	inside bool
}

func blankInside(idat []byte, at place) error {
	if at.off < 0 || at.off > int64(len(idat)) || at.n > int64(len(idat))-at.off {
		return damaged("an item is outside of its data")
	}
	clear(idat[at.off : at.off+at.n])
	return nil
}

// number reads a number of 0, 4 or 8 bytes.
type numbers struct {
	data []byte
	at   int
	bad  bool
}

func (r *numbers) next(n int) (v int64) {
	if r.bad || n > len(r.data)-r.at {
		r.bad = true
		return 0
	}
	for _, b := range r.data[r.at : r.at+n] {
		v = v<<8 | int64(b)
	}
	r.at += n
	return v
}

// withoutPlaces takes entries off the list of places and returns where they were.
func withoutPlaces(iloc []byte, gone map[uint32]string) (places []place, out []byte, err error) {
	if len(iloc) < 8 {
		return nil, nil, damaged("its list of places is too short")
	}
	version := iloc[0]
	sizes := [4]int{int(iloc[4] >> 4), int(iloc[4] & 15), int(iloc[5] >> 4), int(iloc[5] & 15)} // offset, length, base, index
	if version == 0 {
		sizes[3] = 0
	}
	wide := 2
	if version == 2 {
		wide = 4
	}
	r := &numbers{data: iloc, at: 6}
	count, kept := r.next(wide), 0
	out = slices.Clone(iloc[:min(r.at, len(iloc))])
	for range count {
		from := r.at
		id, inside := uint32(r.next(wide)), false
		if version > 0 {
			inside = r.next(2)&15 == 1
		}
		r.next(2)
		base := r.next(sizes[2])
		var mine []place
		for range r.next(2) {
			r.next(sizes[3])
			off := base + r.next(sizes[0])
			mine = append(mine, place{off, r.next(sizes[1]), inside})
			if r.bad {
				return nil, nil, damaged("its list of places is cut")
			}
		}
		if gone[id] == "" {
			out = append(out, iloc[from:r.at]...)
			kept++
		} else {
			places = append(places, mine...)
		}
	}
	if r.bad {
		return nil, nil, damaged("its list of places is cut")
	}
	if wide == 2 {
		binary.BigEndian.PutUint16(out[6:], uint16(kept))
	} else {
		binary.BigEndian.PutUint32(out[6:], uint32(kept))
	}
	return places, out, nil
}

// withoutReferences takes the references of items off that are gone.
func withoutReferences(iref []byte, gone map[uint32]string) []byte {
	if len(iref) < 4 {
		return iref
	}
	wide := 2
	if iref[0] == 1 {
		wide = 4
	}
	out := slices.Clone(iref[:4])
	for at := 4; at+8 <= len(iref); {
		n := int(binary.BigEndian.Uint32(iref[at:]))
		if n < 8+wide || n > len(iref)-at {
			break
		}
		r := &numbers{data: iref, at: at + 8}
		if gone[uint32(r.next(wide))] == "" {
			out = append(out, iref[at:at+n]...)
		}
		at += n
	}
	return out
}
