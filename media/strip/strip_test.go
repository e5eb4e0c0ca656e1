package strip_test

import (
	"bytes"
	"image"
	"image/png"
	"testing"

	"golang.org/x/image/webp"

	"vitrine/media/strip"
	"vitrine/media/strip/striptest"
)

const canary = striptest.Canary

// write strips a file and verifies it.
func write(t *testing.T, file []byte, o strip.Options) ([]byte, strip.Result, error) {
	t.Helper()
	var out bytes.Buffer
	res, err := strip.Write(t.Context(), &out, bytes.NewReader(file), int64(len(file)), o)
	if err != nil {
		return nil, res, err
	}
	if int64(out.Len()) != res.Size {
		t.Errorf("%d bytes were written, and the result says %d", out.Len(), res.Size)
	}
	return out.Bytes(), res, strip.Verify(t.Context(), bytes.NewReader(out.Bytes()), res.Size, o)
}

// disclosure is one that no file of the tests has.
var disclosure = &strip.Disclosure{SourceType: strip.SourceTypes + "trainedAlgorithmicMedia", AISystem: "ComfyUI", Creator: "Ada <&> Lovelace", Rights: "© Ada"}

func TestWrite_PixelsStayAsTheyAre(t *testing.T) {
	src := image.NewNRGBA(image.Rect(0, 0, 40, 30))
	for i := range src.Pix {
		src.Pix[i] = byte(i * 7)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, src); err != nil {
		t.Fatal(err)
	}
	got, _, err := write(t, b.Bytes(), strip.Options{Disclosure: disclosure})
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(got))
	if err != nil || !bytes.Equal(img.(*image.NRGBA).Pix, src.Pix) {
		t.Errorf("pixels changed: %v", err)
	}
	small, res, err := write(t, b.Bytes(), strip.Options{Format: strip.WebP, MaxEdge: 20, EncodeWebP: striptest.WebP(t), Disclosure: disclosure})
	if err != nil || !res.Embedded {
		t.Fatal(err, res)
	}
	cfg, err := webp.DecodeConfig(bytes.NewReader(small))
	if err != nil || cfg.Width != 20 || cfg.Height != 15 {
		t.Errorf("%+v %v", cfg, err)
	}
}
