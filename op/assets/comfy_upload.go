package assets

import (
	"context"
	"errors"
	"fmt"

	"vitrine/library"
	"vitrine/media/extract"
	"vitrine/op"
)

// The two routes of the "save to library" node that is published for ComfyUI, which lets its
// users name the server. Their names and members are its contract.

type comfyUploadInput struct {
	op.TenantInput
	Filename    string `json:"filename" minLength:"1" maxLength:"1024"`
	ContentType string `json:"contentType" maxLength:"255" pattern:"^ *[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+ *(;[ -~]*)?$" patternDescription:"a MIME type, for example image/png" doc:"For example image/png."`
}

// Validate implements op.Validator.
func (in *comfyUploadInput) Validate() []library.FieldError {
	if in.Filename = library.CleanFilename(in.Filename); in.Filename == "" {
		return []library.FieldError{{Field: "filename", Code: "format", Message: "Expected a file name, for example fox.png."}}
	}
	return nil
}

type comfyUploadOutput struct {
	SignedURL string `json:"signedUrl" doc:"PUT the bytes here with the same Content-Type and without a key."`
	Token     string `json:"token" doc:"Identifies the upload. signedUrl has all that the PUT needs."`
	Path      string `json:"path" doc:"Pass to ConfirmComfyUpload after the upload."`
}

func (s *Service) createComfyUpload() op.Operation {
	return op.Define(op.Meta{
		Name: "CreateComfyUpload", Title: "Get an upload URL for a ComfyUI node", Domain: op.Assets,
		Doc:    "Returns a signed URL to PUT a file to, for save nodes of ComfyUI. Then call ConfirmComfyUpload.",
		More:   "A key for it may have the permission comfy-ingest alone, which adds assets and reads nothing. Keys with write are accepted too.",
		Method: "POST", Path: "/api/v1/comfy-lineage/asset/signed-url", Permission: library.PermIngest, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"filename": "fox.png", "contentType": "image/png"},
	}, func(ctx context.Context, actor library.Actor, in comfyUploadInput) (comfyUploadOutput, error) {
		if err := s.room(ctx, actor.Tenant, 1); err != nil {
			return comfyUploadOutput{}, err
		}
		ticket := s.uploadTicket(actor, upload{filename: in.Filename, mimeType: in.ContentType})
		id, _ := splitStoragePath(actor.Tenant, ticket.Path)
		return comfyUploadOutput{SignedURL: ticket.SignedURL, Token: id, Path: ticket.Path}, nil
	})
}

type confirmComfyInput struct {
	op.TenantInput
	Path     string `json:"path" id:"upload" minLength:"1" maxLength:"2048" doc:"From CreateComfyUpload."`
	Filename string `json:"filename" minLength:"1" maxLength:"1024"`
	FileSize int64  `json:"fileSize,omitempty" minimum:"1" doc:"In bytes. If sent, the upload must have this size."`
	MIMEType string `json:"mimeType" maxLength:"255" pattern:"^ *[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+ *(;[ -~]*)?$" patternDescription:"a MIME type, for example image/png"`
}

type comfyAsset struct {
	AssetHash library.AssetHash `json:"assetH" doc:"SHA-1 of the bytes: the asset's identity."`
	Filename  string            `json:"filename"`
	FileSize  int64             `json:"fileSize" doc:"In bytes."`
	MIMEType  string            `json:"mimeType" doc:"As the bytes say."`
	ToolName  string            `json:"toolName" doc:"The program that generated the file, as the file says; empty where it does not."`
	Created   bool              `json:"created" doc:"false when these bytes were stored already."`
}

type comfyMetadata struct {
	Prompt     string         `json:"prompt" doc:"The positive prompt that was read from the file."`
	Extraction extract.Report `json:"extraction" doc:"How much generation metadata the file has, and why some is missing."`
}

type confirmComfyOutput struct {
	Success  bool          `json:"success"`
	URL      string        `json:"url" doc:"The asset in the gallery."`
	Asset    comfyAsset    `json:"asset"`
	Metadata comfyMetadata `json:"metadata"`
	Warning  *string       `json:"warning" doc:"What is missing, such as a workflow in the file; null if nothing is."`
}

func (s *Service) confirmComfyUpload() op.Operation {
	return op.Define(op.Meta{
		Name: "ConfirmComfyUpload", Title: "Store a ComfyUI node's upload", Domain: op.Assets,
		Doc:    "Stores what was sent to a URL of CreateComfyUpload and extracts its generation metadata.",
		Method: "POST", Path: "/api/v1/import/comfyui/confirm-upload", Permission: library.PermIngest, Idempotent: true, RESTOnly: true, Limit: storeLimit,
		Example: map[string]any{"path": "00000000-0000-0000-0000-000000000000/uploads/0198c5a0-0000-7000-8000-000000000000/fox.png", "filename": "fox.png", "fileSize": 1024, "mimeType": "image/png"},
	}, s.confirmComfy)
}

func (s *Service) confirmComfy(ctx context.Context, actor library.Actor, in confirmComfyInput) (confirmComfyOutput, error) {
	var out confirmComfyOutput
	store := storeInput{Filename: in.Filename, MIMEType: in.MIMEType, StorageRef: &storageRef{StoragePath: in.Path}}
	if errs := store.Validate(); len(errs) > 0 {
		return out, library.Invalid(errs...)
	}
	if err := s.checkSize(ctx, actor, in); err != nil {
		return out, unknownUpload(err)
	}
	kept, err := s.store(ctx, actor, store)
	if err != nil {
		return out, unknownUpload(err)
	}
	detail, err := s.Store.Assets.Get(ctx, actor, kept.Asset.AssetHash)
	if err != nil {
		return out, err
	}
	out = confirmComfyOutput{Success: true, URL: s.Links.Base + "/?q=asset_h:" + string(kept.Asset.AssetHash), Metadata: comfyMetadata{Extraction: kept.Extraction},
		Asset: comfyAsset{AssetHash: kept.Asset.AssetHash, Filename: detail.Asset.Filename, FileSize: detail.Asset.Size, MIMEType: detail.Asset.MIMEType, Created: kept.Created}}
	if w := detail.Lineage.Workflow; w != nil {
		out.Asset.ToolName = w.ToolName
	}
	if p := detail.Lineage.Positive; p != nil {
		out.Metadata.Prompt = *p
	}
	if kept.LineageSource != library.LineageExtracted {
		out.Warning = &kept.Extraction.Sentence
	}
	return out, nil
}

// checkSize refuses an upload that has not the size that was sent.
func (s *Service) checkSize(ctx context.Context, actor library.Actor, in confirmComfyInput) error {
	id, ok := splitStoragePath(actor.Tenant, in.Path)
	if in.FileSize == 0 || !ok {
		return nil // storing looks at the path
	}
	file, staged, err := s.Blobs.OpenStaged(ctx, actor.Tenant, id)
	if err != nil {
		return nil //nolint:nilerr // storing says what is wrong
	}
	defer file.Close()
	if staged.Size != in.FileSize {
		return library.Invalid(library.FieldError{Field: "fileSize", Code: "mismatch", Message: fmt.Sprintf("The upload has %d bytes.", staged.Size), Hint: "Send the file again to a new URL."})
	}
	return nil
}

// unknownUpload returns not found for a path that no upload waits at: it is what a path of
// these routes names.
func unknownUpload(err error) error {
	var e *library.Error
	if errors.As(err, &e) && len(e.Fields) == 1 && e.Fields[0].Field == "asset_storage_ref.storagePath" {
		return library.NotFound("upload")
	}
	return err
}
