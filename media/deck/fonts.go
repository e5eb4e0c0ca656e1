package deck

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"vitrine/media/pdf"
)

// fontFiles are the fonts, which are part of the program so that a deck looks the same wherever
// it is made. fonts/README.md says where they come from and what their licenses are.
//
//go:embed fonts/*.ttf.gz
var fontFiles embed.FS

// heavier is how much heavier, in ems, characters of headings are drawn that come from a font
// without a bold face.
const heavier = 0.022

// unpacked are the fonts once they were needed, by name.
var unpacked sync.Map

// fontData returns a font file.
func fontData(name string) ([]byte, error) {
	if data, ok := unpacked.Load(name); ok {
		return data.([]byte), nil //nolint:forcetypeassert // nothing else is stored
	}
	packed, err := fontFiles.ReadFile("fonts/" + name + ".ttf.gz")
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(z)
	if err == nil {
		unpacked.Store(name, data)
	}
	return data, err
}

// faces returns the faces of one document. Inter has Latin, Greek and Cyrillic; DejaVu Sans has symbols
// and further alphabets; Droid Sans Fallback has Chinese, Japanese and Korean.
func faces() (regular, bold pdf.Face, err error) {
	for _, f := range []struct {
		face    *pdf.Face
		name    string
		thicken float64
	}{
		{&regular, "Inter-Regular", 0}, {&regular, "DejaVuSans", 0}, {&regular, "DroidSansFallback", 0},
		{&bold, "Inter-SemiBold", 0}, {&bold, "DejaVuSans", heavier}, {&bold, "DroidSansFallback", heavier},
	} {
		data, err := fontData(f.name)
		if err != nil {
			return nil, nil, err
		}
		font, err := pdf.ParseFont(f.name, data)
		if err != nil {
			return nil, nil, fmt.Errorf("font %s: %w", f.name, err)
		}
		font.Thicken = f.thicken
		*f.face = append(*f.face, font)
	}
	return regular, bold, nil
}

// WriteFonts writes the fonts as files into a folder, for what draws decks by other means.
func WriteFonts(dir string) error {
	for _, name := range []string{"Inter-Regular", "Inter-SemiBold", "DejaVuSans", "DroidSansFallback"} {
		data, err := fontData(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name+".ttf"), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}
