// Package transfer moves files over HTTP: uploads in, originals and previews out.
//
// Each request carries a signed token that says exactly what it may do, or comes
// from a credential that was checked before. Files never pass through the
// operations' JSON. Whatever leaves here is served so that a browser can do
// nothing with it but show a picture or save a file: a stored file may be hostile.
package transfer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"vitrine/auth"
	"vitrine/inplace"
	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/media/preview"
	"vitrine/store"
)

// Service serves files. Make it with New.
type Service struct {
	blobs    blob.Store
	signer   *blob.Signer
	store    *store.Store
	keys     *auth.Authenticator
	limits   *store.LimitCache
	previews *preview.Maker
	pace     pace
	// DirectFor is how long the links to the bucket are valid by which downloads of originals
	// are answered; 0 means that the service serves the bytes.
	DirectFor time.Duration
	// MaxFile bounds one resumable upload, in bytes.
	MaxFile int64
	// UploadsFor is how long a resumable upload may take. Staged bytes must not be swept
	// before.
	UploadsFor time.Duration
}

// New makes the service.
func New(st *store.Store, keys *auth.Authenticator, limits *store.LimitCache, blobs blob.Store, signer *blob.Signer, previews *preview.Maker) *Service {
	return &Service{store: st, keys: keys, blobs: blobs, signer: signer, pace: usualPace, limits: limits, previews: previews}
}

// grant checks the signed token of a request: its signature, its purpose, its expiry,
// and the key that asked for it, which is the actor.
func (s *Service) grant(r *http.Request, token string, purpose blob.Purpose) (blob.Grant, library.Actor, error) {
	g, err := s.signer.Open(token, purpose)
	if err != nil {
		return g, library.Actor{}, err
	}
	actor, valid, err := s.keys.LinkActor(r.Context(), g.Tenant, g.Key)
	if err == nil && !valid {
		err = library.NewError(library.KindForbidden, library.CodeURLRevoked, "The API key that requested this link was revoked or has expired. Request a new one with another key.")
	}
	return g, actor, err
}

// file returns the row of an asset that is not in the trash and that the actor sees: a
// link ends with its asset, or when that becomes another's private one, however long it
// was made for.
func (s *Service) file(ctx context.Context, actor library.Actor, hash library.AssetHash) (store.AssetFile, error) {
	files, err := s.store.Assets.Files(ctx, actor, []library.AssetHash{hash})
	if err != nil {
		return store.AssetFile{}, err
	}
	f, there := files[hash]
	if !there {
		return f, library.NotFound("asset")
	}
	return f, nil
}

