package container

// maxPages bounds the pages of a TIFF file that are counted.
const maxPages = 1024

// readTIFF reads a TIFF file: the size and text fields of its first page, and the
// number of pages.
func readTIFF(s source) {
	t := tiffReader{s: s, place: "tiff:exif", isFile: true}
	off, ok := t.header()
	if !ok {
		s.cut("the TIFF's header")
		return
	}
	if off >= s.size {
		s.cut("the TIFF's directory")
	}
	off = t.directory(off, 0)
	pages := 1
	for ; off > 0 && !t.visited[off] && pages < maxPages; pages++ {
		t.visited[off] = true
		if off = t.next(off); off < 0 {
			break
		}
	}
	if pages > 1 {
		s.file.Frames = pages
	}
}

// next returns the offset behind a directory's, without looking into the directory.
func (t *tiffReader) next(off int64) int64 {
	head, size, wide := int64(2), int64(12), int64(4)
	if t.big {
		head, size, wide = 8, 20, 8
	}
	n := t.number(off, head)
	if n < 0 || n > maxEntries {
		return -1
	}
	return t.number(off+head+n*size, wide)
}
