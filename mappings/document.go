package mappings

import (
	"math"
	"sync"
	"time"

	"vitrine/library"
	"vitrine/media/palette"
)

// A field of the index is declared here: as a member of Document, which says how it
// is written, and as a row of the table below it, which says how it is mapped and
// searched. The indexer fills the member in (indexer/build.go).

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

	Color string `json:"color,omitempty"` // the name of the dominant one; see palette.Names

	Original string `json:"original,omitempty"` // of a file that is referenced in place: in_place, changed or missing

	Title       string         `json:"title,omitempty"`
	Description string         `json:"description,omitempty"`
	Filename    string         `json:"filename,omitempty"`
	SourcePath  string         `json:"source_path,omitempty"`
	Status      library.Status `json:"status,omitempty"`
	Tags        []string       `json:"tags,omitempty"`
	TagsNorm    []string       `json:"tags_norm,omitempty"` // NormTag of each tag
	TagCount    int            `json:"tag_count"`
	Rating      int            `json:"rating,omitempty"` // 1 to 5
	Favorite    bool           `json:"favorite"`
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

	Triangles  int64    `json:"triangles,omitempty"` // of a 3D model, as are those below
	Vertices   int64    `json:"vertices,omitempty"`
	Materials  int      `json:"materials,omitempty"`
	Textures   int      `json:"textures,omitempty"`
	Animations int      `json:"animations,omitempty"`
	Extent     *float64 `json:"extent,omitempty"` // the longest side in meters

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
	AssertedPrompt string                `json:"asserted_prompt,omitempty"` // an uploader's claim; plain words do not search it
	PromptHash     string                `json:"prompt_hash,omitempty"`     // equal prompts have equal hashes
	Params         []string              `json:"params,omitempty"`          // "key=value" and "value" of every setting
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

	Metadata       []string `json:"metadata,omitempty"` // see Metadata, for this and the following
	MetadataKeys   []string `json:"metadata_keys,omitempty"`
	MetadataValues []string `json:"metadata_values,omitempty"`
	MetadataRanks  []string `json:"metadata_ranks,omitempty"`

	Annotations        []string `json:"annotations,omitempty"`         // the texts of those that everybody sees who sees the asset
	PrivateAnnotations []string `json:"private_annotations,omitempty"` // PrivateAnnotation of those that only their authors see
	AnnotationAuthors  []string `json:"annotation_authors,omitempty"`  // the authors of private ones

	CollectionPaths  []string `json:"collection_paths,omitempty"`  // with every ancestor path
	CollectionH      []string `json:"collection_h,omitempty"`      // with every ancestor
	CollectionDirect []string `json:"collection_direct,omitempty"` // path and collection_h of those that it is itself in
	CollectionRanks  []string `json:"collection_ranks,omitempty"`  // CollectionRank of each of these
	ExperimentPaths  []string `json:"experiment_paths,omitempty"`  // experiments that it is a run of
	ExperimentH      []string `json:"experiment_h,omitempty"`

	PromptH        []string `json:"prompt_h,omitempty"`         // prompts of the library that its prompt is a render of
	PromptVersionH []string `json:"prompt_version_h,omitempty"` // the versions of these

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
	Duplicate         bool `json:"duplicate"` // another asset of the tenant looks alike

	// Vectors holds one vector per embedding configuration, written as
	// vec_<config>. A vector is finite, not all zero and of the dimension the
	// mapping gives; the index refuses the whole document otherwise.
	Vectors map[string][]float32 `json:"-"`
}

// Fields returns the fields of the index; nobody changes them. The order of those of one group is the
// order of the documentation.
var Fields = sync.OnceValue(assetFields)

func assetFields() []Field {
	var list []Field
	for _, part := range [][]Field{contentFields(), mediaFields(), systemFields(), dateFields(), generationFields(), modelFields(), graphFields(), imageToolFields(), annotationFields(), relationFields(), derivedFields()} {
		list = append(list, part...)
	}
	return list
}

