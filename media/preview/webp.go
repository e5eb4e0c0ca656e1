package preview

import (
	"bytes"
	"encoding/binary"
	"io"
)

// firstFrame rewrites a WebP so that the still-picture decoder can take it: the
// first frame of an animation as a file of its own. It gives nil for any file
// that is no animated WebP. Dimensions are checked here against the frame's own
// header, because the decoder believes the canvas size and allocates by the
// frame's.
func firstFrame(r io.ReaderAt, size int64) ([]byte, error) {
	var head [12]byte
	if _, err := r.ReadAt(head[:], 0); err != nil || string(head[:4]) != "RIFF" || string(head[8:]) != "WEBP" {
		return nil, nil //nolint:nilerr // too short for a WebP is no WebP
	}
	for off := int64(12); off+8 <= size; {
		kind, length, err := chunkAt(r, off)
		if err != nil {
			return nil, err
		}
		if length > size-off-8 {
			return nil, io.ErrUnexpectedEOF
		}
		switch kind {
		case "VP8 ", "VP8L":
			return nil, checkFrame(r, kind, off+8)
		case "ANMF":
			return stillOf(r, off+8+16, off+8+length)
		}
		off += 8 + length + length&1
	}
	return nil, io.ErrUnexpectedEOF
}

// stillOf wraps the bitstream chunk found between two offsets as a WebP file.
func stillOf(r io.ReaderAt, off, end int64) ([]byte, error) {
	for off+8 <= end {
		kind, length, err := chunkAt(r, off)
		if err != nil {
			return nil, err
		}
		if length > end-off-8 {
			return nil, io.ErrUnexpectedEOF
		}
		if kind == "VP8 " || kind == "VP8L" {
			if err := checkFrame(r, kind, off+8); err != nil {
				return nil, err
			}
			var b bytes.Buffer
			b.WriteString("RIFF")
			_ = binary.Write(&b, binary.LittleEndian, uint32(4+8+length+length&1))
			b.WriteString("WEBP")
			if _, err := io.Copy(&b, io.NewSectionReader(r, off, 8+length)); err != nil {
				return nil, err
			}
			if length&1 == 1 {
				b.WriteByte(0)
			}
			return b.Bytes(), nil
		}
		off += 8 + length + length&1
	}
	return nil, io.ErrUnexpectedEOF
}

func chunkAt(r io.ReaderAt, off int64) (kind string, length int64, err error) {
	var h [8]byte
	if _, err := r.ReadAt(h[:], off); err != nil {
		return "", 0, err
	}
	return string(h[:4]), int64(binary.LittleEndian.Uint32(h[4:])), nil
}

// checkFrame reads the dimensions out of a bitstream's first bytes (RFC 9649 §2.5, §2.6).
func checkFrame(r io.ReaderAt, kind string, off int64) error {
	var h [10]byte
	n, _ := r.ReadAt(h[:], off)
	var w, ht int64
	switch {
	case kind == "VP8L" && n >= 5 && h[0] == 0x2f:
		bits := binary.LittleEndian.Uint32(h[1:])
		w, ht = int64(bits&0x3fff)+1, int64(bits>>14&0x3fff)+1
	case kind == "VP8 " && n == 10:
		w, ht = int64(binary.LittleEndian.Uint16(h[6:])&0x3fff), int64(binary.LittleEndian.Uint16(h[8:])&0x3fff)
	default:
		return io.ErrUnexpectedEOF
	}
	if w*ht > MaxPixels {
		return ErrTooLarge
	}
	return nil
}