// Upload takes the bytes of PUT /api/v1/storage/upload/{token} and keeps them
// durably before it answers.
func (s *Service) Upload(w http.ResponseWriter, r *http.Request, _ library.Actor) error {
	g, _, err := s.grant(r, chi.URLParam(r, "token"), blob.PurposeUpload)
	if err != nil {
		return err
	}
	if err := checkUpload(r, g); err != nil {
		return err
	}
	if err := s.limits.Room(r.Context(), g.Tenant, max(0, r.ContentLength)); err != nil {
		return err
	}
	body, done := newPaced(w, r, s.pace)
	staged, err := s.blobs.Stage(r.Context(), g.Tenant, g.Staged, newExact(body, g), g.MaxBytes)
	done()
	if err != nil {
		if tooSlow(err) {
			return library.NewError(library.KindInvalid, library.CodeSizeMismatch,
				"The upload was slower than %d bytes per second and was cancelled; nothing was stored. Send it again over a faster connection.", s.pace.minRate)
		}
		if isReadError(err) {
			return &library.Error{Kind: library.KindCanceled, Code: library.CodeClientClosed, Cause: err, Detail: "The upload was interrupted; nothing was stored. Send it again."}
		}
		return err
	}
	if r.ContentLength < 0 { // its size is known only now
		if err := s.limits.Room(r.Context(), g.Tenant, staged.Size); err != nil {
			return errors.Join(err, s.blobs.Discard(r.Context(), g.Tenant, g.Staged))
		}
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"sha1":%q,"size":%d}`+"\n", staged.SHA1, staged.Size)
	return nil
}

// checkUpload compares the headers of an upload with what its link was made for.
func checkUpload(r *http.Request, g blob.Grant) error {
	sent := r.Header.Get("Content-Type")
	want := g.MIMEType
	if want == "" {
		want = "the file's own type, such as image/png"
	}
	switch {
	case g.Size > 0 && r.ContentLength >= 0 && r.ContentLength != g.Size:
		return (&exact{grant: g}).wrongSize()
	case r.ContentLength > g.MaxBytes:
		return library.NewError(library.KindTooLarge, library.CodePayloadTooLarge, "The file is larger than the %d bytes this link allows.", g.MaxBytes)
	case sent == "":
		return library.NewError(library.KindUnsupported, library.CodeTypeMismatch, "The upload has no Content-Type. Send %s.", want)
	case !sameType(sent, g.MIMEType):
		return library.NewError(library.KindUnsupported, library.CodeTypeMismatch, "This link was created for %s. Send that Content-Type, or request another link.", want)
	}
	return nil
}

// sameType compares media types without their parameters. A link made without a
// type takes any.
func sameType(sent, want string) bool {
	a, _, err := mime.ParseMediaType(sent)
	b, _, _ := strings.Cut(want, ";")
	return err == nil && (want == "" || strings.EqualFold(a, strings.TrimSpace(b)))
}

func isReadError(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.Canceled) || errors.Is(err, http.ErrBodyReadAfterClose)
}

// Download serves the original bytes of GET /files/{token}/{name}, whole or in ranges.
func (s *Service) Download(w http.ResponseWriter, r *http.Request, _ library.Actor) error {
	g, actor, err := s.grant(r, chi.URLParam(r, "token"), blob.PurposeDownload)
	if err != nil {
		return err
	}
	if !sameName(chi.URLParam(r, "name"), g.Filename) {
		return blob.InvalidURL()
	}
	f, err := s.file(r.Context(), actor, g.Asset)
	if err != nil {
		return err
	}
	return s.serveOriginal(w, r, g.Tenant, f)
}

// sameName compares the name in a path, escaped or not, with the one that was signed.
func sameName(sent, want string) bool {
	if plain, err := url.PathUnescape(sent); err == nil && plain == want {
		return true
	}
	return sent == want
}

// DownloadAsset serves the original bytes to a credential of the asset's tenant.
func (s *Service) DownloadAsset(w http.ResponseWriter, r *http.Request, actor library.Actor) error {
	hash, err := assetOf(r)
	if err != nil {
		return err
	}
	f, err := s.file(r.Context(), actor, hash)
	if err != nil {
		return err
	}
	return s.serveOriginal(w, r, actor.Tenant, f)
}

// assetOf reads the asset that a request's path names.
func assetOf(r *http.Request) (library.AssetHash, error) {
	hash := library.AssetHash(strings.ToLower(chi.URLParam(r, "asset_h")))
	if !hash.Valid() {
		return "", library.Invalid(library.FieldError{Field: "asset_h", Code: "pattern", Message: "Expected a SHA-1 of 40 hex digits."})
	}
	return hash, nil
}

func (s *Service) serveOriginal(w http.ResponseWriter, r *http.Request, tenant library.TenantID, f store.AssetFile) error {
	file, err := s.openWhole(r.Context(), tenant, f)
	if err != nil {
		return err
	}
	defer file.Close()
	h := w.Header()
	guard(h)
	disposition := mime.FormatMediaType("attachment", map[string]string{"filename": f.Filename})
	if bucket := s.bucket(file); bucket != nil {
		return s.redirect(w, r, bucket, tenant, f, disposition)
	}
	h.Set("Content-Type", f.MIMEType)
	h.Set("Content-Disposition", disposition)
	h.Set("ETag", `"`+string(f.Hash)+`"`)
	h.Set("Cache-Control", "private, max-age=300")
	out, done := newPatient(w, s.pace)
	defer done()
	http.ServeContent(&problemWriter{ResponseWriter: out, request: r, size: file.Size()}, r, "", file.ModTime(), io.NewSectionReader(file, 0, file.Size()))
	if out.source != nil { // the answer has begun, so all that can be done is not to end it well
		slog.ErrorContext(r.Context(), "a file could not be read while it was sent", "asset", f.Hash, "error", out.source)
		panic(http.ErrAbortHandler)
	}
	return nil
}

// bucket returns the bucket that serves a file itself, or nil.
func (s *Service) bucket(file blob.Object) *blob.Bucket {
	place := s.blobs
	if _, elsewhere := file.(*inplace.Object); elsewhere || s.DirectFor <= 0 {
		return nil
	}
	if with, ok := place.(*inplace.Blobs); ok {
		place = with.Own()
	}
	bucket, _ := place.(*blob.Bucket)
	return bucket
}

// redirect answers a download with a link to the bucket.
func (s *Service) redirect(w http.ResponseWriter, r *http.Request, bucket *blob.Bucket, tenant library.TenantID, f store.AssetFile, disposition string) error {
	link, err := bucket.Link(r.Context(), tenant, f.Hash, s.DirectFor, f.MIMEType, disposition)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, link, http.StatusTemporaryRedirect)
	return nil
}

// openWhole opens an asset's file. One that is missing or has another size than what was
// stored is an error that says how to bring it back: part of a file is never served as
// the whole.
func (s *Service) openWhole(ctx context.Context, tenant library.TenantID, f store.AssetFile) (blob.Object, error) {
	const heal = "Import the original again, which stores it anew, or let the operator copy it back from a backup."
	file, err := s.blobs.Open(ctx, tenant, f.Hash)
	if err != nil {
		if e := library.AsError(err); e.Kind == library.KindNotFound && e.Code != library.CodeFileMissing {
			err = &library.Error{Kind: library.KindNotFound, Code: library.CodeFileMissing, Cause: err, Detail: "The asset's file is missing. " + heal}
		}
		return nil, err
	}
	if size := file.Size(); size != f.Size {
		_ = file.Close()
		return nil, &library.Error{Kind: library.KindUnprocessable, Code: library.CodeFileDamaged, Cause: fmt.Errorf("%s has %d bytes", f.Hash, size),
			Detail: fmt.Sprintf("The asset's file is damaged: %d bytes were stored, and it has %d. %s", f.Size, size, heal)}
	}
	return file, nil
}

// guard keeps a browser from running what is stored here.
func guard(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
}

// Preview serves GET /previews/{token}.jpg?size=512.
func (s *Service) Preview(w http.ResponseWriter, r *http.Request, _ library.Actor) error {
	g, actor, err := s.grant(r, strings.TrimSuffix(chi.URLParam(r, "token"), ".jpg"), blob.PurposePreview)
	if err != nil {
		return err
	}
	if _, err := s.file(r.Context(), actor, g.Asset); err != nil {
		return err
	}
	return s.servePreview(w, r, g.Tenant, g.Asset)
}

// PreviewAsset serves a preview to a credential of the asset's tenant.
func (s *Service) PreviewAsset(w http.ResponseWriter, r *http.Request, actor library.Actor) error {
	hash, err := assetOf(r)
	if err != nil {
		return err
	}
	if _, err := s.file(r.Context(), actor, hash); err != nil {
		return err
	}
	return s.servePreview(w, r, actor.Tenant, hash)
}

func (s *Service) servePreview(w http.ResponseWriter, r *http.Request, tenant library.TenantID, hash library.AssetHash) error {
	edge, err := edgeOf(r)
	if err != nil {
		return err
	}
	picture, err := s.previews.Picture(r.Context(), tenant, hash, edge)
	if err != nil {
		return err
	}
	h := w.Header()
	guard(h)
	h.Set("Content-Type", "image/jpeg")
	h.Set("Cache-Control", "private, max-age=86400, immutable")
	h.Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(picture)))
	http.ServeContent(&problemWriter{ResponseWriter: w, request: r, size: int64(len(picture))}, r, "", time.Time{}, bytes.NewReader(picture))
	return nil
}

func edgeOf(r *http.Request) (int, error) {
	sent := r.URL.Query().Get("size")
	if sent == "" {
		return preview.DefaultEdge, nil
	}
	for _, e := range preview.Edges {
		if sent == strconv.Itoa(e) {
			return e, nil
		}
	}
	return 0, library.Invalid(library.FieldError{Field: "size", Code: "enum", Message: "Allowed are 256, 512, 1024 and 2048."})
}

// Storyboard serves the picture, or the description, of the storyboard of a video by a
// thumbnail_url: GET /previews/{token}/storyboard.jpg.
func (s *Service) Storyboard(w http.ResponseWriter, r *http.Request, _ library.Actor) error {
	g, actor, err := s.grant(r, strings.TrimSuffix(chi.URLParam(r, "token"), ".jpg"), blob.PurposePreview)
	if err != nil {
		return err
	}
	return s.serveStoryboard(w, r, actor, g.Tenant, g.Asset)
}

// StoryboardAsset serves the same to a credential of the asset's tenant.
func (s *Service) StoryboardAsset(w http.ResponseWriter, r *http.Request, actor library.Actor) error {
	hash, err := assetOf(r)
	if err != nil {
		return err
	}
	return s.serveStoryboard(w, r, actor, actor.Tenant, hash)
}

func (s *Service) serveStoryboard(w http.ResponseWriter, r *http.Request, actor library.Actor, tenant library.TenantID, hash library.AssetHash) error {
	if _, err := s.file(r.Context(), actor, hash); err != nil {
		return err
	}
	d, err := s.store.Assets.Get(r.Context(), actor, hash)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(d.Asset.MIMEType, "video/") {
		return library.NotFound("storyboard")
	}
	picture, described, err := s.previews.Storyboard(r.Context(), tenant, hash, time.Duration(d.Asset.DurationMS)*time.Millisecond)
	if err != nil {
		return err
	}
	data, kind := picture, "image/jpeg"
	if strings.HasSuffix(r.URL.Path, ".json") {
		data, kind = described, "application/json"
	}
	h := w.Header()
	guard(h)
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "private, max-age=86400, immutable")
	h.Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(data)))
	http.ServeContent(&problemWriter{ResponseWriter: w, request: r, size: int64(len(data))}, r, "", time.Time{}, bytes.NewReader(data))
	return nil
}