// contentFields are what people say about an asset.
func contentFields() []Field {
	return []Field{
		{Name: "title", Mapping: prose().searched().highlighted().parts().with(rawField, folded()).with("sayt", Mapping{Type: "search_as_you_type", Analyzer: "plain"}), Sort: "title", Has: "title", Query: []QueryField{
			{Name: "title", Type: TypeText, Group: GroupCore, Doc: "words of the title", Example: `title:"red cat"`}}},
		{Name: "description", Mapping: prose().searched().highlighted(), Has: "description", Query: []QueryField{
			{Name: "description", Aliases: []string{"desc"}, Type: TypeText, Group: GroupCore, Doc: "words of the description", Example: "description:cover"}}},
		{Name: "filename", Mapping: folded().searched().parts().analyzed(), Sort: "filename", Query: []QueryField{
			{Name: "filename", Aliases: []string{"file", "name"}, Type: TypePart, Group: GroupCore, Doc: "any part of the file name", Example: "filename:ComfyUI_*"}}},
		{Name: "source_path", Mapping: folded().parts()},
		{Name: "tags", Mapping: folded().searched().analyzed(), Has: "tags"},
		{Name: "tags_norm", Mapping: folded(), Query: []QueryField{
			{Name: "tag", Aliases: []string{"tags"}, Type: TypeTag, Group: GroupCore, Doc: "one whole tag; red_hair and \"red hair\" are the same", Example: `tag:"red hair"`, Facet: termsOf("tags")}}},
		{Name: "tag_count", Mapping: number("short"), Sort: "tag_count"},
		{Name: "metadata_values", Mapping: folded(), Query: []QueryField{
			{Name: "metadata", Aliases: []string{"meta"}, Type: TypeMetadata, Group: GroupCore, Doc: "a value of its own metadata, whatever the key; metadata.key:value of that key, where numbers and dates compare; has:metadata.key", Example: "metadata.client:acme"}}},
		{Name: "metadata", Mapping: folded()},
		{Name: "metadata_keys", Mapping: folded(), Has: "metadata"},
		{Name: "metadata_ranks", Mapping: exact()},
		{Name: "rating", Mapping: number("integer"), Sort: "rating", Has: "rating", Query: []QueryField{
			{Name: "rating", Aliases: []string{"stars"}, Type: TypeInt, Min: 1, Max: library.MaxRating, Group: GroupCore, Doc: "1 to 5; -has:rating finds what is not rated", Example: "rating:>=4", Facet: histogram(1, library.MaxRating)}}},
		{Name: "favorite", Mapping: flag(), Has: "favorite", Query: []QueryField{
			{Name: "favorite", Type: TypeBool, Group: GroupCore, Doc: "whether it is a favorite", Example: "favorite:true", Facet: terms()}}},
		{Name: "status", Mapping: exact().eager(), Sort: "status", Query: []QueryField{
			{Name: "status", Type: TypeEnum, Group: GroupCore, Values: names(library.Statuses), Doc: "the review state", Example: "status:Approved", Facet: terms()}}},
	}
}

