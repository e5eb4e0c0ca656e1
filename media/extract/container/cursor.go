package container

import (
	"bytes"
	"encoding/binary"
)

// cursor takes big-endian fields off the front of a byte slice. Once it has run
// out, everything it gives is zero and bad stays set.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b) {
		c.b, c.bad = nil, true
		return nil
	}
	out := c.b[:n]
	c.b = c.b[n:]
	return out
}

func (c *cursor) skip(n int) { c.take(n) }

// uint takes an unsigned integer of 0 to 8 bytes.
func (c *cursor) uint(n int) uint64 {
	var v uint64
	for _, x := range c.take(n) {
		v = v<<8 | uint64(x)
	}
	return v
}

func (c *cursor) u8() int  { return int(c.uint(1)) }
func (c *cursor) u16() int { return int(c.uint(2)) }
func (c *cursor) u32() int { return int(c.uint(4)) }

// le32 takes a little-endian integer.
func (c *cursor) le32() int {
	if b := c.take(4); b != nil {
		return int(binary.LittleEndian.Uint32(b))
	}
	return 0
}

// text takes what precedes the next NUL, or all that is left.
func (c *cursor) text() string {
	head, rest, _ := bytes.Cut(c.b, []byte{0})
	c.b = rest
	return utf8OrLatin1(head)
}
