package extract

import (
	"bytes"
	"path"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"vitrine/media/extract/container"
)

// maxSidecar bounds what is read of one sidecar file.
const maxSidecar = 16 << 20

// sidecarChunks turns sidecar files into chunks like those of the file itself,
// so that the same readers read them. They come last: what the file itself says
// is read first.
func sidecarChunks(sidecars []Sidecar) []container.Chunk {
	var chunks []container.Chunk
	for _, s := range sidecars {
		chunks = append(chunks, sidecar(s)...)
	}
	return chunks
}

func sidecar(s Sidecar) []container.Chunk {
	if len(s.Data) == 0 || len(s.Data) > maxSidecar {
		return nil
	}
	kind := strings.ToLower(strings.TrimPrefix(path.Ext(s.Name), "."))
	place := "sidecar:" + kind
	if nested, err := container.Read(bytes.NewReader(s.Data), int64(len(s.Data))); err == nil && len(nested.Chunks) > 0 {
		for i := range nested.Chunks {
			nested.Chunks[i].Place = place + ":" + nested.Chunks[i].Place
		}
		return nested.Chunks
	}
	decoded, _, err := transform.Bytes(unicode.BOMOverride(encoding.Nop.NewDecoder()), s.Data)
	if err != nil {
		decoded = s.Data
	}
	text := strings.ToValidUTF8(string(decoded), "\uFFFD")
	return []container.Chunk{{Place: place, Key: sidecarKey(text), Text: text}}
}

// sidecarKey returns the name under which the text would stand inside a file.
func sidecarKey(text string) string {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return "parameters"
	}
	switch {
	case strings.Contains(text, `"class_type"`):
		return "prompt"
	case strings.Contains(text, `"nodes"`) && strings.Contains(text, `"links"`):
		return "workflow"
	}
	return "parameters"
}
