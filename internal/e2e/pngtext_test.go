package e2e

import (
	"encoding/binary"
	"hash/crc32"
)

// withText puts a tEXt chunk behind the header of a PNG.
func withText(png []byte, key, value string) []byte {
	const header = 8 + 25 // signature and IHDR
	body := append([]byte("tEXt"+key+"\x00"), value...)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(body)-4))
	chunk = append(chunk, body...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(body))
	out := append([]byte{}, png[:header]...)
	return append(append(out, chunk...), png[header:]...)
}
