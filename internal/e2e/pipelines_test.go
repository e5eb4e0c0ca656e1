package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"
	"testing"

	"vitrine/api/client"
	"vitrine/library"
	"vitrine/pipeline"
	"vitrine/service/servicetest"
)

// TestPipelines_ARunThatNobodyWaitsForIsDoneByItsJob starts a run without waiting for it, as a
// rule does, or a process that is killed then.
func TestPipelines_ARunThatNobodyWaitsForIsDoneByItsJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	actor := library.Actor{Kind: library.ActorKey, ID: "key_rule", Tenant: w.Tenant, Permissions: library.Permissions}
	stages, err := pipeline.ParseText(`search lighthouse | where query="tag:fog" | set_tag nightly`)
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Pipelines.Start(t.Context(), actor, pipeline.Request{Stages: stages, Tool: "ExecutePipeline", Trigger: library.RunTrigger{Type: "schedule", RuleID: "rule_1"}, Depth: 1})
	if err != nil {
		t.Fatal(err)
	}
	api := w.Client("")
	servicetest.Eventually(t, "the run is done by its job", func() error {
		got, err := api.GetPipelineRun(t.Context(), client.GetPipelineRunInput{RunID: r.ID})
		if err == nil && (got.Runs[0].State != "completed" || got.Runs[0].ChangedCount != 1 || got.Runs[0].Trigger.RuleID != "rule_1") {
			err = fmt.Errorf("%+v", got.Runs[0])
		}
		return err
	})
	d, err := api.GetAssetDetails(t.Context(), client.GetAssetDetailsInput{AssetH: w.asset.Asset.AssetH})
	if err != nil || len(d.Tags) != 3 {
		t.Errorf("the asset has the tags %v: %v", d.Tags, err)
	}
}

// TestPipelines_AnExportStageMakesTheZipThatExportAssetsMakes runs a pipeline with an export stage,
// follows its export, and unpacks it.
func TestPipelines_AnExportStageMakesTheZipThatExportAssetsMakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api := w.Client("")
	stages, err := pipeline.ParseText(`ids ` + w.asset.Asset.AssetH + ` | export archive confirm=true`)
	if err != nil {
		t.Fatal(err)
	}
	objects := []map[string]any{}
	for _, s := range stages {
		objects = append(objects, map[string]any{"type": s.Type, "config": s.Config})
	}
	dry, err := api.ExecutePipeline(t.Context(), client.ExecutePipelineInput{Stages: objects, DryRun: true})
	if err != nil || dry.State != "completed" || dry.Stages[1].State != "skipped" || len(dry.Exports) != 0 {
		t.Fatalf("the dry run: %+v, %v", dry, err)
	}
	real, err := api.ExecutePipeline(t.Context(), client.ExecutePipelineInput{Stages: objects})
	if err != nil || real.State != "completed" || len(real.Exports) != 1 {
		t.Fatalf("the run: %+v, %v", real, err)
	}
	var out client.GetExportOutput
	servicetest.Eventually(t, "the export is made", func() error {
		if out, err = api.GetExport(t.Context(), client.GetExportInput{ExportID: real.Exports[0].ExportID}); err == nil && out.State != "completed" {
			err = fmt.Errorf("it is %s", out.State)
		}
		return err
	})
	files := unzip(t, w, client.ExportAssetsOutput(out))
	if out.Files != 1 || files["manifest.json"] == nil || len(strings.Fields(string(files["checksums.sha256"]))) < 2 {
		t.Errorf("the zip of %d files has %d entries; its checksums: %s", out.Files, len(files), files["checksums.sha256"])
	}
	again, err := api.ExecutePipeline(t.Context(), client.ExecutePipelineInput{Stages: objects})
	if err != nil || len(again.Exports) != 1 || again.Exports[0].ExportID == out.ExportID {
		t.Errorf("a second run has the exports %+v: %v", again.Exports, err)
	}
}

