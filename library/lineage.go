package library

import "strings"

// LineageSource is where generation data came from.
type LineageSource string

// The lineage sources.
const (
	LineageExtracted LineageSource = "extracted"       // read out of the file
	LineageAsserted  LineageSource = "client_asserted" // the uploader's claim, nothing in the file
	LineageUnknown   LineageSource = "unknown"
)

// Lineage is what a file says about its own making. A nil pointer or an empty
// list means the file does not say; nothing in it is guessed.
type Lineage struct {
	Tool        string `json:"tool,omitempty"`         // canonical writer name: comfyui, sd-webui, forge, invokeai, …
	ToolVersion string `json:"tool_version,omitempty"` // as the writer records it

	Positive *string `json:"positive,omitempty"` // the prompt of the primary pass
	Negative *string `json:"negative,omitempty"`
	// Regions are further prompts of the same picture: area compositions,
	// characters, the second encoder of a two-encoder model.
	Regions []PromptRegion `json:"regions,omitempty"`

	Models     []ModelUse            `json:"models"` // every model that was loaded and ran, in load order
	Parameters *GenerationParameters `json:"parameters,omitempty"`
	Samplers   []SamplerPass         `json:"samplers,omitempty"` // every pass, the primary first
	Hires      *Hires                `json:"hires,omitempty"`

	Workflow  *Workflow  `json:"workflow,omitempty"`
	Parents   []Parent   `json:"parents,omitempty"`
	ImageTool *ImageTool `json:"image_tool,omitempty"`
	C2PA      *C2PA      `json:"c2pa,omitempty"`

	Extra     map[string]string `json:"extra,omitempty"`     // what the writer recorded beyond these fields, flat
	Evidence  []Evidence        `json:"evidence,omitempty"`  // per field, where it was read and by which rule
	Conflicts []Conflict        `json:"conflicts,omitempty"` // places in the file that contradict each other
	Warnings  []string          `json:"warnings,omitempty"`  // what could not be read, for people
}

// HasGenerationData reports whether the file says anything about how it was made
// that a person would call a prompt, a model or a setting.
func (l *Lineage) HasGenerationData() bool {
	return l != nil && (l.Positive != nil || l.Negative != nil || len(l.Models) > 0 || l.Parameters != nil || l.Workflow != nil)
}

// PromptRegion is one of several prompts of a picture.
type PromptRegion struct {
	Kind     string  `json:"kind"` // area, character, encoder, pass
	Name     string  `json:"name,omitempty"`
	Positive *string `json:"positive,omitempty"`
	Negative *string `json:"negative,omitempty"`
	NodeID   string  `json:"node_id,omitempty"`
}

// ModelUse is one model that a file says was loaded for it.
type ModelUse struct {
	Sequence     int      `json:"sequence"` // 0-based load order
	Type         string   `json:"type"`     // checkpoint, unet, lora, vae, clip, controlnet, upscaler, embedding, …
	Name         string   `json:"name"`     // as the file names it, folder and extension included
	NodeID       string   `json:"node_id,omitempty"`
	Hash         string   `json:"hash,omitempty"` // as the file records it, with its scheme prefix if it has one
	Strength     *float64 `json:"strength,omitempty"`
	ClipStrength *float64 `json:"clip_strength,omitempty"`
	BaseModel    string   `json:"base_model,omitempty"`
	VersionID    string   `json:"version_id,omitempty"` // a model site's identifier, for example urn:air:…
}

// GenerationParameters are the settings of the primary sampling pass.
// Seeds use the whole unsigned 64-bit range.
type GenerationParameters struct {
	Seed      *uint64  `json:"seed"`
	ModelName *string  `json:"model_name"`
	Steps     *int     `json:"steps"`
	CFGScale  *float64 `json:"cfg_scale"`
	Guidance  *float64 `json:"guidance,omitempty"` // distilled guidance (FluxGuidance); not cfg
	Sampler   *string  `json:"sampler"`
	Scheduler *string  `json:"scheduler"`
	Denoise   *float64 `json:"denoise"`
	ClipSkip  *int     `json:"clip_skip,omitempty"`
	Width     *int     `json:"width"` // of the generation, not of the file
	Height    *int     `json:"height"`
	Frames    *int     `json:"frames,omitempty"`
	FPS       *float64 `json:"fps,omitempty"`
	BatchSize *int     `json:"batch_size,omitempty"`
}

// SamplerPass is one sampling pass of a workflow.
type SamplerPass struct {
	NodeID    string   `json:"node_id,omitempty"`
	NodeType  string   `json:"node_type,omitempty"`
	Role      string   `json:"role,omitempty"` // base, hires, refiner, high_noise, low_noise, detailer
	Seed      *uint64  `json:"seed,omitempty"`
	Steps     *int     `json:"steps,omitempty"`
	StartStep *int     `json:"start_step,omitempty"`
	EndStep   *int     `json:"end_step,omitempty"`
	CFGScale  *float64 `json:"cfg_scale,omitempty"`
	Guidance  *float64 `json:"guidance,omitempty"`
	Sampler   *string  `json:"sampler,omitempty"`
	Scheduler *string  `json:"scheduler,omitempty"`
	Denoise   *float64 `json:"denoise,omitempty"`
	Positive  *string  `json:"positive,omitempty"`
	Negative  *string  `json:"negative,omitempty"`
	Model     string   `json:"model,omitempty"`
}

