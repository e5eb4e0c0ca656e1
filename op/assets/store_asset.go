package assets

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"vitrine/internal/failpoint"
	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/media/extract"
	"vitrine/media/memory"
	"vitrine/media/preview"
	"vitrine/op"
	"vitrine/store"
)

type storeInput struct {
	op.TenantInput
	Filename      string         `json:"filename" minLength:"1" maxLength:"1024" tool:"plain" doc:"For example fox.png."`
	MIMEType      string         `json:"mime_type" maxLength:"255" pattern:"^ *[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+ *(;[ -~]*)?$" patternDescription:"a MIME type, for example image/png" tool:"plain" doc:"For example image/png. The stored type is read from the bytes."`
	Base64        string         `json:"asset_data_base64,omitempty" base64:"true" minLength:"1" tool:"plain" doc:"For files up to about 3 MB; for larger ones call CreateUploadUrl. Exactly one of asset_data_base64, asset_storage_ref and asset_data_url is required."`
	StorageRef    *storageRef    `json:"asset_storage_ref,omitempty" tool:"plain" doc:"Bytes sent to a signed upload URL."`
	URL           string         `json:"asset_data_url,omitempty" minLength:"1" maxLength:"8192" tool:"plain" doc:"An https URL of an allowed host: a download_url of this service, cdn.midjourney.com, civitai.com and others; an error lists them."`
	Timeout       int            `json:"timeout_seconds,omitempty" minimum:"5" maximum:"300" default:"30" tool:"plain" doc:"For asset_data_url."`
	StoragePath   string         `json:"storage_path,omitempty" id:"upload" maxLength:"2048" tool:"-" doc:"Short form of asset_storage_ref.storagePath."`
	PosterBase64  string         `json:"poster_image_base64,omitempty" base64:"true" doc:"Only for 3D models. A PNG, JPEG or WebP; refused for any other kind of file."`
	PosterType    string         `json:"poster_mime_type,omitempty" enum:"image/png,image/jpeg,image/webp" tool:"plain" doc:"Default: image/png."`
	AllowMismatch *bool          `json:"allow_content_type_mismatch,omitempty" default:"true" doc:"false refuses bytes that are not of mime_type."`
	Assertion     map[string]any `json:"prompt_metadata,omitempty" doc:"What you know of how it was generated. It is stored beside the metadata extracted from the file and never merged with it. Its prompt is found by asserted_prompt: in queries, not by plain words. At most 1 MiB of JSON, 32 levels, 20,000 names."`
	Metadata      map[string]any `json:"asset_metadata,omitempty" tool:"plain" doc:"Other data, searched as metadata.key:value; at most 64 KiB of JSON, 16 levels, 1,000 names."`
	Tags          []string       `json:"tags,omitempty" maxItems:"500" maxLength:"100" tool:"plain" doc:"1 to 100 characters each."`
	Visibility    string         `json:"visibility,omitempty" enum:"private,team,public" doc:"Default: team. private: only you and admins see it; team and public: everybody in the tenant. Ignored when the bytes are stored already."`
	Parent        string         `json:"parent_asset_h,omitempty" id:"asset" pattern:"^[0-9a-fA-F]{40}$" patternDescription:"a SHA-1 of 40 hex digits" doc:"What it is derived from. Ignored when the bytes are stored already."`
	Collection    string         `json:"collection_h,omitempty" id:"collection" maxLength:"600" tool:"plain" doc:"Adds it to this collection; its path is taken too."`
	SourcePath    string         `json:"source_path,omitempty" id:"none" maxLength:"4096" tool:"-" doc:"Where the file came from, as a label."`
	CreatedAt     *time.Time     `json:"created_at,omitempty" doc:"RFC 3339. If unknown, it is the time of this call."`
	Restore       *bool          `json:"restore,omitempty" default:"true" tool:"-" doc:"false refuses bytes of an asset that is in the trash or was purged, with ASSET_TRASHED. An import sends it."`
	Sidecars      []sidecarInput `json:"sidecars,omitempty" maxItems:"5" tool:"-" doc:"Sidecar files with generation metadata: .json, .txt, .xmp, .yaml, or the .png first frame of a video; at most 2 MB together. Metadata in the file itself takes precedence. Ignored when the file is stored already."`

	sidecars []extract.Sidecar // decoded by Validate
}

