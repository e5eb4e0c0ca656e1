package writer

import (
	"bytes"
	"encoding/hex"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/internal/sample/draw"
)

func picture(w, h int) draw.Picture {
	p := draw.Picture{W: w, H: h, Pix: make([]byte, w*h*3)}
	r := draw.NewRand(1)
	for i := range p.Pix {
		p.Pix[i] = byte(r.Uint64())
	}
	return p
}

func job() *Job {
	return &Job{
		Prompt: "red koi pond, best quality", Negative: "blurry, low quality", Seed: 4294967296123, Steps: 21, CFG: 6.5,
		Sampler: "dpmpp_2m", Scheduler: "karras", Denoise: 0.6, Checkpoint: "paperLantern_v12", LoRAs: []string{"neon_haze", "mist_maker"},
		When: time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC), Choice: 1, Rand: draw.NewRand(2),
	}
}

func TestWriter_PNGKeepsEveryPixel(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {7, 5}, {300, 200}} {
		pic := picture(size[0], size[1])
		data, err := encodePNG(pic, text("k", "v"))
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for y := range pic.H {
			for x := range pic.W {
				r, g, b, _ := img.At(x, y).RGBA()
				if got := [3]byte{byte(r), byte(g), byte(b)}; got != [3]byte(pic.Pix[(y*pic.W+x)*3:]) {
					t.Fatalf("%v: pixel %d,%d became %v", size, x, y, got)
				}
			}
		}
	}
}

func TestWriter_TextBeyondLatin1MovesToITXt(t *testing.T) {
	if c := anyText("parameters", "café"); c.kind != "tEXt" || !bytes.HasSuffix(c.data, []byte("caf\xe9")) {
		t.Errorf("Latin-1 text became %s %q", c.kind, c.data)
	}
	if c := anyText("parameters", "雪山"); c.kind != "iTXt" || !bytes.HasSuffix(c.data, []byte("\x00\x00\x00\x00雪山")) {
		t.Errorf("Japanese text became %s %q", c.kind, c.data)
	}
}

// The two layouts were read off files of piexif and ImageSharp.
func TestWriter_UserCommentLayouts(t *testing.T) {
	tests := map[string]struct {
		little bool
		want   string
	}{
		"big endian, no next directory": {false, "457869660000" + "4d4d002a00000008" + "0001" + "876900040000000100" + "00001a" + "00000000" + "0001" + "928600070000000c00000028" + "554e49434f444500" + "004100e9"},
		"little endian":                 {true, "457869660000" + "49492a0008000000" + "0100" + "698704000100000" + "01a000000" + "00000000" + "0100" + "869207000c0000002c000000" + "00000000" + "554e49434f444500" + "4100e900"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, hex.EncodeToString(userComment("Aé", tt.little))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWriter_WebuiTextIsOneBlock(t *testing.T) {
	got, f := webuiText(picture(768, 512), job(), webuiVersion)
	want := "red koi pond, best quality <lora:neon_haze:" + trim(strengthOf(job(), 0)) + "> <lora:mist_maker:" + trim(strengthOf(job(), 1)) + ">\n" +
		"Negative prompt: blurry, low quality\n" +
		"Steps: 21, Sampler: DPM++ 2M, Schedule type: Karras, CFG scale: 6.5, Seed: 4294967296123, Size: 512x336, " +
		"Model hash: " + hashOf("paperLantern_v12", 10) + ", Model: paperLantern_v12, " +
		"Denoising strength: 0.45, Hires upscale: 1.5, Hires steps: 10, Hires upscaler: R-ESRGAN 4x+, " +
		"Lora hashes: \"neon_haze: " + hashOf("neon_haze", 12) + ", mist_maker: " + hashOf("mist_maker", 12) + "\", Version: v1.10.1"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if f.Width != 512 || f.Height != 336 || f.Sampler != "DPM++ 2M" || len(f.Models) != 4 {
		t.Errorf("facts: %+v", f)
	}
}

func TestWriter_ModelsComeInExecutionOrderAndOffRowsDoNotLoad(t *testing.T) {
	g, _ := basicGraph(picture(64, 64), job())
	var names []string
	for _, m := range g.models() {
		names = append(names, m.Type+" "+m.Name+" "+m.NodeID)
	}
	want := []string{"checkpoint paperLantern_v12.safetensors 4", "lora neon_haze.safetensors 10", "lora mist_maker.safetensors 11"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	stack, _ := stackGraph(picture(64, 64), job())
	if n := len(stack.models()); n != 3 {
		t.Errorf("stack: %d models load, want the checkpoint and two of three rows", n)
	}
	if !strings.Contains(stack.api(), `"on": false`) {
		t.Error("the stack has no row switched off")
	}
}

func TestWriter_ImageToolNamesItsParentOnce(t *testing.T) {
	for choice := range uint64(6) {
		j := job()
		j.Choice, j.Parent = choice, PictureAddress("7b6a49c6-e52f-4246-983e-15cc21536115", 2)
		data, f, err := saveImageTool(picture(64, 32), j)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(data, []byte(j.Parent)); n != 1 {
			t.Errorf("choice %d: the parent is named %d times", choice, n)
		}
		if n := bytes.Count(data, []byte(f.JobID)); n != 2 || !bytes.Contains(data, []byte("--ar 2:1")) {
			t.Errorf("choice %d: job id %d times, want description and XMP; aspect 2:1", choice, n)
		}
	}
}

func TestWriter_EveryFormIsDeterministic(t *testing.T) {
	for _, form := range Forms() {
		var saved [2][]byte
		for i := range saved {
			j := job()
			if form.NeedsParent {
				j.Parent = "ComfyUI_00001_.png"
			}
			data, _, err := form.Save(picture(48, 40), j)
			if err != nil {
				t.Fatalf("%s: %v", form.Name, err)
			}
			saved[i] = data
		}
		if !bytes.Equal(saved[0], saved[1]) {
			t.Errorf("%s differs between two equal jobs", form.Name)
		}
	}
}
