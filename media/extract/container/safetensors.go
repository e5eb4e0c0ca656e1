package container

import (
	"encoding/binary"
)

// isSafetensors reports whether a file is of safetensors: eight bytes of header length, then a
// JSON object. ComfyUI's .latent files have the same form.
func isSafetensors(head []byte) bool {
	if len(head) < 10 || head[8] != '{' || head[9] != '"' && head[9] != ' ' && head[9] != '}' && head[9] != '\n' {
		return false
	}
	n := binary.LittleEndian.Uint64(head)
	return n >= 2 && n < 100<<20 // the format's own limit
}

// readSafetensors keeps the free-form metadata of a safetensors header.
func readSafetensors(s source) {
	s.file.MIME = "application/x-safetensors"
	n := int64(binary.LittleEndian.Uint64(s.front(8)))
	if 8+n > s.size {
		s.cut("the safetensors header")
		return
	}
	if n > maxDocument {
		s.warn("the safetensors header is larger than %d MiB and was left out", maxDocument>>20)
		return
	}
	b, ok := s.value("the safetensors header", 8, n)
	if !ok {
		return
	}
	metadata := ""
	if !members(string(b), func(key, raw string) {
		if key == "__metadata__" {
			metadata = raw
		}
	}) {
		s.warn("the safetensors header is not valid JSON")
		return
	}
	jsonFields(metadata, func(key, text string) { s.add("safetensors:metadata", key, text) })
}