type storageRef struct {
	StoragePath string `json:"storagePath" id:"upload" minLength:"1" maxLength:"2048" doc:"From CreateUploadUrl. It starts with the tenant's id."`
}

// maxBase64 bounds the encoded bytes; the request body's own limit comes first.
const maxBase64 = 6 << 20

// Validate implements op.Validator.
func (in *storeInput) Validate() []library.FieldError {
	var errs []library.FieldError
	if in.StorageRef == nil && in.StoragePath != "" {
		in.StorageRef = &storageRef{StoragePath: in.StoragePath}
	}
	if in.Filename = library.CleanFilename(in.Filename); in.Filename == "" {
		errs = append(errs, library.FieldError{Field: "filename", Code: "format", Message: "Expected a file name, for example fox.png."})
	}
	if in.MIMEType = mediaType(in.MIMEType); in.MIMEType == "" {
		errs = append(errs, library.FieldError{Field: "mime_type", Code: "format", Message: "Expected a MIME type, for example image/png."})
	}
	if in.PosterBase64 != "" && !strings.HasPrefix(in.MIMEType, "model/") {
		errs = append(errs, library.FieldError{Field: "poster_image_base64", Code: "conflict", Message: "A poster is accepted only for 3D models (mime_type model/*)."})
	}
	var bad []library.FieldError
	in.sidecars, bad = readSidecars(in.Sidecars)
	return slices.Concat(errs, bad, tagErrors("tags", in.Tags), op.CheckObject("asset_metadata", in.Metadata, op.SmallObject),
		op.CheckObject("prompt_metadata", in.Assertion, op.LargeObject))
}

// exactType reports whether the bytes have to be of the announced type.
func (in *storeInput) exactType() bool { return in.AllowMismatch != nil && !*in.AllowMismatch }

// mediaType returns a MIME type in lower case without its parameters, or nothing
// when it has not the form of one.
func mediaType(s string) string {
	s, _, _ = strings.Cut(strings.ToLower(s), ";")
	s = strings.TrimSpace(s)
	kind, sub, ok := strings.Cut(s, "/")
	if !ok || kind == "" || sub == "" || strings.ContainsAny(s, " \t\r\n\"<>") {
		return ""
	}
	return s
}

type storeOutput struct {
	Asset         Summary               `json:"asset"`
	Created       bool                  `json:"created" doc:"false when these bytes were stored already; then the tags and prompt_metadata were added to the existing asset, and visibility was ignored."`
	AlreadyStored bool                  `json:"already_stored" doc:"The opposite of created."`
	Restored      bool                  `json:"restored" doc:"true when the asset was in the trash and has been restored."`
	Healed        bool                  `json:"healed" doc:"true when the asset's file was missing or damaged and is in order again."`
	LineageSource library.LineageSource `json:"lineage_source" enum:"extracted,client_asserted,unknown" doc:"Where the generation data comes from."`
	Collection    string                `json:"collection_path,omitempty" doc:"The collection that was asked for."`
	Extraction    extract.Report        `json:"extraction" doc:"How much generation metadata the file has, and why some is missing."`
	op.Undoable
	op.Indexed
}

// storeLimit leaves time to read the largest file once through, and to fetch one for as
// long as a caller may allow.
const storeLimit = 10 * time.Minute

func (s *Service) storeAsset() op.Operation {
	return op.Define(op.Meta{
		Name: "StoreAsset", Title: "Store an asset", Domain: op.Assets,
		Doc: "Stores a file and extracts its generation metadata. Send the bytes as asset_data_base64 (up to about 3 MB), " +
			"PUT them to a URL from CreateUploadUrl and pass asset_storage_ref, or pass asset_data_url.",
		More:   "The same bytes are stored once.",
		Method: "POST", Path: "/api/v1/assets", Permission: library.PermWrite, Idempotent: true, OpenWorld: true, OneOf: []string{"asset_data_base64", "asset_storage_ref", "asset_data_url", "storage_path"}, Creates: "/api/v1/assets/{asset.asset_h}", Limit: storeLimit, Chained: true,
		Example: map[string]any{"filename": "dot.gif", "mime_type": "image/gif", "asset_data_base64": "R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=", "tags": []string{"sample"}},
	}, s.store)
}

