package transfer

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"vitrine/library"
	"vitrine/media/blob"
)

// Resumable uploads by the protocol tus 1.0.0 (tus.io), with the extensions creation,
// creation-with-upload, expiration, termination and checksum. What was received is staged
// and noted in PostgreSQL before an offset is acknowledged.

const (
	tusVersion    = "1.0.0"
	tusExtensions = "creation,creation-with-upload,expiration,termination,checksum"
	tusChecksums  = "sha1,sha256"
	tusBody       = "application/offset+octet-stream"
	// tusPath is where uploads are begun; each is below it.
	tusPath = "/api/v1/uploads"
	// StoragePathHeader names the header with what StoreAsset takes as storagePath once all
	// bytes have come.
	StoragePathHeader = "Vitrine-Storage-Path"
	// maxOpenUploads is how many uploads of a tenant may be under way.
	maxOpenUploads = 1000
	// maxTusMetadata bounds Upload-Metadata, in bytes.
	maxTusMetadata = 8 << 10
)

// tus answers the headers that every response has, and refuses other versions.
func tus(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Tus-Resumable", tusVersion)
	if r.Header.Get("Tus-Resumable") != tusVersion {
		w.Header().Set("Tus-Version", tusVersion)
		return library.NewError(library.KindPrecondition, library.CodePreconditionFailed, "Send the header Tus-Resumable: %s. This route speaks no other version of tus.", tusVersion)
	}
	return nil
}

