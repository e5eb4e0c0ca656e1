package strip

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// nalCoding is how a film's pictures are coded in NAL units, as H.264 and H.265 do.
type nalCoding struct {
	hevc   bool
	length int64 // bytes of the number before each unit
}

// seiKept are the messages that an encoder may send beside its pictures (SEI), by their type, with
// the most bytes that one needs: they say when and how a picture is shown. All others go: encoders write their
// settings into them, and generators their prompts.
var seiKept = map[int]int{0: 128, 1: 128, 2: 64, 6: 8, 19: 256, 45: 16, 47: 16, 129: 64, 130: 128, 132: 64, 137: 24, 144: 4, 147: 1, 148: 8}

const seiFiller = 3 // the type of a message that is to be skipped

// unitName is what a unit that goes is named in the list of what was removed.
const unitName = "SEI user data"

// avcUnits and hevcUnits are the types of units that pictures are made of.
var (
	avcUnits  = []byte{1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 13, 14, 15, 19, 20, 21}
	hevcUnits = []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 18, 19, 20, 21, 32, 33, 34, 35, 36, 37, 62, 63}
)

// unit returns the type of a NAL unit, the length of its header, and whether it holds SEI messages.
func (c nalCoding) unit(first byte) (kind byte, header int, sei bool) {
	if c.hevc {
		kind = first >> 1 & 63
		return kind, 2, kind == 39 || kind == 40
	}
	kind = first & 31
	return kind, 1, kind == 6
}

// needed reports whether units of a type stay as they are.
func (c nalCoding) needed(first byte) bool {
	kind, _, _ := c.unit(first)
	if c.hevc {
		return slices.Contains(hevcUnits, kind)
	}
	return slices.Contains(avcUnits, kind)
}

// clean returns what is written in place of a unit: one of the same length without what goes;
// nil where all of it stays.
func (c nalCoding) clean(unit []byte) []byte {
	if len(unit) == 0 || c.needed(unit[0]) {
		return nil
	}
	_, header, sei := c.unit(unit[0])
	if len(unit) <= header || c.blank(unit) {
		return nil
	}
	if !sei {
		return c.fill(unit[:header], nil, len(unit))
	}
	kept, all := seiMessages(unescape(unit[header:]))
	if all {
		return nil
	}
	return c.fill(unit[:header], kept, len(unit))
}

// blank reports whether a unit is one that has been overwritten before.
func (c nalCoding) blank(unit []byte) bool {
	return bytes.Equal(unit, c.fill(unit[:min(2, len(unit))], nil, len(unit)))
}

// fill returns a unit of n bytes that has the messages and otherwise nothing.
func (c nalCoding) fill(header, messages []byte, n int) []byte {
	head := []byte{6}
	if c.hevc {
		head = []byte{39 << 1, 1}
		if kind := header[0] >> 1 & 63; kind == 40 {
			head[0] = 40 << 1
		}
		if len(header) > 1 {
			head[0], head[1] = head[0]|header[0]&1, header[1]
		}
	}
	room := n - len(head) - len(messages) - 1
	for free := room; free >= 0 && free > room-64; free-- {
		out := append(fillers(free), messages...)
		out = append(slices.Clone(head), escape(append(out, 0x80))...)
		if len(out) == n && (free == 0 || free > 1) {
			return out
		}
	}
	if len(messages) > 0 {
		return c.fill(header, nil, n)
	}
	out := append([]byte{12}, bytes.Repeat([]byte{0xff}, n)...) // too short for a message: a unit of filler
	if c.hevc {
		out = append([]byte{38 << 1, 1}, out[1:]...)
	}
	out = out[:n]
	if n > len(head) {
		out[n-1] = 0x80
	}
	return out
}

// fillers returns messages to be skipped of n bytes in all; n is not 1.
func fillers(n int) []byte {
	if n < 2 {
		return nil
	}
	for k := 1; k < n; k++ {
		size := n - 1 - k
		if size/255+1 < k {
			break
		}
		if size/255+1 == k {
			out := append([]byte{seiFiller}, bytes.Repeat([]byte{0xff}, k-1)...)
			return append(append(out, byte(size%255)), bytes.Repeat([]byte{0xff}, size)...)
		}
	}
	return append(fillers(2), fillers(n-2)...)
}

