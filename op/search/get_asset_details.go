package search

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/media/preview"
	"vitrine/op"
	"vitrine/op/assets"
	"vitrine/store"
)

type detailsInput struct {
	op.TenantInput
	AssetHash          string `json:"asset_h" id:"asset" pattern:"^[0-9a-fA-F]{40}$" patternDescription:"a SHA-1 of 40 hex digits" doc:"The asset."`
	IncludeDownloadURL bool   `json:"include_download_url,omitempty" doc:"Adds a link to the file. It is in download_url, and valid for 5 minutes."`
	IncludeRawMetadata bool   `json:"include_raw_metadata,omitempty" doc:"Adds all metadata and the whole workflow graph. This can be tens of kilobytes."`
	IncludeImage       bool   `json:"include_image,omitempty" doc:"Adds a preview image. It is a JPEG of at most 200 KB, without metadata."`
	op.FormatInput
}

func (s *Service) getAssetDetails() op.Operation {
	return op.Define(op.Meta{
		Name: "GetAssetDetails", Title: "Get an asset's details", Domain: op.Search,
		Doc: "Returns one asset with its generation metadata: prompts, models, settings, workflow, parents, provenance. " +
			"What the file does not say is null.",
		Method: "GET", Path: "/api/v1/assets/{asset_h}", Permission: library.PermRead, ReadOnly: true, Idempotent: true,
		Example: map[string]any{"asset_h": "da39a3ee5e6b4b0d3255bfef95601890afd80709", "include_download_url": true},
	}, s.details)
}

func (s *Service) details(ctx context.Context, actor library.Actor, in detailsInput) (detailsOutput, error) {
	hash := lowerHash(in.AssetHash)
	d, err := s.Store.Assets.Get(ctx, actor, hash)
	if err != nil {
		return detailsOutput{}, err
	}
	out := describe(d, s.Links.For(actor).In(in.FormatInput))
	out.version = d.Asset.DocVersion
	if !in.Detailed() {
		out.shorten()
	} else if err := s.annotated(ctx, actor, d, &out); err != nil {
		return out, err
	}
	if l := d.Lineage.Workflow; l != nil {
		editor, executed, err := s.Store.Assets.Workflow(ctx, actor, hash)
		if err != nil {
			return out, err
		}
		out.Workflow.addGraph(editor, executed, in.graphLimit())
		if in.IncludeRawMetadata {
			out.WorkflowGraph = library.ValidJSON(executed, editor)
		}
	}
	if in.IncludeRawMetadata {
		var chunks json.RawMessage
		if err := s.Store.Assets.RawChunks(ctx, actor, hash, &chunks); err != nil {
			return out, err
		}
		out.ExtractedMetadata = &chunks
	}
	if in.IncludeDownloadURL {
		out.DownloadURL = s.Links.For(actor).Download(d.Asset)
		expires := time.Now().Add(assets.DownloadValid).UTC().Truncate(time.Second)
		out.DownloadExpiresAt = &expires
	}
	out.Embedding.Configurations = s.configurationsOf(ctx, actor, d.Asset.Hash)
	s.explainNoPreview(ctx, d, &out)
	if in.IncludeImage {
		out.PreviewImage, out.image = s.inlinePreview(ctx, actor, d.Asset)
	}
	return out, nil
}

// explainNoPreview says what the service lacks to make a preview. That is not kept with the asset:
// it may be there tomorrow.
func (s *Service) explainNoPreview(ctx context.Context, d store.AssetDetail, out *detailsOutput) {
	a := d.Asset
	switch {
	case d.NoPreview.Code != "" || d.Placeholder != nil || s.Previews == nil:
	case strings.HasPrefix(a.MIMEType, "video/") && s.Previews.FFmpeg() == nil:
		out.PreviewFailed, out.PreviewError = store.PreviewNoFFmpeg, "The service has no ffmpeg to read a frame of the video with."
	case slices.Contains(preview.VipsTypes, a.MIMEType) && s.Previews.Vips() == nil:
		out.PreviewFailed, out.PreviewError = store.PreviewNoVips, "The service has no libvips, which reads AVIF, HEIC and JPEG XL."
	case strings.HasPrefix(a.MIMEType, "model/") && a.MIMEType != glbType && !s.Previews.HasPoster(ctx, a.Tenant, a.Hash):
		out.PreviewFailed, out.PreviewError = store.PreviewNoRenderer, "Of 3D models only binary glTF files (GLB) are rendered. Send a picture of it as poster_image_base64 with StoreAsset."
	}
}

// glbType is the type of 3D models that are rendered when they arrive; of those that cannot be, the reason is kept.
const glbType = "model/gltf-binary"

// graphLimit is how large a workflow graph may be to travel with the answer, in bytes.
func (in detailsInput) graphLimit() int {
	switch {
	case in.IncludeRawMetadata:
		return math.MaxInt
	case in.Detailed():
		return maxGraph
	}
	return maxGraphConcise
}

// inlinePreview returns the picture that travels with the reply; where there is none,
// the report says why and the reply is good all the same.
func (s *Service) inlinePreview(ctx context.Context, actor library.Actor, a library.Asset) (*previewReport, []byte) {
	ctx, cancel := context.WithTimeout(ctx, inlineLimit)
	defer cancel()
	picture, err := s.Previews.Inline(ctx, a.Tenant, a.Hash)
	if err != nil {
		p := op.ProblemOf(err, "")
		return &previewReport{Reason: p.Detail, Code: p.Code, RetryAfter: p.RetryAfter}, nil
	}
	return &previewReport{Included: true, MIMEType: "image/jpeg", Bytes: len(picture), URL: s.Links.For(actor).Thumbnail(a.Tenant, a.Hash)}, picture
}

// inlineLimit is how long the details of an asset wait for its picture: less than the
// whole call may take.
const inlineLimit = 20 * time.Second

// Attachments implements op.Attacher.
func (o detailsOutput) Attachments() []op.Attachment {
	if o.image == nil {
		return nil
	}
	return []op.Attachment{{MIMEType: "image/jpeg", Data: o.image}}
}