// mediaFields are what the file is.
func mediaFields() []Field {
	return []Field{
		{Name: "mime_type", Mapping: folded(), Query: []QueryField{
			{Name: "mime_type", Aliases: []string{"mime", "format"}, Type: TypeMIME, Group: GroupCore, Doc: "the media type; image stands for image/*, png for */png", Example: "mime_type:image/png", Facet: terms()}}},
		{Name: "dimensions", Mapping: exact(), Has: "dimensions", Query: []QueryField{
			{Name: "dimensions", Aliases: []string{"resolution"}, Type: TypeDimensions, Group: GroupCore, Doc: "width x height in pixels; comparisons hold for both sides", Example: "dimensions:>=1024x1024", Facet: terms()}}},
		{Name: "width", Mapping: number("integer"), Sort: "width", Query: []QueryField{
			{Name: "width", Type: TypeInt, Max: maxInt, Group: GroupCore, Doc: "pixels", Example: "width:>=1024", Facet: histogram(256, 16384)}}},
		{Name: "height", Mapping: number("integer"), Sort: "height", Query: []QueryField{
			{Name: "height", Type: TypeInt, Max: maxInt, Group: GroupCore, Doc: "pixels", Example: "height:512..1024", Facet: histogram(256, 16384)}}},
		{Name: "aspect", Mapping: number("float"), Query: []QueryField{
			{Name: "aspect", Aliases: []string{"aspect_ratio", "ratio"}, Type: TypeAspect, Group: GroupCore, Doc: "width : height, equal within one percent", Example: "aspect:16:9", Facet: shapes()}}},
		{Name: "megapixels", Mapping: number("float"), Sort: "megapixels", Query: []QueryField{
			{Name: "megapixels", Aliases: []string{"mp"}, Type: TypeFloat, Max: maxSetting, Group: GroupCore, Doc: "millions of pixels", Example: "megapixels:>2", Facet: histogram(1, 100)}}},
		{Name: "size_bytes", Mapping: number("long"), Sort: "size", Query: []QueryField{
			{Name: "size", Aliases: []string{"bytes"}, Type: TypeInt, Max: 1 << 53, Group: GroupCore, Doc: "bytes of the file", Example: "size:>1000000"}}},
		{Name: "media_type", Mapping: exact().eager(), Query: []QueryField{
			{Name: "media", Aliases: []string{"type"}, Type: TypeEnum, Group: GroupCore, Values: mediaTypes, Doc: "the class of media", Example: "media:video", Facet: terms()}}},
		{Name: "duration_ms", Mapping: number("long"), Sort: "duration"},
		{Name: "triangles", Mapping: number("long"), Query: []QueryField{
			{Name: "triangles", Type: TypeInt, Max: 1 << 53, Group: GroupCore, Doc: "of a 3D model", Example: "triangles:<50000"}}},
		{Name: "vertices", Mapping: number("long"), Query: []QueryField{
			{Name: "vertices", Type: TypeInt, Max: 1 << 53, Group: GroupCore, Doc: "of a 3D model", Example: "vertices:>=10000"}}},
		{Name: "materials", Mapping: number("integer"), Query: []QueryField{
			{Name: "materials", Type: TypeInt, Max: maxInt, Group: GroupCore, Doc: "of a 3D model", Example: "materials:1"}}},
		{Name: "textures", Mapping: number("integer"), Query: []QueryField{
			{Name: "textures", Type: TypeInt, Max: maxInt, Group: GroupCore, Doc: "pictures in a 3D model", Example: "textures:>=2"}}},
		{Name: "animations", Mapping: number("integer"), Has: "animations", Query: []QueryField{
			{Name: "animations", Type: TypeInt, Max: maxInt, Group: GroupCore, Doc: "of a 3D model; -has:animations finds what has none", Example: "animations:>=1"}}},
		{Name: "extent", Mapping: number("float"), Query: []QueryField{
			{Name: "extent", Type: TypeFloat, Max: maxSetting, Group: GroupCore, Doc: "the longest side of a 3D model in meters", Example: "extent:<2"}}},
		{Name: "original", Mapping: exact(), Has: "original", Query: []QueryField{
			{Name: "original", Type: TypeEnum, Group: GroupCore, Values: OriginalValues, Doc: "where the file of an asset is that was imported without copying: where it was, changed or missing", Example: "original:missing", Facet: terms()}}},
		{Name: "color", Mapping: exact(), Has: "color", Query: []QueryField{
			{Name: "color", Aliases: []string{"colour"}, Type: TypeEnum, Group: GroupCore, Values: palette.Names, Doc: "the dominant color of the picture, of assets that the pipeline stage enrich found it of", Example: "color:blue", Facet: terms()}}},
		{Name: "has_audio", Mapping: flag(), Has: "audio"},
		{Name: "has_preview", Mapping: flag(), Has: "preview"},
		{Name: "creator", Mapping: folded(), Has: "creator", Query: []QueryField{
			{Name: "creator", Aliases: []string{"author", "artist"}, Type: TypeName, Group: GroupCore, Doc: "the author as the file names it", Example: `creator:"Ada L*"`, Facet: terms()}}},
		{Name: "copyright", Mapping: folded(), Has: "copyright", Query: []QueryField{
			{Name: "copyright", Type: TypeName, Group: GroupCore, Doc: "the rights as the file states them", Example: "copyright:*studio*"}}},
	}
}

