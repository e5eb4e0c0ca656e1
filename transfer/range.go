package transfer

import (
	"io"
	"net/http"

	"vitrine/library"
	"vitrine/op"
)

// problemWriter makes a problem of what http.ServeContent answers to a Range that the file
// does not have; everything else passes.
type problemWriter struct {
	http.ResponseWriter
	request *http.Request
	size    int64
	refused bool
}

func (w *problemWriter) WriteHeader(status int) {
	if status != http.StatusRequestedRangeNotSatisfiable {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.refused = true
	w.Header().Del("Content-Disposition")
	op.WriteProblem(w.ResponseWriter, w.request, library.NewError(library.KindRange, library.CodeRangeNotSatisfied,
		"The file has %d bytes, and none of them is in the Range of the request.", w.size))
}

func (w *problemWriter) Write(b []byte) (int, error) {
	if w.refused {
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// ReadFrom lets the writer below read the file piece by piece.
func (w *problemWriter) ReadFrom(r io.Reader) (int64, error) {
	if w.refused {
		return io.Copy(io.Discard, r)
	}
	return io.Copy(w.ResponseWriter, r)
}

// Unwrap lets http.ResponseController find the connection.
func (w *problemWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
