package mappings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"time"

	"vitrine/library"
)

// Document is one asset as the index holds it. Lists hold distinct values. A
// zero value, a nil pointer and an empty list mean "the asset has none" and are
// left out of the JSON, so that has: and -field:* work. Times are UTC.
//
// The owner and visibility fields restrict who may see a document; see
// query.Request. A tombstone has only TenantID, AssetH, DocVersion and Deleted.
type Document struct {
	TenantID   library.TenantID  `json:"tenant_id"`
	AssetH     library.AssetHash `json:"asset_h"`
	DocVersion int64             `json:"doc_version"` // equals the document's external version
	Deleted    bool              `json:"deleted"`     // a tombstone: the asset is gone
	Trashed    bool              `json:"trashed"`     // in the trash, restorable
	Owner      string            `json:"owner,omitempty"`
	Visibility string            `json:"visibility,omitempty"` // private, team, public; absent = team
	IndexError string            `json:"index_error,omitempty"`

	SHA256 string `json:"sha256,omitempty"`
	BLAKE3 string `json:"blake3,omitempty"`
	PHash  string `json:"phash,omitempty"` // 16 hex digits

	Title       string         `json:"title,omitempty"`
	Description string         `json:"description,omitempty"`
	Filename    string         `json:"filename,omitempty"`
	SourcePath  string         `json:"source_path,omitempty"`
	Status      library.Status `json:"status,omitempty"`
	Tags        []string       `json:"tags,omitempty"`
	TagsNorm    []string       `json:"tags_norm,omitempty"` // NormTag of each tag
	TagCount    int            `json:"tag_count"`
	Creator     string         `json:"creator,omitempty"`   // as the file names its author
	Copyright   string         `json:"copyright,omitempty"` // as the file states its rights

	MIMEType   string   `json:"mime_type,omitempty"`
	MediaType  string   `json:"media_type,omitempty"` // MediaType(MIMEType)
	SizeBytes  int64    `json:"size_bytes,omitempty"`
	DurationMS int64    `json:"duration_ms,omitempty"`
	Width      int      `json:"width,omitempty"`
	Height     int      `json:"height,omitempty"`
	Dimensions string   `json:"dimensions,omitempty"` // "1024x768"
	Aspect     *float64 `json:"aspect,omitempty"`     // width / height
	Megapixels *float64 `json:"megapixels,omitempty"` // width × height / 10^6
	HasAudio   bool     `json:"has_audio"`

	Created *time.Time `json:"created,omitempty"` // when the file was made
	Updated *time.Time `json:"updated,omitempty"`
	Stored  *time.Time `json:"stored,omitempty"` // when it came into the library

	LineageSource  library.LineageSource `json:"lineage_source,omitempty"`
	AI             bool                  `json:"ai"` // the file says that a generative model made it
	Tool           string                `json:"tool,omitempty"`
	ToolVersion    string                `json:"version,omitempty"`
	JobType        string                `json:"job_type,omitempty"`
	Prompt         string                `json:"prompt,omitempty"`
	NegativePrompt string                `json:"negative_prompt,omitempty"`
	PromptHash     string                `json:"prompt_hash,omitempty"` // equal prompts have equal hashes
	Params         []string              `json:"params,omitempty"`      // "key=value" and "value" of every setting
	Seed           *uint64               `json:"seed,omitempty"`
	Steps          *int                  `json:"steps,omitempty"`
	CFG            *float64              `json:"cfg,omitempty"`
	Denoise        *float64              `json:"denoise,omitempty"`
	Sampler        string                `json:"sampler,omitempty"`
	Scheduler      string                `json:"scheduler,omitempty"`
	BatchSize      *int                  `json:"batch_size,omitempty"`

	ModelNames       []string  `json:"model_names,omitempty"` // every model, whatever its type
	ModelHashes      []string  `json:"model_hashes,omitempty"`
	ModelTypes       []string  `json:"model_types,omitempty"`
	BaseModels       []string  `json:"base_models,omitempty"`
	TriggerWords     []string  `json:"trigger_words,omitempty"`
	ModelWeights     []float64 `json:"model_weights,omitempty"`
	ModelWeightPairs []string  `json:"model_weight_pairs,omitempty"` // WeightPair of each weighted model
	CheckpointNames  []string  `json:"checkpoint_names,omitempty"`
	LoraNames        []string  `json:"lora_names,omitempty"`

	GTNodes       []string `json:"gt_nodes,omitempty"`      // distinct node classes
	GTNodeProps   []string `json:"gt_node_props,omitempty"` // NodeProp of each scalar input, at most MaxNodeProps
	GTNodeCount   int      `json:"gt_node_count,omitempty"`
	GTPacks       []string `json:"gt_packs,omitempty"`    // node packs outside the tool's core
	GTWorkflow    []string `json:"gt_workflow,omitempty"` // the graph's name and structural hash
	GTModels      []string `json:"gt_models,omitempty"`
	GTModelTypes  []string `json:"gt_model_types,omitempty"`
	GTModelHashes []string `json:"gt_model_hashes,omitempty"`

	ImageToolCommand string `json:"imagetool_command,omitempty"`
	ImageToolVersion string `json:"imagetool_version,omitempty"`
	ImageToolType    string `json:"imagetool_type,omitempty"`
	ImageToolBatch   *int   `json:"imagetool_batch,omitempty"`

	CollectionPaths []string `json:"collection_paths,omitempty"` // with every ancestor path
	CollectionH     []string `json:"collection_h,omitempty"`

	Chain       bool                `json:"chain"` // has a parent or a child in the library
	LineageRoot library.AssetHash   `json:"lineage_root,omitempty"`
	ParentHs    []library.AssetHash `json:"parent_hs,omitempty"`
	ParentNames []string            `json:"parent_names,omitempty"` // as the file names them, found or not
	ChildCount  int                 `json:"child_count,omitempty"`

	HasPrompt         bool `json:"has_prompt"`
	HasNegativePrompt bool `json:"has_negative_prompt"`
	HasWorkflow       bool `json:"has_workflow"`
	HasModels         bool `json:"has_models"`
	HasLineage        bool `json:"has_lineage"` // the file says anything about its making
	HasParent         bool `json:"has_parent"`
	HasChild          bool `json:"has_child"`
	HasPreview        bool `json:"has_preview"`
	Duplicate         bool `json:"duplicate"` // another asset of the tenant has the same perceptual hash

	// Vectors holds one vector per embedding configuration, written as
	// vec_<config>. A vector is finite, not all zero and of the dimension the
	// mapping gives; the index refuses the whole document otherwise.
	Vectors map[string][]float32 `json:"-"`
}