// systemFields are whose an asset is, its identifiers, and the state of its document.
func systemFields() []Field {
	return []Field{
		{Name: "owner", Mapping: exact(), Query: []QueryField{
			{Name: "owner", Type: TypeName, Group: GroupCore, Doc: "whose it is, by key_id; me for the one who asks", Example: "owner:me", Facet: terms()}}},
		{Name: "visibility", Mapping: exact(), Query: []QueryField{
			{Name: "visibility", Type: TypeEnum, Group: GroupCore, Values: names(library.Visibilities), Doc: "who sees it: its owner, or everybody in the tenant", Example: "visibility:private", Facet: terms()}}},
		{Name: "asset_h", Mapping: exact(), Sort: "asset_h", Query: []QueryField{
			{Name: "asset_h", Aliases: []string{"asset", "id", "hash"}, Type: TypeHash, Group: GroupCore, Doc: "the asset's own hash", Example: "asset_h:" + exampleHash},
			{Name: "similar", Aliases: []string{"like"}, Type: TypeHash, Group: GroupRelations, Doc: "described alike: what is written of it means the same as of this asset; stands alone or beside other conditions, once and not negated", Example: "similar:" + exampleHash}}},
		{Name: "sha256", Mapping: exact()},
		{Name: "blake3", Mapping: exact()},
		{Name: "phash", Mapping: exact()},
		{Name: "duplicate", Mapping: flag()},
		{Name: "tenant_id", Mapping: exact()},
		{Name: "doc_version", Mapping: number("long")},
		{Name: "deleted", Mapping: flag()},
		{Name: "trashed", Mapping: flag()},
		{Name: "index_error", Mapping: exact()},
	}
}

func dateFields() []Field {
	return []Field{
		{Name: "created", Mapping: date(), Sort: "created", Query: []QueryField{
			{Name: "created", Aliases: []string{"date"}, Type: TypeDate, Group: GroupDates, Doc: "when the file was made", Example: "created:2024-01-01..2024-01-31", Facet: calendar()}}},
		{Name: "updated", Mapping: date(), Sort: "updated", Query: []QueryField{
			{Name: "updated", Aliases: []string{"modified"}, Type: TypeDate, Group: GroupDates, Doc: "when the asset last changed", Example: "updated:>=2024-06-01", Facet: calendar()}}},
		{Name: "stored", Mapping: date(), Sort: "stored", Query: []QueryField{
			{Name: "stored", Aliases: []string{"added", "uploaded"}, Type: TypeDate, Group: GroupDates, Doc: "when it came into the library", Example: "stored:2024-06", Facet: calendar()}}},
	}
}

