package search

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"vitrine/library"
	"vitrine/media/extract"
	"vitrine/media/gltf"
	"vitrine/op/annotations"
	"vitrine/op/assets"
	"vitrine/store"
)

// detailsOutput is the output of GetAssetDetails.
type detailsOutput struct {
	assets.Summary
	Rating               int                      `json:"rating" doc:"1 to 5; 0 if it is not rated."`
	Favorite             bool                     `json:"favorite"`
	Owner                string                   `json:"owner" doc:"The key_id of its owner; empty if it has none."`
	Collections          []string                 `json:"collections" doc:"Paths of the collections it is in."`
	Size                 int64                    `json:"size" doc:"Bytes."`
	Width                int                      `json:"width" doc:"Width of the file in pixels; 0 if it has none."`
	Height               int                      `json:"height"`
	DurationMS           int64                    `json:"duration_ms" doc:"Milliseconds; 0 for stills."`
	Video                *store.VideoFacts        `json:"video,omitempty" doc:"Of a video, once its preview was made."`
	Model3D              *gltf.Facts              `json:"model_3d,omitempty" doc:"Of a 3D model (GLB), once its preview was made."`
	SHA256               string                   `json:"sha256,omitempty" doc:"With response_format detailed."`
	BLAKE3               string                   `json:"blake3,omitempty" doc:"ComfyUI's asset hash, without its blake3: prefix. With response_format detailed."`
	CreatedAt            time.Time                `json:"created_at"`
	StoredAt             time.Time                `json:"stored_at"`
	UpdatedAt            time.Time                `json:"updated_at"`
	SourcePath           string                   `json:"source_path" doc:"Path it was imported from."`
	Metadata             map[string]any           `json:"asset_metadata,omitempty" doc:"What the uploader sent as asset_metadata."`
	Prompts              *promptsOutput           `json:"prompts" required:"true" nullable:"true" doc:"null if the file has no prompt."`
	Models               []modelOutput            `json:"models" doc:"Every loaded model, in load order."`
	Workflow             *workflowOutput          `json:"workflow" required:"true" nullable:"true" doc:"null if the file has no workflow graph."`
	GenerationParameters *parametersOutput        `json:"generation_parameters" required:"true" nullable:"true" doc:"Parameters of the primary sampling pass; null if the file has none."`
	Samplers             []passOutput             `json:"samplers,omitempty" doc:"Every sampling pass, the primary first. With response_format detailed, or if there are several."`
	Hires                *library.Hires           `json:"hires,omitempty" doc:"The upscaling second pass, if the file records one."`
	Regions              []library.PromptRegion   `json:"regions,omitempty" doc:"Further prompts: areas, characters, encoders."`
	Provenance           provenanceOutput         `json:"provenance"`
	ImagetoolMetadata    *imagetoolOutput         `json:"imagetool_metadata" required:"true" nullable:"true" doc:"null unless the image-generation tool generated the file."`
	C2PA                 *library.C2PA            `json:"c2pa,omitempty" doc:"Content credentials, unverified."`
	Embedding            embeddingOutput          `json:"embedding"`
	Copyright            string                   `json:"copyright" doc:"The copyright notice in the file."`
	Extraction           *extract.Report          `json:"extraction" required:"true" nullable:"true" doc:"How much generation metadata the file has, and why some is missing, for example why there is no prompt. null for assets stored without extraction."`
	Warnings             []string                 `json:"warnings,omitempty" doc:"Metadata that could not be read."`
	Conflicts            []library.Conflict       `json:"conflicts,omitempty" doc:"Places in the file that contradict each other."`
	Annotations          []annotations.Annotation `json:"annotations,omitempty" doc:"Annotations on the asset as a whole and on its runs, the newest first. With response_format detailed."`
	DownloadURL          string                   `json:"download_url,omitempty"`
	DownloadExpiresAt    *time.Time               `json:"download_expires_at,omitempty"`
	ExtractedMetadata    *json.RawMessage         `json:"extracted_metadata,omitempty" doc:"The file's metadata, chunk by chunk, with include_raw_metadata."`
	WorkflowGraph        json.RawMessage          `json:"workflow_graph,omitempty" doc:"The executed graph, with include_raw_metadata."`
	Evidence             []library.Evidence       `json:"evidence,omitempty" doc:"Where in the file each field was found, and by which rule. With response_format detailed."`
	PreviewError         string                   `json:"preview_error,omitempty" doc:"Why no preview can be generated from the file, for example because it is damaged. The original can be downloaded."`
	PreviewFailed        string                   `json:"preview_failed,omitempty" doc:"Reason code of preview_error: damaged, too_large, no_ffmpeg, no_libvips or no_renderer."`
	Placeholder          string                   `json:"placeholder,omitempty" doc:"ThumbHash of the preview, base64: a blurred picture to show while the preview loads."`
	PreviewImage         *previewReport           `json:"preview_image,omitempty" doc:"Whether the preview was included, with include_image."`

	image   []byte
	version int64
}