// TestPipelines_AnExportStageRefusesWhatExportAssetsRefuses runs export stages that may not leave.
func TestPipelines_AnExportStageRefusesWhatExportAssetsRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := func(key, text string) (client.ExecutePipelineOutput, error) {
		t.Helper()
		stages, err := pipeline.ParseText("ids " + w.asset.Asset.AssetH + " | " + text)
		if err != nil {
			t.Fatal(err)
		}
		objects := []map[string]any{}
		for _, s := range stages {
			objects = append(objects, map[string]any{"type": s.Type, "config": s.Config, "on_error": s.OnError})
		}
		return w.Client(key).ExecutePipeline(t.Context(), client.ExecutePipelineInput{Stages: objects})
	}
	if _, err := run("", `export share`); codeOfError(err) != pipeline.CodeConfirm {
		t.Errorf("without confirm: %v", err)
	}
	if _, err := run("", `export archive format=png confirm=true`); codeOfError(err) != library.CodeValidationFailed {
		t.Errorf("with a format that the preset has not: %v", err)
	}
	if _, err := run(w.NewKey(w.Tenant, library.PermAdmin, library.PermRead), `export share confirm=true`); codeOfError(err) != library.CodePermissionRequired {
		t.Errorf("by a key that may not export: %v", err)
	}
	if out, err := run("", `set_visibility private | export share confirm=true`); err != nil || out.State != "failed" || out.Error.Code != library.CodeAssetPrivate {
		t.Errorf("of a private asset: %+v, %v", out.Error, err)
	}
	if out, err := run("", `export share confirm=true on_error=skip`); err != nil || out.State != "completed" || len(out.Exports) != 0 || out.FailedCount != 1 {
		t.Errorf("of a private asset that may be left out: %+v, %v", out, err)
	}
}

// TestPipelines_EnrichWorksOutWhatFilesSay has every operation done on a blue picture, finds it by
// its color, and does it again, which changes nothing.
func TestPipelines_EnrichWorksOutWhatFilesSay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api := w.Client("")
	canvas := image.NewNRGBA(image.Rect(0, 0, 320, 200))
	draw.Draw(canvas, canvas.Bounds(), image.NewUniform(color.NRGBA{25, 70, 210, 255}), image.Point{}, draw.Src)
	draw.Draw(canvas, image.Rect(200, 20, 310, 180), image.NewUniform(color.NRGBA{240, 230, 60, 255}), image.Point{}, draw.Src)
	var file bytes.Buffer
	if err := png.Encode(&file, canvas); err != nil {
		t.Fatal(err)
	}
	blue := w.StoreFile("", "sea.png", "image/png", file.Bytes(), "sea")
	run := func(text string) client.ExecutePipelineOutput {
		t.Helper()
		stages, err := pipeline.ParseText(text)
		if err != nil {
			t.Fatal(err)
		}
		objects := []map[string]any{}
		for _, s := range stages {
			objects = append(objects, map[string]any{"type": s.Type, "config": s.Config})
		}
		out, err := api.ExecutePipeline(t.Context(), client.ExecutePipelineInput{Stages: objects, TimeoutMS: 60_000})
		if err != nil || out.State != "completed" {
			t.Fatalf("%s: %+v, %v", text, out, err)
		}
		return out
	}
	ids := "ids " + string(blue.Asset.AssetH) + " " + w.asset.Asset.AssetH
	enriched := run(ids + ` | enrich phash dominant_color embedding re_extract caption | where color = "blue" | count`)
	status := map[string][]any{}
	for _, row := range enriched.Stages[1].Result.Rows {
		status[fmt.Sprint(row[0])] = row[1:]
	}
	for operation, want := range map[string]string{"phash": "ok", "dominant_color": "ok", "embedding": "unavailable", "re_extract": "ok", "caption": "stub"} {
		if got := status[operation]; len(got) != 4 || got[0] != want {
			t.Errorf("%s is reported as %v, want %s", operation, got, want)
		}
	}
	if got := status["dominant_color"]; fmt.Sprint(got[1]) != "2" {
		t.Errorf("colors: %v", got)
	}
	if enriched.AssetCount != 1 || enriched.OperationID != "" || enriched.ChangedCount != 0 {
		t.Errorf("%d assets are blue; the run has the operation %q and %d changes", enriched.AssetCount, enriched.OperationID, enriched.ChangedCount)
	}
	again := run(ids + ` | enrich dominant_color phash`)
	for _, row := range again.Stages[1].Result.Rows {
		if fmt.Sprint(row[2]) != "0" || fmt.Sprint(row[3]) != "2" {
			t.Errorf("a second run reports %v", row)
		}
	}
	servicetest.Eventually(t, "the color is searched", func() error {
		found := w.Search("", "color:blue tag:sea", "")
		if !found.Has(string(blue.Asset.AssetH)) || len(found.Data) != 1 {
			return fmt.Errorf("%+v", found)
		}
		return nil
	})
}