// generationFields are what the file says about its making.
func generationFields() []Field {
	return []Field{
		{Name: "lineage_source", Mapping: exact()},
		{Name: "has_lineage", Mapping: flag(), Has: "lineage"},
		{Name: "tool", Mapping: folded().eager(), Query: []QueryField{
			{Name: "tool", Type: TypeName, Group: GroupGeneration, Doc: "the program that made it, in any spelling: a1111 is sd-webui", Example: "tool:comfyui", Facet: terms()}}},
		{Name: "prompt", Mapping: prose().searched().highlighted(), Query: []QueryField{
			{Name: "prompt", Type: TypeText, Group: GroupGeneration, Exists: "has_prompt", Doc: "words of the prompt", Example: `prompt:"neon street"`}}},
		{Name: "has_prompt", Mapping: flag(), Has: "prompt"},
		{Name: "negative_prompt", Mapping: prose(), Query: []QueryField{
			{Name: "negative_prompt", Aliases: []string{"negative", "neg"}, Type: TypeText, Group: GroupGeneration, Exists: "has_negative_prompt", Doc: "words of the negative prompt, which bare words never search", Example: "negative_prompt:blurry"}}},
		{Name: "asserted_prompt", Mapping: prose(), Query: []QueryField{
			{Name: "asserted_prompt", Aliases: []string{"asserted"}, Type: TypeText, Group: GroupGeneration, Doc: "words of the prompt that an uploader asserted, which bare words never search", Example: "asserted_prompt:lighthouse"}}},
		{Name: "has_negative_prompt", Mapping: flag(), Has: "negative_prompt"},
		{Name: "prompt_hash", Mapping: exact()},
		{Name: "version", Mapping: folded().parts(), Query: []QueryField{
			{Name: "version", Type: TypeName, Group: GroupGeneration, Doc: "the version of the program", Example: "version:v1.10.*", Facet: terms()}}},
		{Name: "job_type", Mapping: folded(), Query: []QueryField{
			{Name: "job_type", Type: TypeName, Group: GroupGeneration, Doc: "the kind of job, such as txt2img", Example: "job_type:txt2img", Facet: terms()}}},
		{Name: "batch_size", Mapping: number("integer"), Query: []QueryField{
			{Name: "batch_size", Type: TypeInt, Max: maxInt, Group: GroupGeneration, Doc: "pictures per run", Example: "batch_size:4", Facet: histogram(1, 256)}}},
		{Name: "params", Mapping: folded(), Query: []QueryField{
			{Name: "parameters", Aliases: []string{"params", "param"}, Type: TypeParam, Group: GroupGeneration, Doc: "a setting, as key=value or its bare value", Example: "parameters:clip_skip=2"}}},
		{Name: "seed", Mapping: number("unsigned_long"), Sort: "seed", Has: "seed", Query: []QueryField{
			{Name: "seed", Type: TypeInt, Max: math.MaxUint64, Group: GroupGeneration, Doc: "the seed of the main pass", Example: "seed:123456"}}},
		{Name: "steps", Mapping: number("integer"), Sort: "steps", Query: []QueryField{
			{Name: "steps", Type: TypeInt, Max: maxInt, Group: GroupGeneration, Doc: "sampling steps", Example: "steps:20..30", Facet: histogram(5, 1000)}}},
		{Name: "cfg", Mapping: number("float"), Sort: "cfg", Query: []QueryField{
			{Name: "cfg", Aliases: []string{"cfg_scale"}, Type: TypeFloat, Min: -maxSetting, Max: maxSetting, Group: GroupGeneration, Doc: "guidance scale", Example: "cfg:>=7", Facet: histogram(1, 100)}}},
		{Name: "denoise", Mapping: number("float"), Query: []QueryField{
			{Name: "denoise", Aliases: []string{"denoising", "denoising_strength"}, Type: TypeFloat, Min: -maxSetting, Max: maxSetting, Group: GroupGeneration, Doc: "denoising strength", Example: "denoise:0.4..0.6", Facet: histogram(0.1, 1)}}},
		{Name: "sampler", Mapping: folded(), Query: []QueryField{
			{Name: "sampler", Type: TypeName, Group: GroupGeneration, Doc: "the sampler, as any program spells it; also with its schedule, or the beginning of its name", Example: `sampler:"DPM++ 2M Karras"`, Facet: terms()}}},
		{Name: "scheduler", Mapping: folded(), Query: []QueryField{
			{Name: "scheduler", Type: TypeName, Group: GroupGeneration, Doc: "the noise schedule, as any program spells it", Example: "scheduler:karras", Facet: terms()}}},
		{Name: "ai", Mapping: flag(), Query: []QueryField{
			{Name: "ai", Type: TypeBool, Group: GroupGeneration, Doc: "whether the file says that a model made it", Example: "ai:true", Facet: terms()}}},
		{Name: "lineage_root", Mapping: exact(), Query: []QueryField{
			{Name: "chain", Type: TypeChain, Group: GroupGeneration, Doc: "whether it has a parent or a child in the library; with an asset_h, the family of that asset", Example: "chain:true", Facet: termsOf("chain")}}},
		{Name: "chain", Mapping: flag()},
	}
}