// ResourceVersion implements op.Versioned.
func (o detailsOutput) ResourceVersion() int64 { return o.version }

type promptsOutput struct {
	Positive *string               `json:"positive" required:"true" nullable:"true"`
	Negative *string               `json:"negative" required:"true" nullable:"true"`
	Source   library.LineageSource `json:"source" doc:"extracted: read from the file."`
	RenderOf []renderedPrompt      `json:"render_of,omitempty" doc:"Versions of the prompt library whose render the positive prompt is."`
}

type renderedPrompt struct {
	Prompt  library.PromptHash        `json:"prompt_h"`
	Name    string                    `json:"name,omitempty"`
	Number  int                       `json:"version"`
	Version library.PromptVersionHash `json:"version_h"`
}

type modelOutput struct {
	Sequence        int      `json:"sequence" doc:"Load order, from 0."`
	Type            string   `json:"type" doc:"checkpoint, unet, lora, vae, clip, controlnet, upscaler, …"`
	Name            string   `json:"name" doc:"Name in the file."`
	NodeID          string   `json:"node_id" doc:"Id of the loader node; empty outside node graphs."`
	ModelHash       string   `json:"model_hash" doc:"The model's identity in the Model Library."`
	ContentHash     string   `json:"content_hash" doc:"Hash in the file; empty if it has none."`
	BaseModel       string   `json:"base_model"`
	Weight          *float64 `json:"weight,omitempty"`
	ClipWeight      *float64 `json:"clip_weight,omitempty"`
	DetectionSource string   `json:"detection_source"`
}

type workflowOutput struct {
	JSON        json.RawMessage       `json:"workflow_json" doc:"The editor graph, or the executed graph if the file has no other. null above 4 KB unless include_raw_metadata is true; with response_format detailed, above 32 KB."`
	Omitted     string                `json:"workflow_json_omitted,omitempty" doc:"Why workflow_json is null, and how to get it."`
	ToolName    string                `json:"tool_name"`
	NodeCount   int                   `json:"node_count"`
	CustomNodes []string              `json:"custom_nodes"`
	Unknown     []string              `json:"unknown_nodes" doc:"Node classes that extraction does not know."`
	Name        string                `json:"name"`
	Hash        string                `json:"hash" doc:"Hash of the graph's structure."`
	Source      library.LineageSource `json:"source"`
	Nodes       []nodeOutput          `json:"nodes,omitempty" doc:"The executed nodes with their annotations, at most 500. With response_format detailed."`
}

type parametersOutput struct {
	library.GenerationParameters
	SeedText string `json:"seed_text,omitempty" doc:"The seed as text. Numbers beyond 2^53 lose digits in many JSON readers; use this one."`
}

type passOutput struct {
	library.SamplerPass
	SeedText string `json:"seed_text,omitempty" doc:"The seed as text; see generation_parameters."`
}

type provenanceOutput struct {
	CreatingPrompt     *string               `json:"creating_prompt" required:"true" nullable:"true" doc:"The prompt: extracted from the file, else from the uploader's prompt_metadata."`
	Agents             []string              `json:"agents" doc:"The generating program and the uploading key."`
	Parents            []parentOutput        `json:"parents" doc:"The files it was made from."`
	ParentAssets       []library.AssetHash   `json:"parent_assets" doc:"The parents that are in the library, and the parent given by the uploader."`
	LineageSource      library.LineageSource `json:"lineage_source" enum:"extracted,client_asserted,unknown"`
	AssertedParameters json.RawMessage       `json:"asserted_parameters" doc:"The uploader's prompt_metadata, or null. It is never merged into the fields above."`
	Tool               string                `json:"tool"`
	ToolVersion        string                `json:"tool_version"`
}