func (s *Service) store(ctx context.Context, actor library.Actor, in storeInput) (out storeOutput, err error) {
	if in.Collection != "" { // before anything is stored
		if err := s.Store.Collections.CheckEditable(ctx, actor, in.Collection); err != nil {
			return out, err
		}
	}
	poster, err := s.decodePoster(ctx, in)
	if err != nil {
		return out, err
	}
	id, err := s.stage(ctx, actor, in)
	if err != nil {
		return out, err
	}
	if in.StorageRef == nil { // nobody else knows of these bytes
		defer func() {
			if err != nil {
				_ = s.Blobs.Discard(context.WithoutCancel(ctx), actor.Tenant, id) // the sweep takes what stays
			}
		}()
	}
	file, staged, err := s.Blobs.OpenStaged(ctx, actor.Tenant, id)
	if err != nil {
		return out, storageRefError(err, in)
	}
	defer file.Close()
	if err := s.roomFor(ctx, actor.Tenant, staged); err != nil {
		return out, err
	}
	if err := s.refuseAbsent(ctx, actor, in, staged); err != nil {
		return out, err
	}
	op.ReportProgress(ctx, 1, 4, "received")
	read, err := s.extract(ctx, in, file, staged)
	if err != nil {
		return out, err
	}
	op.ReportProgress(ctx, 2, 4, "read")
	return s.keep(ctx, actor, in, staged, read, poster)
}

// extract reads a file's metadata and holds it against what was announced.
func (s *Service) extract(ctx context.Context, in storeInput, file blob.Object, staged blob.Staged) (extract.Result, error) {
	lease := s.Memory.Lease()
	defer lease.Release()
	read, err := extract.Read(ctx, file, staged.Size, extract.Options{Filename: in.Filename, Sidecars: in.sidecars, Memory: lease})
	if err != nil {
		return read, busyError(err)
	}
	if kind := mediaType(read.MIMEType); kind != "" {
		read.MIMEType = kind // without a charset: it is a type to search and serve by
	}
	if in.exactType() && read.MIMEType != in.MIMEType {
		if in.URL != "" {
			return read, typeMismatch("The bytes are " + read.MIMEType)
		}
		return read, library.Invalid(library.FieldError{Field: "mime_type", Code: "mismatch",
			Message: "The bytes are " + read.MIMEType + ", not what was announced.", Hint: "Send that type, or allow_content_type_mismatch true."})
	}
	if strings.EqualFold(in.Parent, string(staged.SHA1)) {
		return read, library.Invalid(library.FieldError{Field: "parent_asset_h", Code: "conflict",
			Message: "It is the hash of the file itself; an asset cannot be its own parent.", Hint: "Send the hash of the file it was made from, or omit it."})
	}
	return read, nil
}

// keepLimit bounds the part of storing that a client's leaving does not end.
const keepLimit = time.Minute

// keep puts the bytes in place and writes the row. It goes on when the client leaves:
// bytes without a row would be an orphan.
func (s *Service) keep(ctx context.Context, actor library.Actor, in storeInput, staged blob.Staged, read extract.Result, poster []byte) (out storeOutput, err error) {
	at, err := s.placeOf(ctx, actor.Tenant, staged)
	if err != nil {
		return out, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepLimit)
	defer cancel()
	// The bytes must be durable under their hash before a row promises them.
	if err := s.Blobs.Commit(ctx, actor.Tenant, staged.ID, staged.SHA1); err != nil {
		return out, err
	}
	op.ReportProgress(ctx, 3, 4, "kept")
	n := newAsset(actor, in, staged, read)
	n.HasFile = func(ctx context.Context) (bool, error) { return s.hasSize(ctx, actor.Tenant, staged.SHA1, staged.Size) }
	added, err := s.addRow(ctx, actor, at, n)
	if err != nil {
		return out, err
	}
	if err := failpoint.Inject("store.row_committed"); err != nil {
		return out, err
	}
	if added.Healed && !strings.HasPrefix(added.Asset.MIMEType, "model/") { // previews may be those of damaged bytes; posters are not
		if err := s.Blobs.DropDerived(ctx, actor.Tenant, staged.SHA1); err != nil {
			slog.WarnContext(ctx, "previews of a damaged file could not be removed", "asset", staged.SHA1, "error", err)
		}
	}
	if poster != nil {
		if err := s.Previews.KeepPoster(ctx, actor.Tenant, staged.SHA1, poster); err != nil {
			slog.WarnContext(ctx, "a poster could not be stored", "asset", staged.SHA1, "error", err)
		}
	}
	return storeOutput{Asset: s.summary(actor, added.Asset), Created: added.Created, AlreadyStored: !added.Created, Restored: added.Restored, Healed: added.Healed, Collection: added.Collection, Extraction: read.Report,
		LineageSource: lineageSource(&read.Lineage, assertion(in.Assertion) != nil),
		Undoable:      op.Undoable{OperationID: added.OperationID}, Indexed: op.Indexed{IndexToken: added.OperationID}}, nil
}

