package preview

import (
	"encoding/binary"
	"image"
	"image/gif"

	"golang.org/x/image/bmp"
)

// openGIF takes the first frame, which must lie within the screen that the header
// gives; a pixel is a byte.
func openGIF(f file) (source, error) {
	b := f.head(6, 4)
	if b == nil {
		return source{}, ErrUnsupported
	}
	w, h := int(binary.LittleEndian.Uint16(b)), int(binary.LittleEndian.Uint16(b[2:]))
	if w == 0 || h == 0 {
		return source{}, errShort
	}
	return decoded("GIF", w, h, pixels(w, h)+64<<10, func(f file) (image.Image, error) { return gif.Decode(f.whole()) }), nil
}

// openBMP checks that the file has the pixels that it promises: the format does
// not compress.
func openBMP(f file) (source, error) {
	cfg, err := bmp.DecodeConfig(f.whole())
	if err != nil {
		return source{}, err
	}
	depth := int64(binary.LittleEndian.Uint16(f.head(28, 2)))
	if rows := pixels(cfg.Width, cfg.Height) / 8 * depth; rows > f.n {
		return source{}, errShort
	}
	cost := pixels(cfg.Width, cfg.Height)
	if depth > 8 {
		cost *= 4
	}
	return decoded("BMP", cfg.Width, cfg.Height, cost+4*int64(cfg.Width)+64<<10, func(f file) (image.Image, error) { return bmp.Decode(f.whole()) }), nil
}
