package container

import "testing"

// glbFile makes a binary glTF file around a JSON chunk.
func glbFile(document string, padding string) []byte {
	for len(document)%4 != 0 {
		document += padding
	}
	return join("glTF", le32(2), le32(20+len(document)+12), le32(len(document)), "JSON", document,
		le32(4), "BIN\x00", "mesh")
}

func TestModel_GLBExtrasAreRead(t *testing.T) {
	document := `{"asset":{"version":"2.0","generator":"Hy3D","extras":{"prompt":"{\"3\":{}}","workflow":{"nodes":[]}}},"extras":{"seed":18446744073709551615},"scenes":[1]}`
	want := []Chunk{
		{Place: "glb:asset", Key: "generator", Text: "Hy3D"},
		{Place: "glb:extras", Key: "prompt", Text: `{"3":{}}`},
		{Place: "glb:extras", Key: "workflow", Text: `{"nodes":[]}`},
		{Place: "glb:extras", Key: "seed", Text: "18446744073709551615"},
	}
	for name, padding := range map[string]string{"spaces": " ", "zeros against the rules": "\x00"} {
		t.Run(name, func(t *testing.T) {
			f := readBytes(t, glbFile(document+padding, padding))
			wantChunks(t, f, want...)
			if f.MIME != "model/gltf-binary" || f.Truncated || len(f.Warnings) > 0 {
				t.Errorf("got %+v; want a whole GLB", f)
			}
		})
	}
	t.Run("as a JSON file", func(t *testing.T) {
		f := readBytes(t, document)
		for i := range want {
			want[i].Place = "gltf" + want[i].Place[3:]
		}
		wantChunks(t, f, want...)
		if f.MIME != "model/gltf+json" {
			t.Errorf("got %s", f.MIME)
		}
	})
}

// TestModel_GLBScenesAreRead: exporters put what they know of a scene there. A field of
// another type than it should have spoils nothing.
func TestModel_GLBScenesAreRead(t *testing.T) {
	f := readBytes(t, glbFile(`{"asset":{"version":2.0,"generator":5},"scenes":[{"name":"a","extras":{"prompt":"{}"}}]}`, " "))
	wantChunks(t, f, Chunk{Place: "glb:extras", Key: "prompt", Text: "{}"})
}

func TestModel_GLBWithBareNaNIsRead(t *testing.T) {
	f := readBytes(t, glbFile(`{"asset":{"extras":{"a":{"x":NaN,"y":"NaN \" NaN"},"b":-Infinity}}}`, " "))
	wantChunks(t, f, Chunk{Place: "glb:extras", Key: "a", Text: `{"x":NaN,"y":"NaN \" NaN"}`},
		Chunk{Place: "glb:extras", Key: "b", Text: "-Infinity"})
}

func TestModel_CutGLBSaysSo(t *testing.T) {
	b := glbFile(`{"asset":{"version":"2.0"}}`, " ")
	if f := readBytes(t, b[:30]); !f.Truncated {
		t.Error("not reported as truncated")
	}
}

func TestModel_SafetensorsMetadataIsRead(t *testing.T) {
	header := `{"latent_tensor":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"__metadata__":{"prompt":"{\"3\":{}}","workflow":"{}"}}`
	f := readBytes(t, le32(len(header)), le32(0), header, "data")
	wantChunks(t, f, Chunk{Place: "safetensors:metadata", Key: "prompt", Text: `{"3":{}}`},
		Chunk{Place: "safetensors:metadata", Key: "workflow", Text: "{}"})
	if f.MIME != "application/x-safetensors" {
		t.Errorf("got %s", f.MIME)
	}
}

// TestModel_OtherFilesGiveTheirTypeAlone: what is not a media file is no error.
func TestModel_OtherFilesGiveTheirTypeAlone(t *testing.T) {
	cases := map[string]string{
		"a cat\nSteps: 20":                        "text/plain; charset=utf-8",
		`{"prompt":"asset"}`:                      "application/json",
		"<!DOCTYPE html><html><svg></svg></html>": "text/html; charset=utf-8",
		"BMW and other cars":                      "text/plain; charset=utf-8",
		"\x00\x01\x02\x03":                        "application/octet-stream",
	}
	for body, want := range cases {
		f := readBytes(t, body)
		if f.MIME != want || len(f.Chunks) > 0 || len(f.Warnings) > 0 || f.Width > 0 {
			t.Errorf("%.20q: got %+v; want %s and nothing else", body, f, want)
		}
	}
}