// seiMessages returns those messages of a unit's payload that stay, and whether those are all of it.
func seiMessages(payload []byte) (kept []byte, all bool) {
	all = true
	for at := 0; at < len(payload); {
		if payload[at] == 0x80 && len(bytes.Trim(payload[at+1:], "\x00")) == 0 {
			return kept, all
		}
		from, kind, size := at, 0, 0
		kind, at = seiNumber(payload, at)
		size, at = seiNumber(payload, at)
		if size > len(payload)-at {
			return kept, false
		}
		body := payload[at : at+size]
		at += size
		if most, known := seiKept[kind]; known && size <= most || kind == 4 && broadcast(body) {
			kept = append(kept, payload[from:at]...)
		} else if kind != seiFiller || len(bytes.Trim(body, "\xff")) > 0 {
			all = false
		}
	}
	return kept, all
}

// seiNumber reads a number of a message's head.
func seiNumber(b []byte, at int) (v, next int) {
	for at < len(b) && b[at] == 0xff {
		v, at = v+255, at+1
	}
	if at < len(b) {
		v, at = v+int(b[at]), at+1
	}
	return v, at
}

// broadcast reports whether registered user data is what broadcasters define: captions, how a
// picture fills its frame, and dynamic brightness.
func broadcast(b []byte) bool {
	return len(b) >= 7 && b[0] == 0xb5 && (b[1] == 0 && b[2] == 0x31 && (string(b[3:7]) == "GA94" || string(b[3:7]) == "DTG1") || b[1] == 0 && b[2] == 0x3c)
}

// unescape takes out the bytes that keep a unit from looking like the start of another.
func unescape(b []byte) []byte {
	out := make([]byte, 0, len(b))
	zeros := 0
	for _, c := range b {
		if zeros >= 2 && c == 3 {
			zeros = 0
			continue
		}
		if zeros++; c != 0 {
			zeros = 0
		}
		out = append(out, c)
	}
	return out
}

// escape is the inverse of unescape.
func escape(b []byte) []byte {
	out := make([]byte, 0, len(b)+8)
	zeros := 0
	for _, c := range b {
		if zeros >= 2 && c <= 3 {
			out, zeros = append(out, 3), 0
		}
		if zeros++; c != 0 {
			zeros = 0
		}
		out = append(out, c)
	}
	return out
}

// maxUnit is the longest unit beside pictures that is read; a longer one is overwritten unread.
const maxUnit = 1 << 20

// cleanUnits overwrites what goes in the units that stand from off to end of the input.
func (c nalCoding) cleanUnits(w *window, blanks *blanks, p *plan, off, end int64) error {
	for off+c.length < end {
		head, err := w.bytes(off, c.length+1)
		if err != nil {
			return err
		}
		n := int64(0)
		for _, x := range head[:c.length] {
			n = n<<8 | int64(x)
		}
		off += c.length
		n = min(n, end-off)
		if n > 0 && !c.needed(head[c.length]) {
			unit, err := w.bytes(off, min(n, maxUnit))
			if err != nil {
				return err
			}
			if n > maxUnit {
				unit = append(slices.Clone(unit), make([]byte, n-maxUnit)...)
			}
			if clean := c.clean(unit); clean != nil {
				p.drop(unitName)
				blanks.put(off, clean)
			}
		}
		off += n
	}
	return nil
}

// configuration reads a decoder's configuration (avcC or hvcC) and returns how its units are coded.
// Units in it that go are overwritten in place, as is what stands behind its lists.
func configuration(conf []byte, hevc bool, p *plan) (c nalCoding, ok bool) {
	c.hevc = hevc
	var lists [][2]int // of units: how many, and where they begin
	switch {
	case hevc && len(conf) >= 23:
		c.length = int64(conf[21]&3) + 1
		at := 23
		for range conf[22] {
			if at+3 > len(conf) {
				return c, true
			}
			n := int(binary.BigEndian.Uint16(conf[at+1:]))
			lists = append(lists, [2]int{n, at + 3})
			at = unitsEnd(conf, n, at+3)
		}
	case !hevc && len(conf) >= 7:
		c.length = int64(conf[4]&3) + 1
		return c, true
	default:
		return c, false
	}
	for _, l := range lists {
		at := l[1]
		for range l[0] {
			if at+2 > len(conf) {
				break
			}
			n := min(int(binary.BigEndian.Uint16(conf[at:])), len(conf)-at-2)
			if clean := c.clean(conf[at+2 : at+2+n]); clean != nil {
				p.drop(unitName)
				copy(conf[at+2:], clean)
			}
			at += 2 + n
		}
	}
	return c, true
}

// unitsEnd returns where a list of n units ends.
func unitsEnd(conf []byte, n, at int) int {
	for range n {
		if at+2 > len(conf) {
			return len(conf)
		}
		at += 2 + int(binary.BigEndian.Uint16(conf[at:]))
	}
	return at
}
