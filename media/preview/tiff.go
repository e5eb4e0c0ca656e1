package preview

import (
	"encoding/binary"
	"errors"
	"image"
	"image/color"

	"golang.org/x/image/tiff"
)

// Tags of a TIFF directory that say how its pixels are stored (TIFF 6.0).
const (
	tiffCompression  = 259
	tiffRowsPerStrip = 278
	tiffTileWidth    = 322
	tiffTileLength   = 323
)

// openTIFF reckons with the decoder's buffers: a strip or tile at a time, of at
// most eight bytes for each of its pixels, in a buffer that grows by copying.
// Uncompressed ones are new for each.
func openTIFF(f file) (source, error) {
	cfg, err := tiff.DecodeConfig(f.whole())
	if err != nil {
		return source{}, err
	}
	tags, err := tiffTags(f)
	if err != nil {
		return source{}, err
	}
	all := pixels(cfg.Width, cfg.Height)
	block := all
	if rows := int64(tags[tiffRowsPerStrip]); rows > 0 {
		block = min(block, int64(cfg.Width)*rows)
	}
	if w := tags[tiffTileWidth]; w > 0 {
		block = pixels(int(w), int(tags[tiffTileLength]))
	}
	const grown, small = 5, 10 << 20
	buffers := grown * 8 * block
	if compression := tags[tiffCompression]; compression <= 1 {
		switch {
		case 8*block >= small: // read in pieces, and never more than the file has
			buffers = grown * min(8*all, (all/max(block, 1)+1)*min(8*block, f.n))
		default:
			buffers = 8 * (all + block)
		}
	}
	return decoded("TIFF", cfg.Width, cfg.Height, tiffPixel(cfg.ColorModel)*all+buffers+256<<10,
		func(f file) (image.Image, error) { return tiff.Decode(f.whole()) }), nil
}

// tiffPixel returns the bytes of a decoded pixel.
func tiffPixel(m color.Model) int64 {
	switch m {
	case color.GrayModel:
		return 1
	case color.Gray16Model:
		return 2
	case color.RGBAModel, color.NRGBAModel:
		return 4
	case color.RGBA64Model, color.NRGBA64Model:
		return 8
	}
	return 1 // a palette
}

// tiffTags returns the numbers of the first directory that stand in their entry.
func tiffTags(f file) (map[uint16]uint32, error) {
	head := f.head(0, 8)
	if head == nil {
		return nil, errShort
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if head[0] == 'M' {
		order = binary.BigEndian
	}
	at := int64(order.Uint32(head[4:]))
	count := f.head(at, 2)
	if count == nil {
		return nil, errShort
	}
	entries := f.head(at+2, 12*int(order.Uint16(count)))
	if entries == nil {
		return nil, errShort
	}
	tags := map[uint16]uint32{}
	for ; len(entries) >= 12; entries = entries[12:] {
		tag, kind, n := order.Uint16(entries), order.Uint16(entries[2:]), order.Uint32(entries[4:])
		switch tag {
		case tiffCompression, tiffRowsPerStrip, tiffTileWidth, tiffTileLength:
		default:
			continue
		}
		switch {
		case n == 1 && kind == 1:
			tags[tag] = uint32(entries[8])
		case n == 1 && kind == 3:
			tags[tag] = uint32(order.Uint16(entries[8:]))
		case n == 1 && kind == 4:
			tags[tag] = order.Uint32(entries[8:])
		default:
			return nil, errors.New("the TIFF directory is damaged: a single number was expected")
		}
	}
	return tags, nil
}
