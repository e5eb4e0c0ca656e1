package strip

// planGIF keeps the screen, the frames with their delays, how often they repeat, and the
// color profile. Comments, texts and all other extensions go.
func planGIF(in input, e edit) (*plan, error) {
	p := &plan{}
	head, err := in.bytes(0, 13)
	if err != nil {
		return nil, err
	}
	off := int64(13) + palette(head[10])
	p.copy(0, off)
	for {
		b, err := in.bytes(off, 1)
		if err != nil {
			return nil, err
		}
		switch b[0] {
		case 0x3b:
			p.copy(off, 1)
			if off+1 < in.size {
				p.drop("bytes after the end")
			}
			return p, nil
		case 0x2c:
			d, err := in.bytes(off, 10)
			if err != nil {
				return nil, err
			}
			data := off + 10 + palette(d[9]) + 1
			end, err := blocksEnd(in, data)
			if err != nil {
				return nil, err
			}
			p.copy(off, end-off)
			off = end
		case 0x21:
			end, err := gifExtension(in, p, e, off)
			if err != nil {
				return nil, err
			}
			off = end
		case 0:
			off++ // some writers leave an empty block
		default:
			return nil, damaged("there is no block at byte %d", off)
		}
	}
}

// palette returns the bytes of the color table that follows a descriptor.
func palette(flags byte) int64 {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// blocksEnd returns where a sequence of sub-blocks ends.
func blocksEnd(in input, off int64) (int64, error) {
	for {
		b, err := in.bytes(off, 1)
		if err != nil {
			return 0, err
		}
		off += 1 + int64(b[0])
		if b[0] == 0 {
			return off, nil
		}
	}
}

func gifExtension(in input, p *plan, e edit, off int64) (int64, error) {
	b, err := in.bytes(off, 2)
	if err != nil {
		return 0, err
	}
	end, err := blocksEnd(in, off+2)
	if err != nil {
		return 0, err
	}
	name := ""
	if b[1] == 0xff {
		if a, err := in.bytes(off+2, 12); err == nil && a[0] == 11 {
			name = string(a[1:])
		}
	}
	switch {
	case b[1] == 0xf9 && end-off == 8: // how a frame is shown
		p.copy(off, end-off)
	case (name == "NETSCAPE2.0" || name == "ANIMEXTS1.0") && end-off == 19:
		p.copy(off, end-off)
	case name == "ICCRGBG1012" && !e.keep.NoICC, b[1] == 0xfe && e.keep.Generation, name == "XMP DataXMP" && e.keep.xmp():
		p.copy(off, end-off)
	case b[1] == 0xfe:
		p.drop("comment")
	case name != "":
		p.drop(name)
	default:
		p.drop("extension")
	}
	return end, nil
}