// roomFor refuses staged bytes that the tenant has no room for, unless they are
// stored already.
func (s *Service) roomFor(ctx context.Context, tenant library.TenantID, staged blob.Staged) error {
	full := s.room(ctx, tenant, staged.Size)
	if full == nil || library.AsError(full).Code != library.CodeStorageQuota {
		return full
	}
	have, err := s.Store.Assets.ExistingOrTrashed(ctx, tenant, []library.AssetHash{staged.SHA1})
	if err != nil || have[staged.SHA1] {
		return err
	}
	return errors.Join(full, s.Blobs.Discard(ctx, tenant, staged.ID))
}

// keepsAbsent reports whether an asset that was taken out of the library stays out.
func (in *storeInput) keepsAbsent() bool { return in.Restore != nil && !*in.Restore }

// refuseAbsent refuses staged bytes of an asset that was taken out of the library, from a
// caller who does not want it back, before they are put in place. The transaction that
// would bring it back looks again.
func (s *Service) refuseAbsent(ctx context.Context, actor library.Actor, in storeInput, staged blob.Staged) error {
	if !in.keepsAbsent() {
		return nil
	}
	gone, err := s.Store.Trash.Absent(ctx, actor, []library.AssetHash{staged.SHA1})
	if err != nil || gone[staged.SHA1] == "" {
		return err
	}
	return errors.Join(store.AbsentError(gone[staged.SHA1]), s.Blobs.Discard(ctx, actor.Tenant, staged.ID))
}

// stage brings bytes to where uploaded ones already are.
func (s *Service) stage(ctx context.Context, actor library.Actor, in storeInput) (string, error) {
	if in.URL != "" {
		return s.stageURL(ctx, actor, in)
	}
	if in.StorageRef != nil {
		id, ok := splitStoragePath(actor.Tenant, in.StorageRef.StoragePath)
		if !ok {
			return "", library.Invalid(library.FieldError{Field: "asset_storage_ref.storagePath", Code: "format",
				Message: "Expected a storagePath that CreateUploadUrl returned for this tenant; it starts with the tenant's id."})
		}
		return id, nil
	}
	if len(in.Base64) > maxBase64 {
		return "", library.NewError(library.KindTooLarge, library.CodePayloadTooLarge, "The file is too large for base64. Send it to a URL from CreateUploadUrl.")
	}
	raw, err := decodeBase64(in.Base64)
	if err != nil {
		return "", library.Invalid(library.FieldError{Field: "asset_data_base64", Code: "format", Message: "Expected base64; " + err.Error() + "."})
	}
	return s.stageBytes(ctx, actor, bytes.NewReader(raw), s.maxFile())
}

// decodeBase64 takes the standard and the URL alphabet, padded or not, with a
// data: prefix or line breaks: clients send all of these.
func decodeBase64(s string) ([]byte, error) {
	if rest, ok := strings.CutPrefix(s, "data:"); ok {
		_, s, ok = strings.Cut(rest, ",")
		if !ok {
			return nil, errors.New("the data: prefix has no comma")
		}
	}
	s = strings.TrimRight(strings.Map(func(r rune) rune {
		switch r {
		case '\r', '\n', ' ', '\t':
			return -1
		case '-':
			return '+'
		case '_':
			return '/'
		}
		return r
	}, s), "=")
	raw, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return nil, errors.New("a character at or near the position given is not of its alphabet, or the end is missing: " + err.Error())
	}
	return raw, nil
}

