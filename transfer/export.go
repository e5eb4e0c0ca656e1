package transfer

import (
	"io"
	"log/slog"
	"mime"
	"net/http"

	"github.com/go-chi/chi/v5"

	"vitrine/library"
	"vitrine/media/blob"
)

// Export serves the zip or the PDF of GET /exports/{token}/{name}, whole or in ranges. The link ends with
// the key that asked for it.
func (s *Service) Export(w http.ResponseWriter, r *http.Request, _ library.Actor) error {
	g, _, err := s.grant(r, chi.URLParam(r, "token"), blob.PurposeExport)
	if err != nil {
		return err
	}
	if !sameName(chi.URLParam(r, "name"), g.Filename) {
		return blob.InvalidURL()
	}
	file, staged, err := s.blobs.OpenStaged(r.Context(), g.Tenant, g.Staged)
	if err != nil {
		if library.AsError(err).Kind == library.KindNotFound {
			err = library.NewError(library.KindGone, library.CodeURLExpired, "The file of this export was removed. Export again.")
		}
		return err
	}
	defer file.Close()
	h := w.Header()
	guard(h)
	h.Set("Content-Type", g.MIMEType)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": g.Filename}))
	h.Set("ETag", `"`+staged.SHA256+`"`)
	h.Set("Cache-Control", "private, no-store")
	out, done := newPatient(w, s.pace)
	defer done()
	http.ServeContent(&problemWriter{ResponseWriter: out, request: r, size: file.Size()}, r, "", file.ModTime(), io.NewSectionReader(file, 0, file.Size()))
	if out.source != nil {
		slog.ErrorContext(r.Context(), "an export could not be read while it was sent", "error", out.source)
		panic(http.ErrAbortHandler)
	}
	return nil
}