// Hires is the upscaling second pass of the tools that record one as such.
type Hires struct {
	Scale    *float64 `json:"scale,omitempty"`
	Width    *int     `json:"width,omitempty"`
	Height   *int     `json:"height,omitempty"`
	Upscaler *string  `json:"upscaler,omitempty"`
	Steps    *int     `json:"steps,omitempty"`
	Denoise  *float64 `json:"denoise,omitempty"`
}

// Workflow is the node graph a file carries. JSON is the editor's graph where
// there is one, else the executed graph; both are kept byte for byte.
type Workflow struct {
	ToolName    string    `json:"tool_name"`
	JSON        RawJSON   `json:"workflow_json,omitempty"` // editor graph ("workflow")
	PromptJSON  RawJSON   `json:"prompt_json,omitempty"`   // executed graph ("prompt")
	NodeCount   int       `json:"node_count"`
	CustomNodes []string  `json:"custom_nodes"`      // node packs outside the tool's core, by registry id where the file records it
	Nodes       []NodeUse `json:"nodes,omitempty"`   // executed nodes with their scalar inputs
	Unknown     []string  `json:"unknown,omitempty"` // node classes the reader has no rule for
	Source      string    `json:"source"`            // extracted
	Name        string    `json:"name,omitempty"`    // the graph's own title, where it has one
	Hash        string    `json:"hash,omitempty"`    // SHA-1 of the graph's structure without seeds, texts and file names
}

// NodeUse is one executed node of a workflow.
type NodeUse struct {
	ID     string            `json:"id"`
	Class  string            `json:"class"`
	Title  string            `json:"title,omitempty"`
	Inputs map[string]string `json:"inputs,omitempty"` // scalar inputs as text; links are left out
}

// Parent is a file this one was made from, as the file names it.
type Parent struct {
	Kind   string `json:"kind"`           // input_image, input_video, init_image, c2pa_ingredient, imagetool_job, controlnet_image, mask
	Name   string `json:"name,omitempty"` // file name without folder or "[output]" suffix
	Hash   string `json:"hash,omitempty"` // SHA-1, or with a scheme prefix such as blake3:; c2pa: and an id of the file's content credentials
	JobID  string `json:"job_id,omitempty"`
	NodeID string `json:"node_id,omitempty"`
}

// ImageTool is what the image-generation tool (Midjourney and its kin) records.
type ImageTool struct {
	Command string            `json:"command,omitempty"` // imagine, upscale, variation, …
	JobID   string            `json:"job_id,omitempty"`
	JobType string            `json:"job_type,omitempty"`
	Version string            `json:"version,omitempty"`
	Author  string            `json:"author,omitempty"`
	Index   *int              `json:"index,omitempty"` // position in the batch, 0-based
	Flags   map[string]string `json:"flags,omitempty"` // --ar, --stylize, … without the dashes
}

// C2PA is the content-credentials claim a file carries, unverified.
type C2PA struct {
	ClaimGenerator string           `json:"claim_generator,omitempty"`
	SourceType     string           `json:"digital_source_type,omitempty"`
	Actions        []string         `json:"actions,omitempty"`
	Ingredients    []C2PAIngredient `json:"ingredients,omitempty"`
	Signature      string           `json:"signature"`             // always "unverified"
	ManifestID     string           `json:"manifest_id,omitempty"` // of the file's own manifest, by which other files name this one
	InstanceID     string           `json:"instance_id,omitempty"` // of these bytes, likewise
}

// C2PAIngredient is one source file that a C2PA claim names.
type C2PAIngredient struct {
	Title        string `json:"title,omitempty"`
	Format       string `json:"format,omitempty"`
	Relationship string `json:"relationship,omitempty"`
	DocumentID   string `json:"document_id,omitempty"`
	InstanceID   string `json:"instance_id,omitempty"`
	ManifestID   string `json:"manifest_id,omitempty"` // of the file's own manifest
}

// Evidence is where one field was read: the place in the container
// ("png:tEXt:prompt"), the node if there is one, and the rule that read it.
type Evidence struct {
	Field string `json:"field"`
	Place string `json:"place"`
	Node  string `json:"node,omitempty"`
	Rule  string `json:"rule"`
}

// Conflict is a field for which two places of a file give different values.
type Conflict struct {
	Field string `json:"field"`
	Taken string `json:"taken"` // the place whose value was taken
	Other string `json:"other"` // the place whose value was not
}

// RawJSON is a JSON document kept byte for byte. It marshals as itself.
type RawJSON []byte

// MarshalJSON returns the document itself, or null when there is none.
func (r RawJSON) MarshalJSON() ([]byte, error) {
	if len(r) == 0 {
		return []byte("null"), nil
	}
	return r, nil
}

// UnmarshalJSON keeps the document as it came.
func (r *RawJSON) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*r = nil
		return nil
	}
	*r = append((*r)[:0], b...)
	return nil
}

// FoldModelName returns the form in which model names are compared: without
// folder and weight-file extension, lower case.
func FoldModelName(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	name = strings.ToLower(strings.TrimSpace(name))
	for _, ext := range []string{".safetensors", ".ckpt", ".pt", ".pth", ".bin", ".gguf", ".sft"} {
		if s, ok := strings.CutSuffix(name, ext); ok {
			return s
		}
	}
	return name
}
