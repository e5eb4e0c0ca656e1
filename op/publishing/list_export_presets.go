package publishing

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

// presetEntry is what a preset does.
type presetEntry struct {
	Preset       library.ExportPreset `json:"preset"`
	Description  string               `json:"description"`
	Format       string               `json:"format" doc:"Of pictures. preserve: their own."`
	MaxEdge      int                  `json:"max_edge,omitempty" doc:"Longest edge in pixels. Absent: as it is."`
	Generation   string               `json:"generation_data" enum:"removed,kept" doc:"Prompts, seeds, workflows, models."`
	EXIF         string               `json:"exif_gps" enum:"removed,kept"`
	Credentials  string               `json:"content_credentials" enum:"removed,kept" doc:"C2PA is kept only where the bytes do not change."`
	Creator      bool                 `json:"creator" doc:"Creator and rights are written, where known."`
	AIDisclosure bool                 `json:"ai_disclosure" doc:"IPTC DigitalSourceType and the AI system are written into generated files."`
	Naming       string               `json:"naming"`
	Beside       []string             `json:"beside" doc:"What the zip has beside the files."`
	Available    bool                 `json:"available" doc:"false: the format cannot be written here, and pictures become JPEG."`
}

// presetTexts describe the presets for people.
var presetTexts = map[library.ExportPreset]string{
	library.ExportShare:     "For posting: smaller WebP pictures without metadata, under neutral names.",
	library.ExportPortfolio: "For showing work: JPEG of up to 3840 pixels with creator and rights, named after titles.",
	library.ExportClient:    "For handing over: full size in the own format, numbered in order, with a manifest.csv.",
	library.ExportArchive:   "For keeping: original bytes with checksums, and all that is known in sidecars. Nothing is removed.",
	library.ExportCustom:    "As options say. Without them: full size, all metadata removed but the color profile.",
}

type presetsInput struct{ op.TenantInput }

type presetsOutput struct {
	Presets []presetEntry `json:"presets"`
	Formats []string      `json:"formats" doc:"What pictures can be written as here."`
}

func (s *Service) listExportPresets() op.Operation {
	return op.Define(op.Meta{
		Name: "ListExportPresets", Title: "List export presets", Domain: op.Publishing,
		Doc:    "Returns what each preset of ExportAssets and PublishCollection keeps, removes and writes.",
		Method: "GET", Path: "/api/v1/exports/presets", Permission: library.PermRead, ReadOnly: true, Idempotent: true,
		Example: map[string]any{},
	}, func(context.Context, library.Actor, presetsInput) (presetsOutput, error) { return s.presets(), nil })
}

func (s *Service) presetsResource() op.Resource {
	return op.Resource{
		URI: "vitrine://export/presets", Name: "export presets", Title: "Export presets", MIMEType: "application/json", Permission: library.PermRead,
		Doc:     "What each export preset keeps, removes and writes.",
		Example: "vitrine://export/presets",
		Read:    func(context.Context, library.Actor, map[string]string) (any, error) { return s.presets(), nil },
	}
}

// presets renders what package library defines, so that the two cannot differ.
func (s *Service) presets() presetsOutput {
	out := presetsOutput{Formats: []string{"png", "jpeg", "preserve"}}
	if s.webp() {
		out.Formats = append(out.Formats, "webp")
	}
	word := map[bool]string{true: "kept", false: "removed"}
	for _, p := range library.ExportPresets {
		spec := library.SpecOf(p)
		e := presetEntry{Preset: p, Description: presetTexts[p], Format: spec.Format, MaxEdge: spec.MaxEdge, Generation: word[spec.Keep.Prompts], EXIF: word[spec.Keep.EXIF],
			Credentials: word[spec.Original], Creator: spec.Creator, AIDisclosure: spec.Disclosure, Naming: spec.Naming, Beside: []string{"manifest.json"}, Available: spec.Format != "webp" || s.webp()}
		switch {
		case spec.Sidecar == library.SidecarCSV:
			e.Beside = append(e.Beside, "manifest.csv")
		case spec.Credits:
			e.Beside = append(e.Beside, "credits.txt")
		case spec.Checksums:
			e.Beside = append(e.Beside, "JSON sidecars", "workflows", "checksums.sha256")
		}
		out.Presets = append(out.Presets, e)
	}
	return out
}
