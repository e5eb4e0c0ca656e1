package assets

import (
	"context"
	"fmt"
	"strings"

	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/op"
)

type uploadURLInput struct {
	op.TenantInput
	Filename string `json:"filename" minLength:"1" maxLength:"1024" doc:"The file's name."`
	MIMEType string `json:"mime_type" maxLength:"255" pattern:"^ *[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+ *(;[ -~]*)?$" patternDescription:"a MIME type, for example image/png" tool:"plain" doc:"For example image/png. content_type is accepted for it."`
	Size     int64  `json:"size,omitempty" minimum:"1" tool:"plain" doc:"Bytes, if known. A file that is too large is refused before the upload, and signedUrl accepts no other size."`
	SHA1     string `json:"sha1,omitempty" id:"asset" pattern:"^[0-9a-fA-F]{40}$" patternDescription:"a SHA-1 of 40 hex digits" tool:"plain" doc:"SHA-1 of the bytes. If they are stored already, already_stored is the asset and no upload is needed; otherwise signedUrl accepts no other bytes."`
}

// Validate implements op.Validator.
func (in *uploadURLInput) Validate() []library.FieldError {
	var errs []library.FieldError
	if in.Filename = library.CleanFilename(in.Filename); in.Filename == "" {
		errs = append(errs, library.FieldError{Field: "filename", Code: "format", Message: "Expected a file name, for example fox.png."})
	}
	return errs
}

type uploadURLOutput struct {
	SignedURL     string            `json:"signedUrl" doc:"PUT the bytes here with the same Content-Type, which is required. No API key is needed, but the link ends when yours is revoked. Empty when already_stored is set."`
	Path          string            `json:"path" doc:"The storage path; the same as storagePath."`
	StoragePath   string            `json:"storagePath" doc:"Pass to StoreAsset as asset_storage_ref.storagePath after the upload."`
	ExpiresIn     int               `json:"expires_in" doc:"Seconds until signedUrl expires."`
	MaxBytes      int64             `json:"max_bytes" doc:"Maximum size of the file, in bytes."`
	AlreadyStored library.AssetHash `json:"already_stored" doc:"The existing asset with these bytes; empty if there is none."`
}

func (s *Service) createUploadURL() op.Operation {
	return op.Define(op.Meta{
		Name: "CreateUploadUrl", Title: "Get an upload URL", Domain: op.Assets,
		Doc:    "Returns a signed URL to PUT a file of any size to; then call StoreAsset with its storagePath. With sha1, finds bytes that are stored already.",
		More:   "Use it for files above about 3 MB.",
		Method: "GET", Path: "/api/v1/storage/signed-url/upload", Permission: library.PermWrite, Idempotent: true, Chained: true,
		Example: map[string]any{"filename": "fox.png", "mime_type": "image/png", "size": 1024},
	}, func(ctx context.Context, actor library.Actor, in uploadURLInput) (uploadURLOutput, error) {
		limit := s.maxFile()
		if in.Size > limit {
			return uploadURLOutput{}, library.NewError(library.KindTooLarge, library.CodePayloadTooLarge, "The file is larger than the %d bytes this service allows.", limit)
		}
		if in.SHA1 != "" {
			hash := library.AssetHash(strings.ToLower(in.SHA1))
			intact, err := s.intact(ctx, actor, []library.AssetHash{hash})
			if err != nil {
				return uploadURLOutput{}, err
			}
			if intact[hash] {
				return uploadURLOutput{MaxBytes: limit, AlreadyStored: hash}, nil
			}
		}
		if err := s.room(ctx, actor.Tenant, in.Size); err != nil {
			return uploadURLOutput{}, err
		}
		return s.uploadTicket(actor, upload{in.Filename, in.MIMEType, in.Size, library.AssetHash(strings.ToLower(in.SHA1))}), nil
	})
}

func (s *Service) uploadTicket(actor library.Actor, u upload) uploadURLOutput {
	id := blob.NewStagingID()
	p := storagePath(actor.Tenant, id, u.filename)
	limit := s.maxFile()
	if u.size > 0 {
		limit = u.size
	}
	return uploadURLOutput{SignedURL: s.Links.For(actor).upload(actor.Tenant, id, u, limit), Path: p, StoragePath: p,
		ExpiresIn: int(uploadValid.Seconds()), MaxBytes: limit}
}

