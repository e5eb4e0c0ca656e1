package query

import (
	"math"

	"vitrine/library"
)

// The groups fields are documented under.
const (
	groupCore       = "Core"
	groupDates      = "Dates"
	groupGeneration = "Generation"
	groupModels     = "Models"
	groupGraphTool  = "Graph tool (ComfyUI and its kin)"
	groupImageTool  = "Image tool (Midjourney and its kin)"
	groupRelations  = "Relations and states"
)

// buildFieldTable is the table of the language. Its order is the order of the
// documentation.
func buildFieldTable() []*Field {
	var table []*Field
	for _, rows := range [][]*Field{coreFields(), dateFields(), generationFields(), modelFields(), graphToolFields(), imageToolFields(), relationFields()} {
		table = append(table, rows...)
	}
	return table
}

func coreFields() []*Field {
	return []*Field{
		{Name: "title", Type: TypeText, Group: groupCore, Index: "title", Wild: "title.w", Doc: "words of the title", Example: `title:"red cat"`},
		{Name: "description", Aliases: []string{"desc"}, Type: TypeText, Group: groupCore, Index: "description", Doc: "words of the description", Example: "description:cover"},
		{Name: "filename", Aliases: []string{"file", "name"}, Type: TypePart, Group: groupCore, Index: "filename", Wild: "filename.w", Doc: "any part of the file name", Example: "filename:ComfyUI_*"},
		{Name: "tag", Aliases: []string{"tags"}, Type: TypeTag, Group: groupCore, Index: "tags_norm", Doc: "one whole tag; red_hair and \"red hair\" are the same", Example: `tag:"red hair"`, Facet: terms("tags")},
		{Name: "status", Type: TypeEnum, Group: groupCore, Index: "status", Values: statusNames(), Doc: "the review state", Example: "status:Approved", Facet: terms("status")},
		{Name: "mime_type", Aliases: []string{"mime", "format"}, Type: TypeMIME, Group: groupCore, Index: "mime_type", Doc: "the media type; image stands for image/*, png for */png", Example: "mime_type:image/png", Facet: terms("mime_type")},
		{Name: "dimensions", Aliases: []string{"resolution"}, Type: TypeDimensions, Group: groupCore, Index: "dimensions", Doc: "width x height in pixels; comparisons hold for both sides", Example: "dimensions:>=1024x1024", Facet: terms("dimensions")},
		{Name: "width", Type: TypeInt, Min: 0, Max: math.MaxInt32, Group: groupCore, Index: "width", Doc: "pixels", Example: "width:>=1024", Facet: histogram("width", 256, 16384)},
		{Name: "height", Type: TypeInt, Min: 0, Max: math.MaxInt32, Group: groupCore, Index: "height", Doc: "pixels", Example: "height:512..1024", Facet: histogram("height", 256, 16384)},
		{Name: "aspect", Aliases: []string{"aspect_ratio", "ratio"}, Type: TypeAspect, Group: groupCore, Index: "aspect", Doc: "width : height, equal within one percent", Example: "aspect:16:9", Facet: shapes("aspect")},
		{Name: "megapixels", Aliases: []string{"mp"}, Type: TypeFloat, Min: 0, Max: 1e6, Group: groupCore, Index: "megapixels", Doc: "millions of pixels", Example: "megapixels:>2", Facet: histogram("megapixels", 1, 100)},
		{Name: "size", Aliases: []string{"bytes"}, Type: TypeInt, Min: 0, Max: 1 << 53, Group: groupCore, Index: "size_bytes", Doc: "bytes of the file", Example: "size:>1000000"},
		{Name: "media", Aliases: []string{"type"}, Type: TypeEnum, Group: groupCore, Index: "media_type", Values: []string{"image", "video", "audio", "model3d", "document", "other"}, Doc: "the class of media", Example: "media:video", Facet: terms("media_type")},
		{Name: "creator", Aliases: []string{"author", "artist"}, Type: TypeName, Group: groupCore, Index: "creator", Doc: "the author as the file names it", Example: `creator:"Ada L*"`, Facet: terms("creator")},
		{Name: "copyright", Type: TypeName, Group: groupCore, Index: "copyright", Doc: "the rights as the file states them", Example: "copyright:*studio*"},
		{Name: "owner", Type: TypeName, Group: groupCore, Index: "owner", Doc: "whose it is, by key_id; me for the one who asks", Example: "owner:me", Facet: terms("owner")},
		{Name: "visibility", Type: TypeEnum, Group: groupCore, Index: "visibility", Values: visibilityNames(), Doc: "who sees it: its owner, or everybody in the tenant", Example: "visibility:private", Facet: terms("visibility")},
		{Name: "asset_h", Aliases: []string{"asset", "id", "hash"}, Type: TypeHash, Group: groupCore, Index: "asset_h", Doc: "the asset's own hash", Example: "asset_h:" + exampleHash},
	}
}

const exampleHash = "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"

