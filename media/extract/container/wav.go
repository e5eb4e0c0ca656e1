package container

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// readWAV walks the chunks of a WAV file: its format, its INFO list, an ID3 tag.
func readWAV(s source) {
	s.file.MIME = "audio/wav"
	var bytesPerSecond uint32
	walkRIFF(s, 12, nil, func(kind string, off, n int64) {
		switch kind {
		case "fmt ":
			if b := s.peek(off+8, 4); b != nil {
				bytesPerSecond = binary.LittleEndian.Uint32(b)
			}
		case "data":
			if bytesPerSecond > 0 {
				s.file.setDuration(1000 * float64(n) / float64(bytesPerSecond))
			}
		case "LIST":
			infoList(s.part(off, n), "wav:info")
		case "id3 ", "ID3 ":
			readID3(s.part(off, n))
		case "C2PA":
			riffCredentials(s, "wav:C2PA", off, n)
		}
	})
}

// readAVI walks the lists of an AVI file: its main header and its INFO list.
func readAVI(s source) {
	s.file.MIME = "video/x-msvideo"
	walkRIFF(s, 12, nil, func(kind string, off, n int64) {
		if kind == "C2PA" {
			riffCredentials(s, "avi:C2PA", off, n)
		}
		if kind != "LIST" {
			return
		}
		list := s.part(off, n)
		if string(list.front(4)) == "hdrl" {
			if h := list.peek(4, 48); h != nil && string(h[:4]) == "avih" {
				aviHeader(s.file, h[8:])
			}
			return
		}
		infoList(list, "avi:info")
	})
}

// riffCredentials keeps the content credentials in a chunk of a RIFF file.
func riffCredentials(s source, key string, off, n int64) {
	if b, ok := s.value("the content credentials", off, n); ok {
		s.addCredentials(key, b)
	}
}

// aviHeader reads the fixed fields of the main header.
func aviHeader(f *File, b []byte) {
	f.Frames = dimension(binary.LittleEndian.Uint32(b[16:]))
	f.Width = dimension(binary.LittleEndian.Uint32(b[32:]))
	f.Height = dimension(binary.LittleEndian.Uint32(b[36:]))
	f.setDuration(float64(f.Frames) * float64(binary.LittleEndian.Uint32(b)) / 1000)
}

// infoList keeps the texts of a RIFF INFO list, keyed by their chunk types:
// ICMT is a comment, INAM a title, ISFT a program.
func infoList(s source, place string) {
	if string(s.front(4)) != "INFO" {
		return
	}
	walkRIFF(s, 4, nil, func(kind string, off, n int64) {
		if b, ok := s.value("the "+printable(kind)+" field", off, n); ok {
			text := utf8OrLatin1(bytes.TrimRight(b, "\x00"))
			s.add(place, strings.TrimSpace(kind), text)
		}
	})
}