// storageRefError returns what to do when the bytes a path names are not there.
func storageRefError(err error, in storeInput) error {
	if in.StorageRef == nil || library.AsError(err).Kind != library.KindNotFound {
		return err
	}
	return library.Invalid(library.FieldError{Field: "asset_storage_ref.storagePath", Code: "unknown",
		Message: "No uploaded bytes are at this path.", Hint: "PUT them to signedUrl first; if it has expired or the upload was used already, call CreateUploadUrl again."})
}

func newAsset(actor library.Actor, in storeInput, staged blob.Staged, read extract.Result) store.NewAsset {
	created := time.Now()
	if in.CreatedAt != nil && in.CreatedAt.Before(created) && in.CreatedAt.Year() >= 1970 {
		created = *in.CreatedAt
	}
	n := store.NewAsset{Collection: in.Collection, KeepAbsent: in.keepsAbsent(), Lineage: read.Lineage, ParserVersion: extract.ParserVersion, Report: read.Report,
		Asset: library.Asset{Hash: staged.SHA1, SHA256: staged.SHA256, BLAKE3: staged.BLAKE3, Filename: in.Filename,
			SourcePath: sourceOf(in), MIMEType: read.MIMEType, ClaimedType: in.MIMEType, Size: staged.Size, Width: read.Width,
			Height: read.Height, DurationMS: read.DurationMS, Tags: in.Tags, Parent: library.AssetHash(strings.ToLower(in.Parent)),
			Visibility: library.Visibility(in.Visibility), Metadata: in.Metadata, CreatedAt: created.UTC()}}
	if actor.Kind == library.ActorKey {
		n.Asset.Owner = actor.ID
	}
	if len(read.Chunks) > 0 {
		n.Chunks = read.Chunks
	}
	if a := assertion(in.Assertion); a != nil {
		n.Assertion = a
	}
	return n
}

// assertion returns the uploader's claim, or nil when it claims nothing: an empty
// object, or one whose values all say none.
func assertion(claim map[string]any) map[string]any {
	for _, v := range claim {
		if s, ok := v.(string); v != nil && (!ok || s != "" && !strings.EqualFold(s, "none")) {
			return claim
		}
	}
	return nil
}

func lineageSource(l *library.Lineage, asserted bool) library.LineageSource {
	switch {
	case l.HasGenerationData():
		return library.LineageExtracted
	case asserted:
		return library.LineageAsserted
	}
	return library.LineageUnknown
}

// decodePoster makes the poster a preview of ours.
func (s *Service) decodePoster(ctx context.Context, in storeInput) ([]byte, error) {
	if in.PosterBase64 == "" {
		return nil, nil
	}
	invalid := func(code, message string) error {
		return library.Invalid(library.FieldError{Field: "poster_image_base64", Code: code, Message: message})
	}
	raw, err := decodeBase64(in.PosterBase64)
	if err != nil {
		return nil, invalid("format", "Expected base64; "+err.Error()+".")
	}
	picture, err := s.Previews.Poster(ctx, raw)
	var large *preview.TooLargeError
	switch {
	case errors.As(err, &large):
		return nil, invalid("range", large.Error()+".")
	case errors.Is(err, memory.ErrBusy), ctx.Err() != nil:
		return nil, busyError(err)
	case err != nil:
		return nil, invalid("format", "Expected a PNG, JPEG or WebP picture in base64.")
	}
	return picture, nil
}

// busyError returns what to do while too much is being decoded; other errors pass.
func busyError(err error) error {
	if !errors.Is(err, memory.ErrBusy) {
		return err
	}
	return &library.Error{Kind: library.KindUnavailable, Code: library.CodeDecodingBusy, RetryAfter: 5 * time.Second, Cause: err,
		Detail: "Too many files are being decoded right now. Nothing was stored; repeat the request in a moment."}
}