// TusOptions answers what this server offers.
func (s *Service) TusOptions(w http.ResponseWriter, _ *http.Request, _ library.Actor) error {
	h := w.Header()
	h.Set("Tus-Resumable", tusVersion)
	h.Set("Tus-Version", tusVersion)
	h.Set("Tus-Extension", tusExtensions)
	h.Set("Tus-Checksum-Algorithm", tusChecksums)
	h.Set("Tus-Max-Size", strconv.FormatInt(s.MaxFile, 10))
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// TusCreate begins an upload, with its first bytes where the request has some.
func (s *Service) TusCreate(w http.ResponseWriter, r *http.Request, actor library.Actor) error {
	if err := tus(w, r); err != nil {
		return err
	}
	u, err := s.newUpload(r, actor)
	if err != nil {
		return err
	}
	if u.ExpiresAt, err = s.store.Uploads.Create(r.Context(), u, s.UploadsFor); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Location", tusPath+"/"+u.ID)
	h.Set(StoragePathHeader, storagePath(u))
	h.Set("Upload-Expires", u.ExpiresAt.UTC().Format(http.TimeFormat))
	if r.Header.Get("Content-Type") == tusBody {
		if u, err = s.receive(w, r, u); err != nil {
			return err
		}
		h.Set("Upload-Offset", strconv.FormatInt(u.Received, 10))
	}
	w.WriteHeader(http.StatusCreated)
	return nil
}

// newUpload reads what an upload is announced as, and refuses what there is no room for.
func (s *Service) newUpload(r *http.Request, actor library.Actor) (u library.Upload, err error) {
	length, err := strconv.ParseInt(r.Header.Get("Upload-Length"), 10, 64)
	switch {
	case err != nil || length < 0:
		return u, badHeader("Upload-Length", "Expected the size of the whole file in bytes. Uploads of unknown size are not taken.")
	case length == 0:
		return u, library.NewError(library.KindInvalid, library.CodeEmptyFile, "The file is empty. There is nothing to store.")
	case length > s.MaxFile:
		return u, library.NewError(library.KindTooLarge, library.CodePayloadTooLarge, "The file is larger than the %d bytes this service allows.", s.MaxFile)
	}
	metadata := r.Header.Get("Upload-Metadata")
	named, err := tusMetadata(metadata)
	if err != nil {
		return u, err
	}
	open, err := s.store.Uploads.Open(r.Context(), actor.Tenant)
	if err != nil {
		return u, err
	}
	if open.Uploads >= maxOpenUploads {
		return u, &library.Error{Kind: library.KindRateLimited, Code: library.CodeRateLimited, RetryAfter: time.Minute,
			Detail: fmt.Sprintf("%d uploads are under way. Finish some, delete them, or wait until they expire.", open.Uploads)}
	}
	if err := s.limits.Room(r.Context(), actor.Tenant, open.Bytes+length); err != nil {
		return u, err
	}
	name := library.CleanFilename(named["filename"])
	if name == "" {
		name = "upload"
	}
	return library.Upload{Tenant: actor.Tenant, ID: blob.NewStagingID(), Owner: actor.ID, Filename: name, Metadata: metadata, Length: length}, nil
}

func badHeader(name, message string) error {
	return library.Invalid(library.FieldError{Field: name, Code: "format", Message: message})
}

// tusMetadata reads Upload-Metadata: names, each with a value in base64.
func tusMetadata(header string) (map[string]string, error) {
	values := map[string]string{}
	if len(header) > maxTusMetadata {
		return nil, badHeader("Upload-Metadata", fmt.Sprintf("It may have at most %d bytes.", maxTusMetadata))
	}
	for pair := range strings.SplitSeq(header, ",") {
		name, encoded, _ := strings.Cut(strings.TrimSpace(pair), " ")
		value, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
		if err != nil || name == "" && header != "" {
			return nil, badHeader("Upload-Metadata", "Expected names with values in base64, separated by commas.")
		}
		values[name] = string(value)
	}
	return values, nil
}

// storagePath is the path by which StoreAsset takes an upload that is complete.
func storagePath(u library.Upload) string {
	return string(u.Tenant) + "/uploads/" + u.ID + "/" + url.PathEscape(u.Filename) // a header is ASCII
}

// upload returns the upload that a request names.
func (s *Service) upload(w http.ResponseWriter, r *http.Request, actor library.Actor) (library.Upload, error) {
	if err := tus(w, r); err != nil {
		return library.Upload{}, err
	}
	return s.store.Uploads.Get(r.Context(), actor, chi.URLParam(r, "upload_id"))
}

// TusHead answers how far an upload has come.
func (s *Service) TusHead(w http.ResponseWriter, r *http.Request, actor library.Actor) error {
	w.Header().Set("Cache-Control", "no-store")
	u, err := s.upload(w, r, actor)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Upload-Offset", strconv.FormatInt(u.Received, 10))
	h.Set("Upload-Length", strconv.FormatInt(u.Length, 10))
	h.Set("Upload-Expires", u.ExpiresAt.UTC().Format(http.TimeFormat))
	h.Set(StoragePathHeader, storagePath(u))
	if u.Metadata != "" {
		h.Set("Upload-Metadata", u.Metadata)
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

// TusPatch takes bytes at an offset.
func (s *Service) TusPatch(w http.ResponseWriter, r *http.Request, actor library.Actor) error {
	u, err := s.upload(w, r, actor)
	if err != nil {
		return err
	}
	offset, err := strconv.ParseInt(r.Header.Get("Upload-Offset"), 10, 64)
	switch {
	case r.Header.Get("Content-Type") != tusBody:
		return library.NewError(library.KindUnsupported, library.CodeUnsupportedMedia, "Send the bytes as Content-Type: %s.", tusBody)
	case err != nil || offset < 0:
		return badHeader("Upload-Offset", "Expected how many bytes were sent before. HEAD tells how many have come.")
	case offset != u.Received:
		return wrongOffset(u)
	}
	if u, err = s.receive(w, r, u); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Upload-Offset", strconv.FormatInt(u.Received, 10))
	h.Set("Upload-Expires", u.ExpiresAt.UTC().Format(http.TimeFormat))
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func wrongOffset(u library.Upload) error {
	return library.NewError(library.KindConflict, library.CodeConflict, "%d bytes of the upload had come. Ask for its offset with HEAD and go on from there.", u.Received)
}

// TusDelete ends an upload and deletes what has arrived of it.
func (s *Service) TusDelete(w http.ResponseWriter, r *http.Request, actor library.Actor) error {
	u, err := s.upload(w, r, actor)
	if err != nil {
		return err
	}
	if err := s.dropUpload(r.Context(), u); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// TusPost takes the methods that clients cannot send, as X-HTTP-Method-Override.
func (s *Service) TusPost(w http.ResponseWriter, r *http.Request, actor library.Actor) error {
	if err := tus(w, r); err != nil {
		return err
	}
	switch r.Header.Get("X-HTTP-Method-Override") {
	case http.MethodPatch:
		return s.TusPatch(w, r, actor)
	case http.MethodDelete:
		return s.TusDelete(w, r, actor)
	case http.MethodHead:
		return s.TusHead(w, r, actor)
	}
	return library.NewError(library.KindMethod, library.CodeMethodNotAllowed, "Send PATCH, HEAD or DELETE; or POST with one of them as X-HTTP-Method-Override.")
}

// dropUpload forgets an upload and its bytes. What is left when that is cut short is swept.
func (s *Service) dropUpload(ctx context.Context, u library.Upload) error {
	if err := s.store.Uploads.Delete(ctx, u.Tenant, u.ID); err != nil {
		return err
	}
	return s.discard(ctx, u, append(u.Parts, u.ID))
}

// SweepUploads drops uploads that have expired, and returns how many.
func (s *Service) SweepUploads(ctx context.Context) (n int, err error) {
	const page = 100
	for {
		list, err := s.store.Uploads.Expired(ctx, page)
		if err != nil || len(list) == 0 {
			return n, err
		}
		for _, u := range list {
			if err := s.dropUpload(ctx, u); err != nil {
				return n, err
			}
			n++
		}
	}
}
