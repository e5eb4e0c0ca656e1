// Package publish serves pages that need no key and no script: collections that are published
// and assets that are shared by a link, with the pictures on them.
//
// In comes an address that cannot be guessed; out comes HTML, or a picture that was written as
// the publication's preset asks and verified to hold nothing else. Nothing but such pictures
// can be reached here: no original, no asset that is private, in the trash or on another page.
// Texts of the library stand on the page as texts.
package publish

import (
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"vitrine/export"
	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/media/preview"
	"vitrine/publish/page"
	"vitrine/store"
)

// Site serves published pages. Make it with New.
type Site struct {
	store    *store.Store
	blobs    blob.Store
	builder  *export.Builder
	previews *preview.Maker
	config   Config
	slow     *throttle
	turns    chan struct{} // of pictures that are made at once, which visitors wait for
}

// Config is what a site is told.
type Config struct {
	Base       string // public address of the service
	Key        []byte // signs the cookies of those who know a password
	TrustProxy bool   // a reverse proxy on this machine names its clients in X-Forwarded-For
}

// pictureTurns is how many pictures are made at once: pages ask for many, and making one takes a core.
const pictureTurns = 2

// New returns a site.
func New(st *store.Store, blobs blob.Store, builder *export.Builder, previews *preview.Maker, config Config) *Site {
	return &Site{store: st, blobs: blobs, builder: builder, previews: previews, config: config, slow: newThrottle(), turns: make(chan struct{}, pictureTurns)}
}

// find returns the publication that a request's address names. One that was never there, was
// taken away or has expired is an error.
func (s *Site) find(r *http.Request) (library.Publication, error) {
	p, err := s.store.Publications.Find(r.Context(), chi.URLParam(r, "segment"), chi.URLParam(r, "slug"))
	if err != nil {
		return p, err
	}
	if !p.Public(time.Now()) {
		return p, library.NewError(library.KindGone, library.CodeURLExpired, "This page has expired. Ask for a new link.")
	}
	return p, nil
}

// pathOf returns the path of a publication's page.
func pathOf(p library.Publication) string { return "/p/" + p.Segment + "/" + p.Slug }

// Page serves GET /p/{segment}/{slug}.
func (s *Site) Page(w http.ResponseWriter, r *http.Request, _ library.Actor) error {
	p, err := s.find(r)
	if err != nil {
		return sorry(w, r, err)
	}
	if !s.knows(r, p) {
		return write(w, http.StatusOK, askPassword(""))
	}
	v, err := s.view(r, p)
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, v)
}

// sorry answers a browser with a page that says what a person can do, where there is no page to
// show. Programs get the problem that every other request gets.
func sorry(w http.ResponseWriter, r *http.Request, err error) error {
	if !wantsPage(w, r) {
		return err
	}
	switch library.AsError(err).Kind {
	case library.KindNotFound:
		return write(w, http.StatusNotFound, page.View{Title: "Page not found", Message: "Nothing is published at this address. Ask for a new link."})
	case library.KindGone:
		return write(w, http.StatusGone, page.View{Title: "This page has expired", Message: "Ask for a new link."})
	}
	return err
}

// wantsPage reports whether a request comes from a browser that shows its answer to somebody.
func wantsPage(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Add("Vary", "Accept")
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

// Picture serves GET /p/{segment}/{slug}/{picture}: a picture as the preset writes it, or with
// "-small" behind its id a smaller one.
func (s *Site) Picture(w http.ResponseWriter, r *http.Request, _ library.Actor) error {
	p, err := s.find(r)
	if err != nil {
		return err
	}
	if !s.knows(r, p) {
		return library.NewError(library.KindForbidden, library.CodePermissionRequired, "The page of this picture has a password. Open the page first.")
	}
	none := library.NotFound("picture")
	id, small := strings.CutSuffix(chi.URLParam(r, "picture"), smallSuffix)
	h, ok := p.AssetOf(id)
	if !ok {
		return none
	}
	found, err := s.store.Publications.Assets(r.Context(), p, []library.AssetHash{h})
	if err != nil {
		return err
	}
	a, ok := found[h]
	if !ok {
		return none
	}
	pic, err := s.picture(r.Context(), p, a, small)
	if err != nil {
		return err
	}
	return servePicture(w, r, pic, p, a)
}
