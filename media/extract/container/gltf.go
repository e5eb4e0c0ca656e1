package container

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
)

// glTF is what is read of a glTF asset (glTF 2.0, 3.2 and 3.3): who made it, and
// what its maker put into the fields for applications, the asset's or a scene's.
type glTF struct {
	Asset struct {
		Version   string          `json:"version"`
		Generator string          `json:"generator"`
		Copyright string          `json:"copyright"`
		Extras    json.RawMessage `json:"extras"`
	} `json:"asset"`
	Extras json.RawMessage `json:"extras"`
	Scenes []struct {
		Extras json.RawMessage `json:"extras"`
	} `json:"scenes"`
}

// readGLB reads the JSON chunk of a binary glTF file, which is its first.
func readGLB(s source) {
	s.file.MIME = "model/gltf-binary"
	h := s.peek(12, 8)
	if h == nil || string(h[4:]) != "JSON" {
		s.warn("the GLB file has no JSON chunk")
		return
	}
	n := int64(binary.LittleEndian.Uint32(h))
	if 20+n > s.size {
		s.cut("the GLB's JSON chunk")
		return
	}
	if n > maxDocument {
		s.warn("the GLB's JSON chunk is larger than %d MiB and was left out", maxDocument>>20)
		return
	}
	if b, ok := s.value("the GLB's JSON chunk", 20, n); ok {
		// Padding should be spaces; some writers take zeros.
		if !gltfChunks(s, "glb", bytes.TrimRight(b, "\x00")) {
			s.warn("the GLB's JSON chunk is not valid JSON")
		}
	}
}

// readGLTF reads a glTF asset that is a JSON file; other JSON gives nothing.
func readGLTF(s source) {
	if s.size > maxDocument {
		return
	}
	if b, ok := s.value("the glTF file", 0, s.size); ok && gltfChunks(s, "gltf", b) {
		s.file.MIME = "model/gltf+json"
	}
}

// maxScenes bounds the scenes whose fields are read; nearly all files have one.
const maxScenes = 16

// gltfChunks keeps the fields; false when b is no glTF asset.
func gltfChunks(s source, format string, b []byte) bool {
	var g glTF
	var mismatch *json.UnmarshalTypeError // of one field, which is left empty
	if err := decodeJSON(b, &g); err != nil && !errors.As(err, &mismatch) || g.Asset.Version == "" && format == "gltf" {
		return false
	}
	s.add(format+":asset", "generator", g.Asset.Generator)
	s.add(format+":asset", "copyright", g.Asset.Copyright)
	all := []json.RawMessage{g.Asset.Extras, g.Extras}
	for _, scene := range g.Scenes[:min(len(g.Scenes), maxScenes)] {
		all = append(all, scene.Extras)
	}
	for _, extras := range all {
		jsonFields(extras, func(key, text string) { s.add(format+":extras", key, text) })
	}
	return true
}

// isGLTF reports whether a file is glTF, by the asset object that it must have. It stands first
// in what most writers make.
func isGLTF(head []byte) bool {
	return startsObject(head) && bytes.Contains(head, []byte(`"asset"`)) && bytes.Contains(head, []byte(`"version"`))
}

// startsObject reports whether a text begins a JSON object.
func startsObject(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	return len(head) > 0 && head[0] == '{'
}
