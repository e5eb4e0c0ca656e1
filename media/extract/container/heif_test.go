package container

import (
	"bytes"
	"testing"
)

// avifFile makes an AVIF of 3×2 pixels with an EXIF and an XMP item; the file's
// own bytes hold the first, the idat box the second.
func avifFile(brand string, exif, xmp []byte) []byte {
	ftyp := atom("ftyp", brand, be32(0), "mif1", brand)
	build := func(exifAt int) []byte {
		return fullAtom("meta",
			fullAtom("hdlr", be32(0), "pict", make([]byte, 13)),
			fullAtom("pitm", be16(1)),
			fullAtom("iinf", be16(3),
				atom("infe", be32(2<<24), be16(1), be16(0), "av01", "\x00"),
				atom("infe", be32(2<<24), be16(2), be16(0), "Exif", "\x00"),
				atom("infe", be32(2<<24), be16(3), be16(0), "mime", "\x00application/rdf+xml\x00")),
			atom("iprp",
				atom("ipco", fullAtom("ispe", be32(9), be32(9)), atom("pixi"), fullAtom("ispe", be32(3), be32(2))),
				fullAtom("ipma", be32(1), be16(1), 2, 2, 0x80|3)),
			atom("idat", xmp),
			atom("iloc", be32(1<<24), 0x44, 0x00, be16(2),
				be16(2), be16(0), be16(0), be16(1), be32(exifAt), be32(len(exif)),
				be16(3), be16(1), be16(0), be16(2), be32(0), be32(4), be32(4), be32(len(xmp)-4)))
	}
	at := len(ftyp) + len(build(0)) + 8
	return join(ftyp, build(at), atom("mdat", exif))
}

func TestHEIF_AVIFAndHEIFItemsAreRead(t *testing.T) {
	block := exifBlock(be, []field{ascii(0x010F, "workflow:{}")}, nil)
	cases := map[string]struct {
		brand, place, mime string
		exif               []byte
	}{
		"AVIF":                       {"avif", "avif:exif", "image/avif", join(be32(0), block)},
		"AVIF with JPEG's prefix":    {"avif", "avif:exif", "image/avif", join(be32(6), "Exif\x00\x00", block)},
		"AVIF without the offset":    {"avif", "avif:exif", "image/avif", block},
		"HEIC":                       {"heic", "heif:exif", "image/heic", join(be32(0), block)},
		"AVIF with the prefix alone": {"avif", "avif:exif", "image/avif", join("Exif\x00\x00", block)},
		"AVIF with the prefix twice": {"avif", "avif:exif", "image/avif", join(be32(0), "Exif\x00\x00", block)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := readBytes(t, avifFile(c.brand, c.exif, []byte(xmpPacket)))
			wantChunks(t, f, Chunk{Place: c.place, Key: "Make", Text: "workflow:{}"},
				Chunk{Place: "xmp", Key: "exif:UserComment", Text: `{"c":"a cat"}`})
			if f.MIME != c.mime || f.Width != 3 || f.Height != 2 || f.Truncated {
				t.Errorf("got %+v; want %s of 3×2", f, c.mime)
			}
		})
	}
}

// TestHEIF_ItemsThatStandElsewhereAreLeftOut: their offsets count from another item or
// in another file, where other bytes would be read here.
func TestHEIF_ItemsThatStandElsewhereAreLeftOut(t *testing.T) {
	b := avifFile("avif", join(be32(0), exifBlock(be, []field{ascii(0x010F, "workflow:{}")}, nil)), []byte(xmpPacket))
	entry := join(be16(2), be16(0), be16(0), be16(1))
	for name, other := range map[string][]byte{"in another item": join(be16(2), be16(2), be16(0), be16(1)), "in another file": join(be16(2), be16(0), be16(1), be16(1))} {
		f := readBytes(t, bytes.Replace(b, entry, other, 1))
		if _, found := f.Text("Make"); found {
			t.Errorf("an item %s was read", name)
		}
	}
}

// TestHEIF_ItemTableOfNothingCostsLittle: fields may be zero bytes wide, so that a small
// table announces any number of pieces.
func TestHEIF_ItemTableOfNothingCostsLittle(t *testing.T) {
	entries := bytes.Repeat(join(be16(1), be16(0), be16(0xFFFF)), 4096)
	b := join(atom("ftyp", "avif", be32(0)), fullAtom("meta", fullAtom("iloc", 0, 0, be16(4096), entries)))
	if n := allocated(func() { readBytes(t, b) }); n > 4<<20 {
		t.Errorf("allocated %d MiB for a file of %d KiB", n>>20, len(b)>>10)
	}
}
