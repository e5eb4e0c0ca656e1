package publishing

import (
	"context"
	"time"

	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/op"
	"vitrine/op/assets"
)

type exportInput struct {
	op.TenantInput
	Assets      []string               `json:"asset_hs" id:"asset" minItems:"1" maxItems:"10000" doc:"The assets, in the order of the files."`
	Preset      string                 `json:"preset,omitempty" enum:"share,portfolio,client,archive,custom" doc:"Default share. See ListExportPresets."`
	Options     *library.ExportOptions `json:"options,omitempty" tool:"open" doc:"For custom: {max_edge, quality, keep: {prompts, workflow, models, exif, gps, iptc, icc, c2pa}, ai_disclosure, watermark: {text, position, opacity}, naming: neutral|title|ordered|original, sidecar: none|json|xmp|csv}."`
	Format      string                 `json:"format,omitempty" enum:"png,jpeg,webp,preserve" doc:"Of pictures. Default: the preset's."`
	WaitSeconds *int                   `json:"wait_seconds,omitempty" minimum:"0" maximum:"60" default:"60" doc:"How long to wait for the zip."`
	Legacy      string                 `json:"export_configuration_h,omitempty" id:"none" tool:"unlisted" maxLength:"64" doc:"Not supported."`

	hashes []library.AssetHash
	spec   library.ExportSpec
}

// Validate implements op.Validator.
func (in *exportInput) Validate() (errs []library.FieldError) {
	in.hashes, errs = assets.Hashes("asset_hs", in.Assets)
	in.hashes = distinct(in.hashes)
	if in.Legacy != "" && in.Preset != "" {
		errs = append(errs, library.FieldError{Field: "export_configuration_h", Code: "conflict", Message: "It cannot be sent together with preset.", Hint: "Send preset alone."})
	}
	if in.Preset == "" {
		in.Preset = string(library.ExportShare)
	}
	spec, wrong := library.NewExportSpec("", library.ExportPreset(in.Preset), in.Format, in.Options)
	in.spec, errs = spec, append(errs, wrong...)
	return errs
}

// distinct returns a list without repetitions.
func distinct(list []library.AssetHash) []library.AssetHash {
	seen := map[library.AssetHash]bool{}
	out := make([]library.AssetHash, 0, len(list))
	for _, h := range list {
		if !seen[h] {
			seen[h] = true
			out = append(out, h)
		}
	}
	return out
}

type exportOutput struct {
	ExportID    string                  `json:"export_id"`
	State       library.ExportState     `json:"state" enum:"queued,running,completed,failed" doc:"completed: download_url has the zip. failed: no file could be exported. Otherwise repeat the call, or GET /api/v1/exports/{export_id}."`
	Preset      library.ExportPreset    `json:"preset"`
	DownloadURL string                  `json:"download_url,omitempty" doc:"The zip; no API key is needed. Takes Range requests."`
	ExpiresIn   int                     `json:"expires_in,omitempty" doc:"Seconds until download_url expires. It ends sooner when the key that asked for it is revoked."`
	Total       int                     `json:"total" doc:"Assets of the export."`
	Done        int                     `json:"done" doc:"Of these, those that were looked at."`
	Files       int                     `json:"files" doc:"Of these, those that are in the zip."`
	Bytes       int64                   `json:"bytes,omitempty" doc:"Size of the zip."`
	SHA256      string                  `json:"sha256,omitempty" doc:"Of the zip."`
	PageCount   int                     `json:"page_count,omitempty" doc:"Of a deck, as ExportCollectionAsPdf makes."`
	Failed      []library.ExportFailure `json:"failed" doc:"Assets that are not in the zip, and why. The first 100."`
}

// exportWait is how long a call waits for its zip.
const exportWait = 60 * time.Second

