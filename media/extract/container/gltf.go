package container

import (
	"bytes"
	"encoding/binary"

	"vitrine/internal/jsonscan"
)

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

// gltfChunks keeps what a glTF asset (glTF 2.0, 3.2 and 3.3) says of the program
// that wrote it, and what that program put into the fields for applications, the
// asset's or a scene's. It is false when b is no glTF asset.
func gltfChunks(s source, format string, b []byte) bool {
	var asset, extras, scenes string
	ok := members(string(b), func(key, raw string) {
		switch key {
		case "asset":
			asset = raw
		case "extras":
			extras = raw
		case "scenes":
			scenes = raw
		}
	})
	own := map[string]string{}
	members(asset, func(key, raw string) { own[key] = raw })
	if !ok || own["version"] == "" && format == "gltf" {
		return false
	}
	for _, key := range []string{"generator", "copyright"} {
		if text, err := jsonscan.NewText(own[key]).Text(); err == nil {
			s.add(format+":asset", key, text)
		}
	}
	for _, object := range append([]string{own["extras"], extras}, sceneExtras(scenes)...) {
		jsonFields(object, func(key, text string) { s.add(format+":extras", key, text) })
	}
	return true
}

// sceneExtras returns the fields for applications of the first scenes.
func sceneExtras(scenes string) []string {
	var all []string
	r := jsonscan.NewText(scenes)
	_ = r.Array(func() error { // what precedes an error counts
		raw, err := r.Raw()
		if err == nil && len(all) < maxScenes {
			members(raw, func(key, raw string) {
				if key == "extras" {
					all = append(all, raw)
				}
			})
		}
		return err
	})
	return all
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