type parentOutput struct {
	Kind      string            `json:"kind" doc:"input_image, init_image, c2pa_ingredient, imagetool_job, …"`
	Name      string            `json:"name"`
	Hash      string            `json:"hash"`
	JobID     string            `json:"job_id"`
	NodeID    string            `json:"node_id"`
	AssetHash library.AssetHash `json:"asset_h" doc:"The parent's asset; empty if it is not in the library."`
}

type imagetoolOutput struct {
	GenerationDetails imagetoolDetails `json:"generation_details"`
}

type imagetoolDetails struct {
	Prompt  *string           `json:"prompt" required:"true" nullable:"true"`
	Command string            `json:"command"`
	JobID   string            `json:"job_id"`
	JobType string            `json:"job_type"`
	Version string            `json:"version"`
	Author  string            `json:"author"`
	Index   *int              `json:"index,omitempty"`
	Flags   map[string]string `json:"flags"`
}

type embeddingOutput struct {
	Configurations []string `json:"configurations" doc:"The embedding configurations under which the asset has a vector."`
}

type previewReport struct {
	Included   bool   `json:"included"`
	MIMEType   string `json:"mime_type,omitempty"`
	Bytes      int    `json:"bytes,omitempty"`
	URL        string `json:"url,omitempty" doc:"Preview URL, for clients that cannot show images in responses."`
	Reason     string `json:"reason,omitempty" doc:"Why it was not included."`
	Code       string `json:"code,omitempty" doc:"Reason code: NOT_FOUND, PREVIEW_TOO_LARGE, or DECODING_BUSY (temporary)."`
	RetryAfter int    `json:"retry_after,omitempty" doc:"Seconds after which to ask again, when the reason is temporary."`
}

// The largest workflow graph that travels without being asked for, in bytes.
const (
	maxGraph        = 32 << 10
	maxGraphConcise = 4 << 10
)

// describe renders a stored asset. Lists are never null.
func describe(d store.AssetDetail, links assets.ActorLinks) detailsOutput {
	a, l := d.Asset, d.Lineage
	out := detailsOutput{
		Summary: assets.Summary{AssetHash: a.Hash, Title: a.Title, Description: a.Description, Filename: a.Filename, MIMEType: a.MIMEType,
			Status: a.Status, Tags: orEmpty(a.Tags), Visibility: a.Visibility, ThumbnailURL: links.Thumbnail(a.Tenant, a.Hash)},
		Rating: a.Rating, Favorite: a.Favorite, Owner: a.Owner, Collections: orEmpty(d.Collections), Size: a.Size, Width: a.Width, Height: a.Height, DurationMS: a.DurationMS, Video: d.Video, Model3D: d.Model,
		SHA256: a.SHA256, BLAKE3: a.BLAKE3, CreatedAt: a.CreatedAt.UTC(), StoredAt: a.StoredAt.UTC(), UpdatedAt: a.UpdatedAt.UTC(),
		SourcePath: a.SourcePath, Metadata: a.Metadata, Models: []modelOutput{}, Samplers: describePasses(l.Samplers), Hires: l.Hires, Regions: l.Regions,
		C2PA: l.C2PA, Embedding: embeddingOutput{Configurations: []string{}}, Copyright: l.Extra["copyright"],
		Warnings: l.Warnings, Conflicts: l.Conflicts, Evidence: l.Evidence, Provenance: provenance(d),
		Prompts: describePrompts(&l), Workflow: describeWorkflow(l.Workflow), GenerationParameters: describeParameters(&l), ImagetoolMetadata: describeImagetool(&l),
		Extraction: extraction(d.Report), PreviewError: d.NoPreview.Reason, PreviewFailed: d.NoPreview.Code, Placeholder: base64.StdEncoding.EncodeToString(d.Placeholder),
	}
	if out.Prompts != nil {
		for _, p := range d.Prompts {
			out.Prompts.RenderOf = append(out.Prompts.RenderOf, renderedPrompt(p))
		}
	}
	for _, m := range d.Models {
		out.Models = append(out.Models, modelOutput{Sequence: m.Sequence, Type: m.Type, Name: m.Name, NodeID: m.NodeID, ModelHash: string(m.Hash),
			ContentHash: m.ContentHash, BaseModel: m.BaseModel, Weight: m.Weight, ClipWeight: m.ClipWeight, DetectionSource: m.DetectionSource})
	}
	return out
}

