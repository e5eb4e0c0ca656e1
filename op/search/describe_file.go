package search

import (
	"math"
	"path/filepath"

	"vitrine/library"
	"vitrine/media/extract"
)

// FileDescription is what a file says about itself, with the fields that the
// details of a stored asset have.
type FileDescription struct {
	File                 string                 `json:"file"`
	MIMEType             string                 `json:"mime_type"`
	Size                 int64                  `json:"size"`
	Width                int                    `json:"width"`
	Height               int                    `json:"height"`
	DurationMS           int64                  `json:"duration_ms"`
	Tool                 string                 `json:"tool"`
	ToolVersion          string                 `json:"tool_version"`
	Prompts              *promptsOutput         `json:"prompts"`
	Models               []library.ModelUse     `json:"models"`
	Workflow             *workflowOutput        `json:"workflow"`
	GenerationParameters *parametersOutput      `json:"generation_parameters"`
	Samplers             []library.SamplerPass  `json:"samplers"`
	Hires                *library.Hires         `json:"hires,omitempty"`
	Regions              []library.PromptRegion `json:"regions"`
	Provenance           fileProvenance         `json:"provenance"`
	ImagetoolMetadata    *imagetoolOutput       `json:"imagetool_metadata"`
	C2PA                 *library.C2PA          `json:"c2pa,omitempty"`
	Extra                map[string]string      `json:"extra,omitempty"`
	Evidence             []library.Evidence     `json:"evidence"`
	Conflicts            []library.Conflict     `json:"conflicts"`
	Warnings             []string               `json:"warnings"`
	Report               extract.Report         `json:"extraction"`
}

type fileProvenance struct {
	Parents       []library.Parent      `json:"parents"`
	LineageSource library.LineageSource `json:"lineage_source"`
}

// DescribeFile renders what was read out of a file that is not stored.
func DescribeFile(path string, size int64, got extract.Result) FileDescription {
	l := &got.Lineage
	out := FileDescription{File: filepath.ToSlash(path), MIMEType: got.MIMEType, Size: size, Width: got.Width, Height: got.Height, DurationMS: got.DurationMS,
		Tool: l.Tool, ToolVersion: l.ToolVersion, Prompts: describePrompts(l), Models: orEmpty(l.Models), Workflow: describeWorkflow(l.Workflow),
		GenerationParameters: describeParameters(l), Samplers: orEmpty(l.Samplers), Hires: l.Hires, Regions: orEmpty(l.Regions),
		Provenance: fileProvenance{Parents: orEmpty(l.Parents), LineageSource: library.LineageUnknown}, ImagetoolMetadata: describeImagetool(l),
		C2PA: l.C2PA, Extra: l.Extra, Evidence: orEmpty(l.Evidence), Conflicts: orEmpty(l.Conflicts), Warnings: orEmpty(l.Warnings), Report: got.Report}
	if l.HasGenerationData() {
		out.Provenance.LineageSource = library.LineageExtracted
	}
	if w := l.Workflow; w != nil {
		out.Workflow.addGraph(w.JSON, w.PromptJSON, math.MaxInt)
	}
	return out
}
