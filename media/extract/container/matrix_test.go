package container_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"vitrine/media/extract"
	"vitrine/media/extract/container"
)

// The two documents of a small run, with text beyond ASCII and a seed that a
// floating-point number cannot hold.
const (
	matrixPrompt = `{"4":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"fox.safetensors"}},
"5":{"class_type":"EmptyLatentImage","inputs":{"width":512,"height":768,"batch_size":1}},
"6":{"class_type":"CLIPTextEncode","inputs":{"text":"ein Fuchs, größer als テスト 🦊","clip":["4",1]}},
"7":{"class_type":"CLIPTextEncode","inputs":{"text":"blurry","clip":["4",1]}},
"3":{"class_type":"KSampler","inputs":{"seed":18446744073709551557,"steps":20,"cfg":7.5,"sampler_name":"euler","scheduler":"normal","denoise":1.0,"model":["4",0],"positive":["6",0],"negative":["7",0],"latent_image":["5",0]}},
"8":{"class_type":"VAEDecode","inputs":{"samples":["3",0],"vae":["4",2]}},
"9":{"class_type":"SaveImage","inputs":{"filename_prefix":"fox","images":["8",0]}}}`
	matrixWorkflow = `{"nodes":[{"id":3,"type":"KSampler","title":"sample here"},{"id":9,"type":"SaveImage"}],"links":[],"version":0.4}`

	matrixPositive = "ein Fuchs, größer als テスト 🦊"
	matrixSeed     = uint64(18446744073709551557)
)

func asIs(s string) string { return s }

// matrixVariants are the ways in which one document is written.
var matrixVariants = []struct {
	name        string
	change, enc func(string) string
	notInJSON   bool // not for kinds whose documents stand in JSON, which is UTF-8
}{
	{"as written", asIs, asIs, false},
	{"with bare NaN and Infinity", func(s string) string {
		return strings.Replace(s, `"seed"`, `"is_changed":[NaN],"low":-Infinity,"seed"`, 1)
	}, asIs, false},
	{"with line ends of Windows", func(s string) string {
		return strings.ReplaceAll(strings.ReplaceAll(s, "\n", "\r\n"), `,"`, ",\r\n\t\"")
	}, asIs, false},
	{"in ASCII with escapes", escapeASCII, asIs, false},
	{"behind a byte order mark", asIs, func(s string) string { return "\ufeff" + s }, true},
	{"in UTF-16, big-endian", asIs, func(s string) string { return container.UTF16(s, true) }, true},
	{"in UTF-16, little-endian", asIs, func(s string) string { return container.UTF16(s, false) }, true},
}

// escapeASCII writes what is beyond ASCII as Python's json.dumps does.
func escapeASCII(s string) string {
	return strings.NewReplacer("ö", `\u00f6`, "テ", `\u30c6`, "ス", `\u30b9`, "ト", `\u30c8`, "🦊", `\ud83e\udd8a`).Replace(s)
}

var inJSON = map[string]bool{"GLB": true, "safetensors": true}

// TestMatrix_GraphsAreReadBackFromEveryContainer is the container matrix: every kind,
// every way of writing, under a name with the wrong ending.
func TestMatrix_GraphsAreReadBackFromEveryContainer(t *testing.T) {
	for kind, write := range container.Matrix {
		for _, v := range matrixVariants {
			if v.notInJSON && inJSON[kind] {
				continue
			}
			t.Run(kind+" "+v.name, func(t *testing.T) {
				b := write(v.change(matrixPrompt), matrixWorkflow, v.enc)
				for _, name := range []string{"", "fox.txt", "fox.png", "fox.mp4"} {
					res := readLineage(t, b, name)
					if res.Lineage.Positive == nil || *res.Lineage.Positive != matrixPositive {
						t.Fatalf("under the name %q the prompt is %v; chunks %.300v", name, deref(res.Lineage.Positive), res.Chunks)
					}
					if p := res.Lineage.Parameters; p == nil || p.Seed == nil || *p.Seed != matrixSeed || *p.Width != 512 || *p.Height != 768 {
						t.Errorf("settings are %+v", p)
					}
					if w := res.Lineage.Workflow; w == nil || len(w.JSON) == 0 || len(w.PromptJSON) == 0 || w.NodeCount != 7 {
						t.Errorf("workflow is %.300v", w)
					}
				}
			})
		}
	}
}

// TestMatrix_CutContainersGiveWholeValuesOrNone cuts every kind at every byte: no panic,
// no error, and never a value that the file does not hold.
func TestMatrix_CutContainersGiveWholeValuesOrNone(t *testing.T) {
	for kind, write := range container.Matrix {
		t.Run(kind, func(t *testing.T) {
			b := write(matrixPrompt, matrixWorkflow, asIs)
			for n := 1; n < len(b); n += 1 + n%7 {
				res := readLineage(t, b[:n], "")
				l := res.Lineage
				if l.Positive != nil && *l.Positive != matrixPositive {
					t.Fatalf("cut at %d of %d: the prompt is %q", n, len(b), *l.Positive)
				}
				if l.Parameters != nil && (l.Parameters.Seed == nil || *l.Parameters.Seed != matrixSeed) {
					t.Fatalf("cut at %d of %d: settings are %+v", n, len(b), l.Parameters)
				}
			}
		})
	}
}

func readLineage(t *testing.T, b []byte, name string) extract.Result {
	t.Helper()
	res, err := extract.Read(context.Background(), bytes.NewReader(b), int64(len(b)), extract.Options{Filename: name})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range res.Lineage.Warnings {
		if strings.Contains(w, "could not be read") {
			t.Fatalf("a reader panicked on %d bytes: %s", len(b), w)
		}
	}
	return res
}

func deref(s *string) string {
	if s == nil {
		return "none"
	}
	return *s
}
