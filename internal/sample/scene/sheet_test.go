package scene

import (
	"image"
	"image/color"
	"image/png"
	"os"
	"testing"
	"time"

	"vitrine/internal/sample/draw"
)

// TestContactSheet paints every kind several times into one picture for the
// eye of a developer: VITRINE_SHEET=/tmp/sheet.png go test -run ContactSheet.
func TestContactSheet(t *testing.T) {
	path := os.Getenv("VITRINE_SHEET")
	if path == "" {
		t.Skip("set VITRINE_SHEET to a PNG path to see every kind of picture")
	}
	const w, h, columns = 384, 288, 6
	list := Kinds()
	if name := os.Getenv("VITRINE_SHEET_KIND"); name != "" {
		list = nil
		for _, k := range Kinds() {
			if k.Name == name {
				list = []*Kind{k, k, k, k}
			}
		}
	}
	sheet := image.NewRGBA(image.Rect(0, 0, w*columns, h*len(list)))
	for row, k := range list {
		r := draw.NewRand(uint64(41 + row))
		start := time.Now()
		for col := range columns {
			pic := New(k, r).Draw(w, h)
			for i := range w * h {
				sheet.SetRGBA(col*w+i%w, row*h+i/w, color.RGBA{pic.Pix[3*i], pic.Pix[3*i+1], pic.Pix[3*i+2], 255})
			}
		}
		per := time.Since(start) / columns
		t.Logf("%-10s %6.1f ms a picture of %dx%d, %5.1f ns a pixel", k.Name, per.Seconds()*1000, w, h, float64(per.Nanoseconds())/(w*h))
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, sheet); err != nil {
		t.Fatal(err)
	}
}
