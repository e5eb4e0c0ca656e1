package container

// JPEG XL starts with a codestream, or with a box that names the container around one.
const (
	jxlCodestream = "\xff\x0a"
	jxlContainer  = "\x00\x00\x00\x0cJXL \r\n\x87\n"
)

// readJXL reads a JPEG XL file (ISO/IEC 18181-2): the picture's size, and the boxes
// with EXIF, XMP and content credentials. A bare codestream has no metadata.
func readJXL(s source) {
	s.file.MIME = "image/jxl"
	if magic(0, jxlCodestream)(s.front(2)) {
		jxlSize(s.file, s.front(16))
		return
	}
	walkBoxes(s, 0, func(b box) {
		if b.clipped {
			s.cut("the " + printable(b.kind) + " box")
		}
		switch b.kind {
		case "jxlc":
			jxlSize(s.file, b.body.front(16))
		case "jxlp": // a part of the codestream behind its number
			if head := b.body.front(20); s.file.Width == 0 && len(head) > 4 {
				jxlSize(s.file, head[4:])
			}
		case "Exif":
			readEXIF(exifItem(b.body), "jxl:exif")
		case "xml ":
			readWholeXMP(b.body)
		case "jumb":
			jxlCredentials(s, b)
		case "brob":
			s.warn("a %s box is packed with Brotli, which is not read", printable(string(b.body.front(4))))
		}
	})
}

// jxlCredentials keeps a box of content credentials, its header included.
func jxlCredentials(s source, b box) {
	if body, ok := b.body.value("the content credentials", 0, b.body.size); ok {
		n := len(body) + 8
		whole := append([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n), 'j', 'u', 'm', 'b'}, body...)
		if isManifestStore(whole) && s.hold("the content credentials", int64(n)) {
			s.addCredentials("jxl:jumb", whole)
		}
	}
}

// jxlBits takes numbers off the front of a codestream, lowest bits first.
type jxlBits struct {
	b  []byte
	at int
}

func (j *jxlBits) take(n int) int {
	v := 0
	for i := range n {
		if at := j.at + i; at>>3 < len(j.b) {
			v |= int(j.b[at>>3]>>(at&7)&1) << i
		}
	}
	j.at += n
	return v
}

// side takes a width or height, in steps of eight when the picture is small.
func (j *jxlBits) side(small bool) int {
	if small {
		return 8 * (1 + j.take(5))
	}
	return 1 + j.take([]int{9, 13, 18, 30}[j.take(2)])
}

// jxlRatios are the proportions that stand for a width.
var jxlRatios = [][2]int{{}, {1, 1}, {12, 10}, {4, 3}, {3, 2}, {16, 9}, {5, 4}, {2, 1}}

// jxlSize reads the size at the start of a codestream (ISO/IEC 18181-1, D.2).
func jxlSize(f *File, b []byte) {
	if !magic(0, jxlCodestream)(b) {
		return
	}
	j := jxlBits{b: b[2:]}
	small := j.take(1) == 1
	height := j.side(small)
	var width int
	if ratio := jxlRatios[j.take(3)]; ratio[0] > 0 {
		width = height * ratio[0] / ratio[1]
	} else {
		width = j.side(small)
	}
	if j.at <= 8*len(j.b) {
		f.Width, f.Height = dimension(uint32(width)), dimension(uint32(height))
	}
}
