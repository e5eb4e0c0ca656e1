package strip

// window reads many small pieces of a file, most of which stand close behind each other, with
// few reads.
type window struct {
	in  input
	off int64
	buf []byte
}

// windowSize is how much is read at once.
const windowSize = 64 << 10

// bytes returns n bytes at an offset, which stay valid until the next call.
func (w *window) bytes(off, n int64) ([]byte, error) {
	if at := off - w.off; at >= 0 && n >= 0 && at+n <= int64(len(w.buf)) {
		return w.buf[at : at+n], nil
	}
	b, err := w.in.bytes(off, max(n, min(windowSize, w.in.size-off)))
	if err != nil {
		return nil, err
	}
	w.off, w.buf = off, b
	return b[:n], nil
}
