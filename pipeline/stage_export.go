package pipeline

import (
	"context"
	"fmt"
	"time"

	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/store"
)

// export begins an export, as ExportAssets does.
type export struct {
	Preset  string                 `json:"preset" enum:"share,portfolio,client,archive,custom" doc:"What stays in the files and how they are named; see ListExportPresets."`
	Format  string                 `json:"format,omitempty" enum:"png,jpeg,webp,preserve" doc:"Of pictures. Default: the preset's."`
	Options *library.ExportOptions `json:"options,omitempty" doc:"Of the preset custom."`
	Confirm bool                   `json:"confirm,omitempty" doc:"Must be true in a real run."`

	spec library.ExportSpec
}

var kindExport = newKind[export](Kind{Type: "export", Category: Output, Doc: "Begins an export of the assets as a zip, at most 10,000 and at most what the tenant may export. The event pipeline.export.completed tells when it is there.", Args: []string{"preset"}, confirm: true,
	Example: map[string]any{"preset": "client", "confirm": true}})

func (s *export) check(c *checking) (errs []library.FieldError) {
	s.spec, errs = library.NewExportSpec(c.at+".", library.ExportPreset(s.Preset), s.Format, s.Options)
	return errs
}

// compile checks that whoever runs the stage may export, and that the format can be written.
func (s *export) compile(_ context.Context, e *Engine, actor library.Actor, _ string) error {
	switch {
	case actor.Kind != library.ActorSystem && !actor.Can(library.PermExport):
		return &library.Error{Kind: library.KindForbidden, Code: library.CodePermissionRequired, Permission: library.PermExport,
			Detail: "The stage export needs the permission export, which this key does not hold."}
	case s.spec.Exact && s.spec.Format == "webp" && (e.WebP == nil || !e.WebP()):
		return library.NoWebP()
	}
	return nil
}

func (s *export) once() {}

// output begins the export in the transaction that notes that the stage is through.
func (s *export) output(x *exec, t *store.Tx) error {
	assets, err := s.assets(x, t)
	if err != nil || len(assets) == 0 {
		return err
	}
	e, err := t.StartExport(x.ctx, library.Export{Spec: s.spec, Assets: assets, Staged: blob.NewStagingID(), Run: x.claim.ID})
	if err != nil {
		if known := library.AsError(err); known.Kind == library.KindRateLimited { // nothing that is over in a moment
			return &errStop{library.RunFailed, known}
		}
		return err
	}
	until := e.CreatedAt.Add(store.ExportLinks).UTC().Format(time.RFC3339)
	x.claim.Progress.Exports = append(x.claim.Progress.Exports, library.PipelineExport{ExportID: e.ID, ExpiresAt: until})
	x.trace().Effects = []library.StageEffect{{Kind: "export.started", Count: 1}}
	x.trace().Result = &library.StageResult{Columns: []string{"export_id", "preset", "assets", "expires_at"}, Rows: [][]any{{e.ID, string(s.spec.Preset), len(assets), until}}, Total: int64(len(assets))}
	x.sample(assets)
	return nil
}

// assets returns the set without what went away, and where on_error is skip without what may
// not leave.
func (s *export) assets(x *exec, t *store.Tx) (assets []library.AssetHash, err error) {
	if n := x.inputCount(); n > library.MaxStageAssets {
		return nil, library.NewError(library.KindUnprocessable, library.CodeBatchLimit, "One export has at most %d assets, and the set has %d. Put a limit stage before it.", library.MaxStageAssets, n)
	}
	private := int64(0)
	err = t.SetMembers(x.ctx, x.claim.ID, x.input(), func(h library.AssetHash, v library.Visibility) {
		if v == library.VisibilityPrivate && x.step.OnError == "skip" {
			private++
			return
		}
		assets = append(assets, h)
	})
	if private > 0 {
		x.claim.Progress.Failed += private
		x.warn(fmt.Sprintf("assets were left out because they are private: %d", private))
	}
	if gone := x.inputCount() - private - int64(len(assets)); gone > 0 && err == nil {
		x.warn("assets were left out that are not in the library any more")
	}
	if len(assets) == 0 && err == nil {
		x.warn("there was nothing to export")
	}
	return assets, err
}
