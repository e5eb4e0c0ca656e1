// Command sheet paints every kind of sample picture several times into one PNG, for the
// eye of a developer, and prints how long a picture of each kind takes:
//
//	go run ./internal/sample/sheet FILE.png [KIND]
package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"slices"
	"time"

	"vitrine/internal/sample/draw"
	"vitrine/internal/sample/scene"
)

func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr, "usage: sheet FILE.png [KIND]")
		os.Exit(2)
	}
	list := scene.Kinds()
	if len(os.Args) == 3 {
		i := slices.IndexFunc(list, func(k *scene.Kind) bool { return k.Name == os.Args[2] })
		if i < 0 {
			fmt.Fprintf(os.Stderr, "there is no kind %q\n", os.Args[2])
			os.Exit(2)
		}
		list = slices.Repeat(list[i:i+1], 4)
	}
	if err := write(os.Args[1], paint(list)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func paint(list []*scene.Kind) image.Image {
	const w, h, columns = 384, 288, 6
	sheet := image.NewRGBA(image.Rect(0, 0, w*columns, h*len(list)))
	for row, k := range list {
		r := draw.NewRand(uint64(41 + row))
		start := time.Now()
		for col := range columns {
			pic := scene.New(k, r).Draw(w, h)
			for i := range w * h {
				sheet.SetRGBA(col*w+i%w, row*h+i/w, color.RGBA{pic.Pix[3*i], pic.Pix[3*i+1], pic.Pix[3*i+2], 255})
			}
		}
		per := time.Since(start) / columns
		fmt.Printf("%-10s %6.1f ms a picture of %dx%d, %5.1f ns a pixel\n", k.Name, per.Seconds()*1000, w, h, float64(per.Nanoseconds())/(w*h))
	}
	return sheet
}

func write(path string, sheet image.Image) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := png.Encode(f, sheet); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
