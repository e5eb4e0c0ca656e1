package container

import "encoding/binary"

// readPSD reads the size and the image resources of a Photoshop file: IPTC, XMP
// and EXIF stand among them.
func readPSD(s source) {
	s.file.MIME = "image/vnd.adobe.photoshop"
	h := s.peek(14, 16)
	if h == nil {
		s.cut("the PSD's header")
		return
	}
	s.file.Height = dimension(binary.BigEndian.Uint32(h))
	s.file.Width = dimension(binary.BigEndian.Uint32(h[4:]))
	at := 30 + int64(binary.BigEndian.Uint32(h[12:])) // behind the colour mode data
	n := s.peek(at, 4)
	if n == nil {
		s.cut("the PSD's header")
		return
	}
	if b, ok := s.value("the PSD's resources", at+4, int64(binary.BigEndian.Uint32(n))); ok {
		readPhotoshop(s, b, "psd")
	}
}