func modelFields() []Field {
	return []Field{
		{Name: "model_names", Mapping: folded().searched().parts().analyzed(), Query: []QueryField{
			{Name: "model", Aliases: []string{"models"}, Type: TypePart, Group: GroupModels, Doc: "any part of the name of any model", Example: "model:sdxl", Facet: terms()},
			{Name: "model_name", Type: TypeName, Group: GroupModels, Doc: "the whole name of a model, without folder and extension", Example: "model_name:dreamshaper_8"}}},
		{Name: "checkpoint_names", Mapping: folded().parts(), Has: "checkpoint", Query: []QueryField{
			{Name: "checkpoint", Aliases: []string{"ckpt"}, Type: TypePart, Group: GroupModels, Doc: "any part of the checkpoint's name", Example: "checkpoint:v1-5", Facet: terms()}}},
		{Name: "lora_names", Mapping: folded().parts(), Has: "lora", Query: []QueryField{
			{Name: "lora", Aliases: []string{"loras"}, Type: TypePart, Group: GroupModels, Doc: "any part of a LoRA's name; a blank is whatever joins its words", Example: `lora:"detail tweaker"`, Facet: terms()}}},
		{Name: "model_types", Mapping: folded(), Query: []QueryField{
			{Name: "model_type", Type: TypeName, Group: GroupModels, Doc: "checkpoint, lora, vae, controlnet and so on", Example: "model_type:controlnet", Facet: terms()}}},
		{Name: "base_models", Mapping: folded(), Query: []QueryField{
			{Name: "base_model", Type: TypeName, Group: GroupModels, Doc: "the family a model was trained on, in any spelling: SDXL 1.0 is sdxl", Example: `base_model:"SDXL 1.0"`, Facet: terms()}}},
		{Name: "trigger_words", Mapping: folded(), Has: "trigger_word", Query: []QueryField{
			{Name: "trigger_word", Aliases: []string{"trigger"}, Type: TypeName, Group: GroupModels, Doc: "a word that activates one of its models", Example: "trigger_word:ohwx"}}},
		{Name: "model_weights", Mapping: number("float"), Query: []QueryField{
			{Name: "model_weight", Type: TypeFloat, Min: -maxSetting, Max: maxSetting, Group: GroupModels, Doc: "the strength of any of its models", Example: "model_weight:0.5..0.9", Facet: histogram(0.1, 2)}}},
		{Name: "model_weight_pairs", Mapping: folded()},
		{Name: "model_hashes", Mapping: folded()},
		{Name: "has_models", Mapping: flag(), Has: "models"},
	}
}

func graphFields() []Field {
	return []Field{
		{Name: "gt_nodes", Mapping: folded(), Query: []QueryField{
			{Name: "graphtool_node", Aliases: []string{"node"}, Type: TypeNode, Group: GroupGraphTool, Doc: "a node class of its workflow, or one input of a node", Example: "graphtool_node:KSampler.cfg=7", Facet: terms()}}},
		{Name: "gt_node_props", Mapping: folded()},
		{Name: "gt_node_count", Mapping: number("integer")},
		{Name: "gt_packs", Mapping: folded()},
		{Name: "gt_workflow", Mapping: folded(), Query: []QueryField{
			{Name: "graphtool_workflow", Aliases: []string{"workflow"}, Type: TypeName, Group: GroupGraphTool, Exists: "has_workflow", Doc: "the name or the structural hash of its workflow", Example: "graphtool_workflow:portrait*"}}},
		{Name: "has_workflow", Mapping: flag(), Has: "workflow"},
		{Name: "gt_models", Mapping: folded().parts(), Query: []QueryField{
			{Name: "graphtool_model", Type: TypePart, Group: GroupGraphTool, Doc: "any part of the name of a model its workflow loads", Example: "graphtool_model:flux"}}},
		{Name: "gt_model_types", Mapping: folded(), Query: []QueryField{
			{Name: "graphtool_model_type", Type: TypeName, Group: GroupGraphTool, Doc: "the kind of a model its workflow loads", Example: "graphtool_model_type:vae", Facet: terms()}}},
		{Name: "gt_model_hashes", Mapping: folded(), Query: []QueryField{
			{Name: "graphtool_model_hash", Type: TypeName, Group: GroupGraphTool, Doc: "the hash of a model its workflow loads, whole or its beginning", Example: "graphtool_model_hash:abc123*"}}},
	}
}

