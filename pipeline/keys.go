package pipeline

import (
	"encoding/binary"
	"math"
	"strings"

	"vitrine/pipeline/expr"
)

// The bytes that begin a part of a sort key: what is missing comes last, in either order.
const (
	keyPresent = 1
	keyMissing = 2
)

// maxKeyText is how many bytes of a text are compared.
const maxKeyText = 1000

// appendKey appends a value to a key that is compared byte by byte as values are compared.
func appendKey(key []byte, v expr.Value, descending bool) []byte {
	if v.IsMissing() {
		return append(key, keyMissing)
	}
	key = append(key, keyPresent)
	from := len(key)
	key = append(key, keyOf(v)...)
	if descending {
		for i := from; i < len(key); i++ {
			key[i] = ^key[i]
		}
	}
	return key
}

// keyOf returns the bytes of a value: eight of a number's size and eight that tell whole
// numbers apart that are larger than a float holds; texts folded, with an end that no text has.
func keyOf(v expr.Value) []byte {
	switch v.Type() {
	case expr.Number:
		n, whole := v.Number()
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, orderedBits(n)), whole)
	case expr.Date:
		return binary.BigEndian.AppendUint64(nil, uint64(v.Millis())^1<<63) //nolint:gosec // the order of the bits is what counts
	case expr.Bool:
		if v.IsTrue() {
			return []byte{1}
		}
		return []byte{0}
	}
	s := strings.ToLower(v.String())
	s = strings.ReplaceAll(s[:min(len(s), maxKeyText)], "\x00", "\x01")
	return append([]byte(s), 0)
}

// orderedBits returns bits whose order as a whole number is that of the float.
func orderedBits(n float64) uint64 {
	if n == 0 {
		n = 0 // one zero
	}
	bits := math.Float64bits(n)
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}
