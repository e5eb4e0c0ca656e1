package container

import "strings"

// heif reads the items of AVIF and HEIF files (ISO/IEC 23008-12): the picture's
// size, EXIF and XMP.
type heif struct {
	s       source
	found   bool
	primary int
	items   []heifItem
	where   map[int]heifLocation
	data    source        // the idat box, which small items stand in
	extents int           // of all items
	sizes   [][2]int      // width and height by property number; zero for other properties
	uses    map[int][]int // property numbers by item
}

type heifItem struct {
	id            int
	kind, content string // item type, and content type of a "mime" item
}

// heifLocation is where an item's bytes stand.
type heifLocation struct {
	inData  bool // in the idat box rather than in the file
	apart   bool // in another file or within another item, which is not read
	extents [][2]int64
}

// Limits of an item table.
const (
	maxItems = 4096 // items, and the pieces of all of them together
	maxTable = 4 << 20
)

func (h *heif) meta(s source, depth int) {
	if h.found {
		return
	}
	h.found = true
	h.where, h.uses = map[int]heifLocation{}, map[int][]int{}
	walkBoxes(s, depth+1, func(b box) {
		switch b.kind {
		case "pitm":
			c := cursor{b: b.body.front(8)}
			h.primary = int(c.uint(fullBox(&c, 2, 4, 4)))
		case "iinf":
			h.itemInfos(b)
		case "iloc":
			if v := table(b.body); v != nil {
				h.locations(cursor{b: v})
			}
		case "idat":
			h.data = b.body
		case "iprp":
			walkBoxes(b.body, b.depth+1, h.properties)
		}
	})
}

// table reads a box that is a table of numbers.
func table(s source) []byte {
	if s.size > maxTable {
		s.warn("an item table is larger than %d MiB and was left out", maxTable>>20)
		return nil
	}
	b, _ := s.value("an item table", 0, s.size)
	return b
}

// fullBox takes version and flags and gives the one of three widths that the
// version selects.
func fullBox(c *cursor, v0, v1, v2 int) int {
	version := c.u8()
	c.skip(3)
	return []int{v0, v1, v2}[min(version, 2)]
}

// pick returns the width of a field that depends on the version.
func pick(older bool, a, b int) int {
	if older {
		return a
	}
	return b
}

// itemInfos reads the kinds of all items.
func (h *heif) itemInfos(b box) {
	c := cursor{b: b.body.front(4)}
	head := int64(4 + fullBox(&c, 2, 4, 4)) // the count that follows is not needed
	walkBoxes(b.body.part(head, b.body.size), b.depth+1, func(b box) {
		c := cursor{b: b.body.front(512)}
		version := c.u8()
		c.skip(3)
		if b.kind != "infe" || version < 2 || len(h.items) == maxItems {
			return
		}
		item := heifItem{id: int(c.uint(pick(version == 2, 2, 4)))}
		c.skip(2) // protection
		item.kind = string(c.take(4))
		c.text() // name
		item.content = c.text()
		if !c.bad {
			h.items = append(h.items, item)
		}
	})
}

// locations reads where the items' bytes stand (ISO/IEC 14496-12, 8.11.3).
func (h *heif) locations(c cursor) {
	version := c.u8()
	c.skip(3)
	widths := c.u16()
	offset, length, base, index := widths>>12&15, widths>>8&15, widths>>4&15, widths&15
	wide := pick(version < 2, 2, 4)
	count := int(c.uint(wide))
	for range min(count, maxItems) {
		id := int(c.uint(wide))
		var l heifLocation
		if version > 0 {
			method := c.u16() & 15
			l.inData, l.apart = method == 1, method > 1
		} else {
			index = 0
		}
		l.apart = c.u16() != 0 && !l.inData || l.apart // the data reference
		start := int64(c.uint(base))
		extents := c.u16()
		if h.extents += extents; c.bad || h.extents > maxItems {
			return
		}
		for range extents {
			c.skip(index)
			l.extents = append(l.extents, [2]int64{start + int64(c.uint(offset)), int64(c.uint(length))})
		}
		if c.bad {
			return
		}
		h.where[id] = l
	}
}

// properties reads the sizes that exist and which item they belong to.
func (h *heif) properties(b box) {
	switch b.kind {
	case "ipco":
		walkBoxes(b.body, b.depth+1, func(b box) {
			var size [2]int
			if v := b.body.peek(4, 8); b.kind == "ispe" && v != nil {
				c := cursor{b: v}
				size = [2]int{dimension(uint32(c.uint(4))), dimension(uint32(c.uint(4)))}
			}
			if len(h.sizes) < maxItems {
				h.sizes = append(h.sizes, size)
			}
		})
	case "ipma":
		if v := table(b.body); v != nil {
			h.associations(cursor{b: v})
		}
	}
}

func (h *heif) associations(c cursor) {
	version := c.u8()
	c.skip(2)
	wide := c.u8()&1 + 1 // bytes per property number
	count := c.u32()
	for range min(count, maxItems) {
		id := int(c.uint(pick(version < 1, 2, 4)))
		n := c.u8()
		var properties []int
		for range n {
			properties = append(properties, int(c.uint(wide))&(1<<(8*wide-1)-1)) // the top bit means "essential"
		}
		if c.bad {
			return
		}
		h.uses[id] = properties
	}
}

// finish reads the size of the primary item, and the EXIF and XMP items.
func (h *heif) finish() {
	if !h.found || len(h.items) == 0 {
		return
	}
	h.size()
	place := "heif:exif"
	if h.s.file.MIME == "image/avif" {
		place = "avif:exif"
	}
	for _, item := range h.items {
		switch {
		case item.kind == "Exif":
			if s, ok := h.bytes(item); ok {
				readEXIF(exifItem(s), place)
			}
		case item.kind == "mime" && strings.Contains(item.content, "rdf+xml"):
			if s, ok := h.bytes(item); ok {
				readWholeXMP(s)
			}
		}
	}
}

// size takes the primary item's size, or the largest there is.
func (h *heif) size() {
	f := h.s.file
	for _, p := range h.uses[h.primary] {
		if p >= 1 && p <= len(h.sizes) && h.sizes[p-1][0] > 0 {
			f.Width, f.Height = h.sizes[p-1][0], h.sizes[p-1][1]
			return
		}
	}
	for _, size := range h.sizes {
		if size[0] > f.Width {
			f.Width, f.Height = size[0], size[1]
		}
	}
}

// bytes returns an item's bytes: in place when they are in one piece.
func (h *heif) bytes(item heifItem) (source, bool) {
	l, ok := h.where[item.id]
	in := h.s
	if l.inData {
		in = h.data
	}
	if !ok || l.apart || len(l.extents) == 0 || in.ledger == nil {
		return source{}, false
	}
	if len(l.extents) == 1 {
		at, n := l.extents[0][0], l.extents[0][1]
		if n == 0 { // up to the end
			n = in.size
		}
		return in.part(at, n), true
	}
	var joined []byte
	for _, x := range l.extents {
		b, ok := in.value("a "+printable(item.kind)+" item", x[0], x[1])
		if !ok || len(joined)+len(b) > maxValue {
			return source{}, false
		}
		joined = append(joined, b...)
	}
	return h.s.memory(joined), true
}

// exifItem skips the offset that precedes EXIF in an item; some writers forget it.
func exifItem(s source) source {
	b := s.peek(0, 4)
	if b == nil || isTIFF(b) || string(b) == "Exif" {
		return s
	}
	c := cursor{b: b}
	if skip := int64(c.u32()); skip < s.size-4 {
		return s.part(4+skip, s.size)
	}
	return s.part(4, s.size)
}