// extraction reads a stored report; one of a form that is not known is none.
func extraction(report json.RawMessage) *extract.Report {
	var r extract.Report
	if report == nil || json.Unmarshal(report, &r) != nil {
		return nil
	}
	return &r
}

func describePrompts(l *library.Lineage) *promptsOutput {
	if l.Positive == nil && l.Negative == nil {
		return nil
	}
	return &promptsOutput{Positive: l.Positive, Negative: l.Negative, Source: library.LineageExtracted}
}

// describeWorkflow leaves the graph itself out; see addGraph.
func describeWorkflow(w *library.Workflow) *workflowOutput {
	if w == nil {
		return nil
	}
	return &workflowOutput{JSON: json.RawMessage("null"), ToolName: w.ToolName, NodeCount: w.NodeCount, CustomNodes: orEmpty(w.CustomNodes),
		Unknown: orEmpty(w.Unknown), Name: w.Name, Hash: w.Hash, Source: library.LineageExtracted}
}

func describeParameters(l *library.Lineage) *parametersOutput {
	if l.Parameters == nil {
		return nil
	}
	return &parametersOutput{*l.Parameters, seedText(l.Parameters.Seed)}
}

func describePasses(passes []library.SamplerPass) []passOutput {
	list := make([]passOutput, 0, len(passes))
	for _, p := range passes {
		list = append(list, passOutput{p, seedText(p.Seed)})
	}
	return list
}

// seedText returns a seed as text, or "" where there is none.
func seedText(seed *uint64) string {
	if seed == nil {
		return ""
	}
	return strconv.FormatUint(*seed, 10)
}

// shorten leaves out what only a closer look needs.
func (o *detailsOutput) shorten() {
	o.SHA256, o.BLAKE3, o.Evidence = "", "", nil
	if len(o.Samplers) < 2 { // generation_parameters has the same
		o.Samplers = nil
	}
}

func describeImagetool(l *library.Lineage) *imagetoolOutput {
	t := l.ImageTool
	if t == nil {
		return nil
	}
	flags := t.Flags
	if flags == nil {
		flags = map[string]string{}
	}
	return &imagetoolOutput{imagetoolDetails{Prompt: l.Positive, Command: t.Command, JobID: t.JobID, JobType: t.JobType,
		Version: t.Version, Author: t.Author, Index: t.Index, Flags: flags}}
}

func provenance(d store.AssetDetail) provenanceOutput {
	l := d.Lineage
	p := provenanceOutput{CreatingPrompt: l.Positive, Agents: []string{}, Parents: []parentOutput{}, ParentAssets: []library.AssetHash{},
		LineageSource: library.LineageUnknown, Tool: l.Tool, ToolVersion: l.ToolVersion, AssertedParameters: json.RawMessage("null")}
	if d.Asset.Parent != "" {
		p.ParentAssets = append(p.ParentAssets, d.Asset.Parent)
	}
	for _, x := range d.Parents {
		p.Parents = append(p.Parents, parentOutput{Kind: x.Kind, Name: x.Name, Hash: x.Hash, JobID: x.JobID, NodeID: x.NodeID, AssetHash: x.Asset})
		if x.Asset != "" && !slices.Contains(p.ParentAssets, x.Asset) {
			p.ParentAssets = append(p.ParentAssets, x.Asset)
		}
	}
	if l.Tool != "" {
		p.Agents = append(p.Agents, l.Tool)
	}
	p.Agents = append(p.Agents, d.Asset.CreatedBy)
	if d.Assertion != nil {
		p.AssertedParameters = d.Assertion
		p.LineageSource = library.LineageAsserted
		if p.CreatingPrompt == nil {
			if prompt := library.AssertedPrompt(d.Assertion); prompt != "" {
				p.CreatingPrompt = &prompt
			}
		}
	}
	if d.Source == library.LineageExtracted {
		p.LineageSource = library.LineageExtracted
	}
	return p
}

// addGraph puts the graph into a detail, unless it is large and was not asked for.
func (w *workflowOutput) addGraph(editor, executed []byte, limit int) {
	w.JSON = library.ValidJSON(editor, executed)
	if n := len(w.JSON); n > limit {
		w.JSON = json.RawMessage("null")
		w.Omitted = fmt.Sprintf("The graph has %d bytes; ask with include_raw_metadata, or GET /api/v1/assets/{asset_h}/workflow.", n)
	}
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