type findStoredInput struct {
	op.TenantInput
	Files   []fileToSend `json:"files" minItems:"1" maxItems:"500" doc:"The files to check."`
	Restore bool         `json:"restore,omitempty" doc:"true returns upload URLs for files of assets in the trash and of purged ones as well; StoreAsset then brings them back."`
}

type fileToSend struct {
	SHA1     string `json:"sha1" id:"asset" pattern:"^[0-9a-fA-F]{40}$" patternDescription:"a SHA-1 of 40 hex digits"`
	Filename string `json:"filename" minLength:"1" maxLength:"1024"`
	MIMEType string `json:"mime_type,omitempty" maxLength:"255" pattern:"^ *[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+ *(;[ -~]*)?$" patternDescription:"a MIME type, for example image/png"`
	Size     int64  `json:"size,omitempty" minimum:"1" doc:"The file's size in bytes, where known; the upload URL takes no other."`
}

// Validate implements op.Validator.
func (in *findStoredInput) Validate() (errs []library.FieldError) {
	for i := range in.Files {
		f := &in.Files[i]
		if f.Filename = library.CleanFilename(f.Filename); f.Filename == "" {
			errs = append(errs, library.FieldError{Field: fmt.Sprintf("files[%d].filename", i), Code: "format", Message: "Expected a file name."})
		}
	}
	return errs
}

type findStoredOutput struct {
	Files []fileTicket `json:"files" doc:"One entry per file sent, in the same order."`
}

type fileTicket struct {
	SHA1        string `json:"sha1"`
	Stored      bool   `json:"stored" doc:"The bytes are stored already, and their file is in order; no upload is needed. Otherwise signedUrl accepts no other bytes."`
	Absent      string `json:"absent,omitempty" enum:"trashed,purged" doc:"The asset of these bytes was taken out of the library. There is no signedUrl unless restore is true."`
	SignedURL   string `json:"signedUrl,omitempty"`
	StoragePath string `json:"storagePath,omitempty"`
}

// findStored is what a resumable import asks first.
func (s *Service) findStored() op.Operation {
	return op.Define(op.Meta{
		Name: "FindStored", Title: "Find which files are stored", Domain: op.Assets,
		Doc: "Returns for up to 500 files, by the SHA-1 of their bytes, which are stored already, and a signed upload URL for each of the others. " +
			"An interrupted import resumes with this call. Files of assets in the trash and of purged ones are left out unless restore is true. A file that was stored and is missing or damaged now is not stored: uploading it heals it.",
		Method: "POST", Path: "/api/v1/imports/find-stored", Permission: library.PermWrite, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"files": []map[string]any{{"sha1": "da39a3ee5e6b4b0d3255bfef95601890afd80709", "filename": "fox.png"}}},
	}, func(ctx context.Context, actor library.Actor, in findStoredInput) (findStoredOutput, error) {
		hashes := make([]library.AssetHash, len(in.Files))
		for i, f := range in.Files {
			hashes[i] = library.AssetHash(strings.ToLower(f.SHA1))
		}
		intact, err := s.intact(ctx, actor, hashes)
		if err != nil {
			return findStoredOutput{}, err
		}
		absent, err := s.Store.Trash.Absent(ctx, actor, hashes)
		if err != nil {
			return findStoredOutput{}, err
		}
		out := findStoredOutput{Files: make([]fileTicket, len(in.Files))}
		for i, f := range in.Files {
			out.Files[i] = fileTicket{SHA1: string(hashes[i]), Stored: intact[hashes[i]], Absent: absent[hashes[i]]}
			if !intact[hashes[i]] && (absent[hashes[i]] == "" || in.Restore) {
				ticket := s.uploadTicket(actor, upload{f.Filename, f.MIMEType, f.Size, hashes[i]})
				out.Files[i].SignedURL, out.Files[i].StoragePath = ticket.SignedURL, ticket.StoragePath
			}
		}
		return out, nil
	})
}