func statusNames() []string {
	names := make([]string, len(library.Statuses))
	for i, s := range library.Statuses {
		names[i] = string(s)
	}
	return names
}

func visibilityNames() []string {
	names := make([]string, len(library.Visibilities))
	for i, v := range library.Visibilities {
		names[i] = string(v)
	}
	return names
}

func dateFields() []*Field {
	return []*Field{
		{Name: "created", Aliases: []string{"date"}, Type: TypeDate, Group: groupDates, Index: "created", Doc: "when the file was made", Example: "created:2024-01-01..2024-01-31", Facet: calendar("created")},
		{Name: "updated", Aliases: []string{"modified"}, Type: TypeDate, Group: groupDates, Index: "updated", Doc: "when the asset last changed", Example: "updated:>=2024-06-01", Facet: calendar("updated")},
		{Name: "stored", Aliases: []string{"added", "uploaded"}, Type: TypeDate, Group: groupDates, Index: "stored", Doc: "when it came into the library", Example: "stored:2024-06", Facet: calendar("stored")},
	}
}

func generationFields() []*Field {
	return []*Field{
		{Name: "tool", Type: TypeName, Group: groupGeneration, Index: "tool", Doc: "the program that made it", Example: "tool:comfyui", Facet: terms("tool")},
		{Name: "prompt", Type: TypeText, Group: groupGeneration, Index: "prompt", Exists: "has_prompt", Doc: "words of the prompt", Example: `prompt:"neon street"`},
		{Name: "negative_prompt", Aliases: []string{"negative", "neg"}, Type: TypeText, Group: groupGeneration, Index: "negative_prompt", Exists: "has_negative_prompt", Doc: "words of the negative prompt, which bare words never search", Example: "negative_prompt:blurry"},
		{Name: "version", Type: TypeName, Group: groupGeneration, Index: "version", Wild: "version.w", Doc: "the version of the program", Example: "version:v1.10.*", Facet: terms("version")},
		{Name: "job_type", Type: TypeName, Group: groupGeneration, Index: "job_type", Doc: "the kind of job, such as txt2img", Example: "job_type:txt2img", Facet: terms("job_type")},
		{Name: "batch_size", Type: TypeInt, Min: 0, Max: math.MaxInt32, Group: groupGeneration, Index: "batch_size", Doc: "pictures per run", Example: "batch_size:4", Facet: histogram("batch_size", 1, 256)},
		{Name: "parameters", Aliases: []string{"params", "param"}, Type: TypeParam, Group: groupGeneration, Index: "params", Doc: "a setting, as key=value or its bare value", Example: "parameters:clip_skip=2"},
		{Name: "seed", Type: TypeInt, Min: 0, Max: math.MaxUint64, Group: groupGeneration, Index: "seed", Doc: "the seed of the main pass", Example: "seed:123456"},
		{Name: "steps", Type: TypeInt, Min: 0, Max: math.MaxInt32, Group: groupGeneration, Index: "steps", Doc: "sampling steps", Example: "steps:20..30", Facet: histogram("steps", 5, 1000)},
		{Name: "cfg", Aliases: []string{"cfg_scale"}, Type: TypeFloat, Min: -1e6, Max: 1e6, Group: groupGeneration, Index: "cfg", Doc: "guidance scale", Example: "cfg:>=7", Facet: histogram("cfg", 1, 100)},
		{Name: "denoise", Aliases: []string{"denoising", "denoising_strength"}, Type: TypeFloat, Min: -1e6, Max: 1e6, Group: groupGeneration, Index: "denoise", Doc: "denoising strength", Example: "denoise:0.4..0.6", Facet: histogram("denoise", 0.1, 1)},
		{Name: "sampler", Type: TypeName, Group: groupGeneration, Index: "sampler", Doc: "the sampler", Example: "sampler:dpmpp*", Facet: terms("sampler")},
		{Name: "scheduler", Type: TypeName, Group: groupGeneration, Index: "scheduler", Doc: "the noise schedule", Example: "scheduler:karras", Facet: terms("scheduler")},
		{Name: "ai", Type: TypeBool, Group: groupGeneration, Index: "ai", Doc: "whether the file says that a model made it", Example: "ai:true", Facet: terms("ai")},
		{Name: "chain", Type: TypeChain, Group: groupGeneration, Index: "lineage_root", Doc: "whether it has a parent or a child in the library; with an asset_h, the family of that asset", Example: "chain:true", Facet: terms("chain")},
	}
}