type plainDocument Document

// MarshalJSON writes the document as the index takes it.
func (d Document) MarshalJSON() ([]byte, error) {
	if d.Deleted {
		return json.Marshal(map[string]any{
			"tenant_id": d.TenantID, "asset_h": d.AssetH, "doc_version": d.DocVersion, "deleted": true,
		})
	}
	b, err := json.Marshal(plainDocument(d))
	if err != nil {
		return nil, err
	}
	configs := make([]string, 0, len(d.Vectors))
	for c := range d.Vectors {
		configs = append(configs, c)
	}
	sort.Strings(configs)
	out := bytes.NewBuffer(d.AppendDerived(b[:len(b)-1]))
	for _, c := range configs {
		v, err := json.Marshal(d.Vectors[c])
		if err != nil {
			return nil, fmt.Errorf("vector of embedding configuration %q: %w", c, err)
		}
		fmt.Fprintf(out, `,%q:%s`, VectorField(c), v)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// UnmarshalJSON reads the _source of a hit, whole or filtered. Fields it does
// not know are ignored, so a newer index can be read.
func (d *Document) UnmarshalJSON(b []byte) error {
	var p plainDocument
	if err := json.Unmarshal(b, &p); err != nil {
		return fmt.Errorf("reading an indexed asset: %w", err)
	}
	if bytes.Contains(b, []byte(`"`+vectorPrefix)) {
		var all map[string]json.RawMessage
		if err := json.Unmarshal(b, &all); err != nil {
			return fmt.Errorf("reading an indexed asset: %w", err)
		}
		for name, raw := range all {
			config, ok := strings.CutPrefix(name, vectorPrefix)
			if !ok {
				continue
			}
			var v []float32
			if err := json.Unmarshal(raw, &v); err != nil {
				return fmt.Errorf("reading the vector %s: %w", name, err)
			}
			if p.Vectors == nil {
				p.Vectors = map[string][]float32{}
			}
			p.Vectors[config] = v
		}
	}
	*d = Document(p)
	return nil
}