func (s *Service) exportAssets() op.Operation {
	return op.Define(op.Meta{
		Name: "ExportAssets", Title: "Export assets", Domain: op.Publishing,
		Doc: "Exports assets as one zip and returns a download link, valid 1 hour. A preset says which metadata is removed, which is verified; files that fail are named in failed. Waits up to 60 s; repeat the call to wait on.",
		More: "The same call within an hour, for assets that did not change, is the same export. manifest.json in the zip lists the files with their SHA-256 and with notes, such as of content credentials that were removed because the bytes changed. " +
			"Videos and 3D models are rewritten without metadata and without encoding them again. Private assets are refused.",
		Method: "POST", Path: "/api/v1/exports", Permission: library.PermExport, Idempotent: true, Limit: exportWait + 20*time.Second, Chained: true,
		Example: map[string]any{"asset_hs": []string{exampleAsset}, "preset": "share"},
	}, func(ctx context.Context, actor library.Actor, in exportInput) (exportOutput, error) {
		switch {
		case in.Legacy != "":
			return exportOutput{}, library.NewError(library.KindUnprocessable, library.CodeExportUnavailable, "Export configurations are not supported. Send a preset instead; ListExportPresets lists them.")
		case in.spec.Exact && in.spec.Format == "webp" && !s.webp():
			return exportOutput{}, library.NoWebP()
		}
		e, err := s.Store.Exports.Start(ctx, actor, in.spec, in.hashes, blob.NewStagingID())
		if err != nil {
			return exportOutput{}, err
		}
		wait := exportWait
		if in.WaitSeconds != nil {
			wait = time.Duration(*in.WaitSeconds) * time.Second
		}
		if e, err = s.await(ctx, actor, e, wait); err != nil {
			return exportOutput{}, err
		}
		return s.describe(actor, e), nil
	})
}

// exportPoll is how often a call looks how far its export is.
const exportPoll = 150 * time.Millisecond

// await waits until an export is finished, and reports its progress.
func (s *Service) await(ctx context.Context, actor library.Actor, e library.Export, wait time.Duration) (library.Export, error) {
	end := time.NewTimer(wait)
	defer end.Stop()
	tick := time.NewTicker(exportPoll)
	defer tick.Stop()
	for told := -1; !e.State.Finished(); {
		if told != e.Done {
			told = e.Done
			op.ReportProgress(ctx, float64(e.Done), float64(len(e.Assets)), "exporting")
		}
		select {
		case <-ctx.Done():
			return e, ctx.Err()
		case <-end.C:
			return e, nil
		case <-tick.C:
		}
		var err error
		if e, err = s.Store.Exports.Get(ctx, actor.Tenant, actor.ID, e.ID); err != nil {
			return e, err
		}
	}
	return e, nil
}

// maxFailures is how many failures an answer lists; the manifest has all.
const maxFailures = 100

// linkValid is how long a link to a zip may be used.
const linkValid = time.Hour

// describe returns an export as it is shown, with a link to its zip.
func (s *Service) describe(actor library.Actor, e library.Export) exportOutput {
	out := exportOutput{ExportID: e.ID, State: e.State, Preset: e.Spec.Preset, Total: len(e.Assets), Done: e.Done, Files: e.Files, Bytes: e.Bytes, SHA256: e.SHA256, PageCount: e.Pages, Failed: []library.ExportFailure{}}
	out.Failed = append(out.Failed, e.Failed[:min(len(e.Failed), maxFailures)]...)
	_, out.DownloadURL, out.ExpiresIn = s.link(actor, e)
	return out
}

type getExportInput struct {
	op.TenantInput
	ExportID string `json:"export_id" id:"export" format:"uuid" doc:"As ExportAssets returned it."`
}

func (s *Service) getExport() op.Operation {
	return op.Define(op.Meta{
		Name: "GetExport", Title: "Get an export", Domain: op.Publishing,
		Doc:    "Returns how far an export of the calling key is, and a new download link where it is completed.",
		Method: "GET", Path: "/api/v1/exports/{export_id}", Permission: library.PermExport, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"export_id": exampleExport},
	}, func(ctx context.Context, actor library.Actor, in getExportInput) (exportOutput, error) {
		e, err := s.Store.Exports.Get(ctx, actor.Tenant, actor.ID, in.ExportID)
		if err != nil {
			return exportOutput{}, err
		}
		return s.describe(actor, e), nil
	})
}