func modelFields() []*Field {
	return []*Field{
		{Name: "model", Aliases: []string{"models"}, Type: TypePart, Group: groupModels, Index: "model_names", Wild: "model_names.w", Doc: "any part of the name of any model", Example: "model:sdxl", Facet: terms("model_names")},
		{Name: "checkpoint", Aliases: []string{"ckpt"}, Type: TypePart, Group: groupModels, Index: "checkpoint_names", Wild: "checkpoint_names.w", Doc: "any part of the checkpoint's name", Example: "checkpoint:v1-5", Facet: terms("checkpoint_names")},
		{Name: "lora", Aliases: []string{"loras"}, Type: TypePart, Group: groupModels, Index: "lora_names", Wild: "lora_names.w", Doc: "any part of a LoRA's name; a blank is whatever joins its words", Example: `lora:"detail tweaker"`, Facet: terms("lora_names")},
		{Name: "model_name", Type: TypeName, Group: groupModels, Index: "model_names", Wild: "model_names.w", Doc: "the whole name of a model, without folder and extension", Example: "model_name:dreamshaper_8"},
		{Name: "model_type", Type: TypeName, Group: groupModels, Index: "model_types", Doc: "checkpoint, lora, vae, controlnet and so on", Example: "model_type:controlnet", Facet: terms("model_types")},
		{Name: "base_model", Type: TypeName, Group: groupModels, Index: "base_models", Doc: "the family a model was trained on", Example: `base_model:"SDXL 1.0"`, Facet: terms("base_models")},
		{Name: "trigger_word", Aliases: []string{"trigger"}, Type: TypeName, Group: groupModels, Index: "trigger_words", Doc: "a word that activates one of its models", Example: "trigger_word:ohwx"},
		{Name: "model_weight", Type: TypeFloat, Min: -1e6, Max: 1e6, Group: groupModels, Index: "model_weights", Doc: "the strength of any of its models", Example: "model_weight:0.5..0.9", Facet: histogram("model_weights", 0.1, 2)},
	}
}

func graphToolFields() []*Field {
	return []*Field{
		{Name: "graphtool_node", Aliases: []string{"node"}, Type: TypeNode, Group: groupGraphTool, Index: "gt_nodes", Doc: "a node class of its workflow, or one input of a node", Example: "graphtool_node:KSampler.cfg=7", Facet: terms("gt_nodes")},
		{Name: "graphtool_workflow", Aliases: []string{"workflow"}, Type: TypeName, Group: groupGraphTool, Index: "gt_workflow", Exists: "has_workflow", Doc: "the name or the structural hash of its workflow", Example: "graphtool_workflow:portrait*"},
		{Name: "graphtool_model", Type: TypePart, Group: groupGraphTool, Index: "gt_models", Wild: "gt_models.w", Doc: "any part of the name of a model its workflow loads", Example: "graphtool_model:flux"},
		{Name: "graphtool_model_type", Type: TypeName, Group: groupGraphTool, Index: "gt_model_types", Doc: "the kind of a model its workflow loads", Example: "graphtool_model_type:vae", Facet: terms("gt_model_types")},
		{Name: "graphtool_model_hash", Type: TypeName, Group: groupGraphTool, Index: "gt_model_hashes", Doc: "the hash of a model its workflow loads, whole or its beginning", Example: "graphtool_model_hash:abc123*"},
	}
}

func imageToolFields() []*Field {
	return []*Field{
		{Name: "imagetool_command", Type: TypeName, Group: groupImageTool, Index: "imagetool_command", Doc: "imagine, upscale, variation and so on", Example: "imagetool_command:upscale", Facet: terms("imagetool_command")},
		{Name: "imagetool_version", Type: TypeName, Group: groupImageTool, Index: "imagetool_version", Wild: "imagetool_version.w", Doc: "the version of the tool's model", Example: "imagetool_version:6.*", Facet: terms("imagetool_version")},
		{Name: "imagetool_type", Type: TypeName, Group: groupImageTool, Index: "imagetool_type", Doc: "the kind of job it recorded", Example: "imagetool_type:grid", Facet: terms("imagetool_type")},
		{Name: "imagetool_batch", Type: TypeInt, Min: 0, Max: math.MaxInt32, Group: groupImageTool, Index: "imagetool_batch", Doc: "the position in its batch, from 0", Example: "imagetool_batch:0", Facet: histogram("imagetool_batch", 1, 64)},
	}
}

func relationFields() []*Field {
	return []*Field{
		{Name: "collection", Aliases: []string{"collections", "in"}, Type: TypeCollection, Group: groupRelations, Index: "collection_paths", Doc: "a collection with everything below it, by path or collection_h", Example: "collection:launch.hero", Facet: terms("collection_paths")},
		{Name: "parent", Type: TypeParent, Group: groupRelations, Index: "parent_names", Wild: "parent_names.w", Exists: "has_parent", Doc: "made from this asset, by asset_h or part of the file name it names", Example: "parent:fennec_girl.png"},
		{Name: "similar", Aliases: []string{"like"}, Type: TypeHash, Group: groupRelations, Index: "asset_h", Doc: "looks like this asset; stands alone or beside other conditions, once and not negated", Example: "similar:" + exampleHash},
		{Name: "has", Type: TypeEnum, Group: groupRelations, Values: hasValues(), terms: hasTerms(), Doc: "has something at all", Example: "-has:prompt"},
		{Name: "is", Type: TypeEnum, Group: groupRelations, Values: isValues(), terms: isTerms(), Doc: "is in a state or of a kind", Example: "is:approved"},
	}
}