func imageToolFields() []Field {
	return []Field{
		{Name: "imagetool_command", Mapping: folded(), Query: []QueryField{
			{Name: "imagetool_command", Type: TypeName, Group: GroupImageTool, Doc: "imagine, upscale, variation and so on", Example: "imagetool_command:upscale", Facet: terms()}}},
		{Name: "imagetool_version", Mapping: folded().parts(), Query: []QueryField{
			{Name: "imagetool_version", Type: TypeName, Group: GroupImageTool, Doc: "the version of the tool's model", Example: "imagetool_version:6.*", Facet: terms()}}},
		{Name: "imagetool_type", Mapping: folded(), Query: []QueryField{
			{Name: "imagetool_type", Type: TypeName, Group: GroupImageTool, Doc: "the kind of job it recorded", Example: "imagetool_type:grid", Facet: terms()}}},
		{Name: "imagetool_batch", Mapping: number("integer"), Query: []QueryField{
			{Name: "imagetool_batch", Type: TypeInt, Max: maxInt, Group: GroupImageTool, Doc: "the position in its batch, from 0", Example: "imagetool_batch:0", Facet: histogram(1, 64)}}},
	}
}

// annotationFields are what people noted on an asset and on the nodes of its workflow. The
// compiler of queries looks into private_annotations for the caller's own only.
func annotationFields() []Field {
	return []Field{
		{Name: "annotations", Mapping: prose(), Has: "annotation", Query: []QueryField{
			{Name: "annotation", Aliases: []string{"annotations"}, Type: TypeText, Group: GroupRelations, Doc: "words of annotations on it, on the nodes of its workflow and on its runs; bare words never search them; of private ones only your own", Example: `annotation:"too dark"`}}},
		{Name: "private_annotations", Mapping: prose()},
		{Name: "annotation_authors", Mapping: exact()},
	}
}

// relationFields are an asset's place among collections and other assets.
func relationFields() []Field {
	return []Field{
		{Name: "collection_paths", Mapping: folded(), Query: []QueryField{
			{Name: "collection", Aliases: []string{"collections", "in"}, Type: TypeCollection, Group: GroupRelations, Doc: "a collection with everything below it, by path or collection_h; with = before it without what is below", Example: "collection:launch.hero", Facet: terms()}}},
		{Name: "collection_h", Mapping: exact(), Has: "collection"},
		{Name: "collection_direct", Mapping: folded()},
		{Name: "collection_ranks", Mapping: exact()},
		{Name: "experiment_paths", Mapping: folded(), Query: []QueryField{
			{Name: "experiment", Aliases: []string{"experiments"}, Type: TypeCollection, Group: GroupRelations, Doc: "an experiment that it is a run of, by path or collection_h", Example: "experiment:tests.cfg", Facet: terms()}}},
		{Name: "experiment_h", Mapping: exact(), Has: "experiment"},
		{Name: "prompt_h", Mapping: folded(), Has: "saved_prompt", Query: []QueryField{
			{Name: "prompt_h", Aliases: []string{"saved_prompt"}, Type: TypeName, Group: GroupRelations, Doc: "a prompt of the prompt library whose version its prompt is a render of, by prompt_h", Example: "prompt_h:" + exampleHash, Facet: terms()}}},
		{Name: "prompt_version_h", Mapping: folded(), Query: []QueryField{
			{Name: "prompt_version_h", Aliases: []string{"version_h"}, Type: TypeName, Group: GroupRelations, Doc: "one version of a saved prompt, by version_h", Example: "prompt_version_h:" + exampleHash, Facet: terms()}}},
		{Name: "parent_names", Mapping: folded().parts(), Query: []QueryField{
			{Name: "parent", Type: TypeParent, Group: GroupRelations, Exists: "has_parent", Doc: "made from this asset, by asset_h or part of the file name it names", Example: "parent:fennec_girl.png"}}},
		{Name: "parent_hs", Mapping: exact()},
		{Name: "has_parent", Mapping: flag(), Has: "parent"},
		{Name: "has_child", Mapping: flag(), Has: "child"},
		{Name: "child_count", Mapping: number("integer")},
	}
}

// derivedFields follow from the others; AppendDerived writes them, or the index does.
func derivedFields() []Field {
	return []Field{
		{Name: NumberField, Mapping: Mapping{Type: "long", Index: new(bool)}, Derived: true},
		{Name: WordsField, Mapping: Mapping{Type: "text", Analyzer: "words", SearchAnalyzer: "prompt_search"}, Derived: true},
		{Name: VocabularyField, Mapping: Mapping{Type: "keyword", DocValues: new(bool)}, Derived: true},
	}
}
