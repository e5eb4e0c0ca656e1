package e2e

import (
	"encoding/binary"
	"hash/crc32"
)

// withText puts a tEXt chunk behind the header of a PNG.
func withText(png []byte, key, value string) []byte {
	return withChunk(png, "tEXt", append([]byte(key+"\x00"), value...))
}

// withChunk puts a chunk of any kind behind the header of a PNG.
func withChunk(png []byte, kind string, data []byte) []byte {
	const header = 8 + 25 // signature and IHDR
	body := append([]byte(kind), data...)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	chunk = append(chunk, body...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(body))
	out := append([]byte{}, png[:header]...)
	return append(append(out, chunk...), png[header:]...)
}
