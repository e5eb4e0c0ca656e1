package indexer

import (
	"math"
	"sort"
	"strconv"
	"time"

	"vitrine/internal/jsonscan"
	"vitrine/mappings"
)

// appendDocument writes a document as JSON. It says the same as encoding/json
// would, which a test holds it to for every field, at about a tenth of the time:
// on a machine that also runs OpenSearch, that time is taken from indexing.
func appendDocument(dst []byte, d *mappings.Document) []byte {
	w := &jsonWriter{append(dst, '{')}
	if d.Deleted {
		w.always("tenant_id", string(d.TenantID))
		w.always("asset_h", string(d.AssetH))
		w.number("doc_version", d.DocVersion)
		w.flag("deleted", true)
		return w.end()
	}
	w.asset(d)
	w.generation(d)
	w.models(d)
	w.lineage(d)
	w.b = d.AppendDerived(w.b)
	w.vectors(d.Vectors)
	return w.end()
}

// asset writes what is known of the file and what people say.
func (w *jsonWriter) asset(d *mappings.Document) {
	w.always("tenant_id", string(d.TenantID))
	w.always("asset_h", string(d.AssetH))
	w.number("doc_version", d.DocVersion)
	w.flag("deleted", d.Deleted)
	w.flag("trashed", d.Trashed)
	w.text("owner", d.Owner)
	w.text("visibility", d.Visibility)
	w.text("index_error", d.IndexError)
	w.text("sha256", d.SHA256)
	w.text("blake3", d.BLAKE3)
	w.text("phash", d.PHash)
	w.text("title", d.Title)
	w.text("description", d.Description)
	w.text("filename", d.Filename)
	w.text("source_path", d.SourcePath)
	w.text("status", string(d.Status))
	w.list("tags", d.Tags)
	w.list("tags_norm", d.TagsNorm)
	w.number("tag_count", int64(d.TagCount))
	w.text("creator", d.Creator)
	w.text("copyright", d.Copyright)
	w.text("mime_type", d.MIMEType)
	w.text("media_type", d.MediaType)
	w.count("size_bytes", d.SizeBytes)
	w.count("duration_ms", d.DurationMS)
	w.count("width", int64(d.Width))
	w.count("height", int64(d.Height))
	w.text("dimensions", d.Dimensions)
	w.float("aspect", d.Aspect)
	w.float("megapixels", d.Megapixels)
	w.flag("has_audio", d.HasAudio)
	w.time("created", d.Created)
	w.time("updated", d.Updated)
	w.time("stored", d.Stored)
}

// generation writes how it was made.
func (w *jsonWriter) generation(d *mappings.Document) {
	w.text("lineage_source", string(d.LineageSource))
	w.flag("ai", d.AI)
	w.text("tool", d.Tool)
	w.text("version", d.ToolVersion)
	w.text("job_type", d.JobType)
	w.text("prompt", d.Prompt)
	w.text("negative_prompt", d.NegativePrompt)
	w.text("prompt_hash", d.PromptHash)
	w.list("params", d.Params)
	w.seed("seed", d.Seed)
	w.int("steps", d.Steps)
	w.float("cfg", d.CFG)
	w.float("denoise", d.Denoise)
	w.text("sampler", d.Sampler)
	w.text("scheduler", d.Scheduler)
	w.int("batch_size", d.BatchSize)
}

// models writes its models and its graph.
func (w *jsonWriter) models(d *mappings.Document) {
	w.list("model_names", d.ModelNames)
	w.list("model_hashes", d.ModelHashes)
	w.list("model_types", d.ModelTypes)
	w.list("base_models", d.BaseModels)
	w.list("trigger_words", d.TriggerWords)
	w.floats("model_weights", d.ModelWeights)
	w.list("model_weight_pairs", d.ModelWeightPairs)
	w.list("checkpoint_names", d.CheckpointNames)
	w.list("lora_names", d.LoraNames)
	w.list("gt_nodes", d.GTNodes)
	w.list("gt_node_props", d.GTNodeProps)
	w.count("gt_node_count", int64(d.GTNodeCount))
	w.list("gt_packs", d.GTPacks)
	w.list("gt_workflow", d.GTWorkflow)
	w.list("gt_models", d.GTModels)
	w.list("gt_model_types", d.GTModelTypes)
	w.list("gt_model_hashes", d.GTModelHashes)
	w.text("imagetool_command", d.ImageToolCommand)
	w.text("imagetool_version", d.ImageToolVersion)
	w.text("imagetool_type", d.ImageToolType)
	w.int("imagetool_batch", d.ImageToolBatch)
}

// lineage writes its place among other assets, and the presence flags.
func (w *jsonWriter) lineage(d *mappings.Document) {
	w.list("collection_paths", d.CollectionPaths)
	w.list("collection_h", d.CollectionH)
	w.flag("chain", d.Chain)
	w.text("lineage_root", string(d.LineageRoot))
	appendList(w, "parent_hs", d.ParentHs)
	w.list("parent_names", d.ParentNames)
	w.count("child_count", int64(d.ChildCount))
	w.flag("has_prompt", d.HasPrompt)
	w.flag("has_negative_prompt", d.HasNegativePrompt)
	w.flag("has_workflow", d.HasWorkflow)
	w.flag("has_models", d.HasModels)
	w.flag("has_lineage", d.HasLineage)
	w.flag("has_parent", d.HasParent)
	w.flag("has_child", d.HasChild)
	w.flag("has_preview", d.HasPreview)
	w.flag("duplicate", d.Duplicate)
}

// vectors writes one field per embedding configuration, in order of its name.
func (w *jsonWriter) vectors(all map[string][]float32) {
	configs := make([]string, 0, len(all))
	for c := range all {
		configs = append(configs, c)
	}
	sort.Strings(configs)
	for _, c := range configs {
		w.key(mappings.VectorField(c))
		w.b = append(w.b, '[')
		for i, f := range all[c] {
			if i > 0 {
				w.b = append(w.b, ',')
			}
			w.b = strconv.AppendFloat(w.b, float64(f), 'g', -1, 32)
		}
		w.b = append(w.b, ']')
	}
}

// jsonWriter appends the members of one JSON object.
type jsonWriter struct{ b []byte }

func (w *jsonWriter) end() []byte { return append(w.b, '}') }

// key needs no escaping: keys are field names.
func (w *jsonWriter) key(k string) {
	if w.b[len(w.b)-1] != '{' {
		w.b = append(w.b, ',')
	}
	w.b = append(w.b, '"')
	w.b = append(w.b, k...)
	w.b = append(w.b, '"', ':')
}

func (w *jsonWriter) always(k, v string) {
	w.key(k)
	w.b = jsonscan.AppendString(w.b, v)
}

func (w *jsonWriter) text(k, v string) {
	if v != "" {
		w.always(k, v)
	}
}

func (w *jsonWriter) number(k string, v int64) {
	w.key(k)
	w.b = strconv.AppendInt(w.b, v, 10)
}

func (w *jsonWriter) count(k string, v int64) {
	if v != 0 {
		w.number(k, v)
	}
}

func (w *jsonWriter) int(k string, v *int) {
	if v != nil {
		w.number(k, int64(*v))
	}
}

func (w *jsonWriter) seed(k string, v *uint64) {
	if v != nil {
		w.key(k)
		w.b = strconv.AppendUint(w.b, *v, 10)
	}
}

func (w *jsonWriter) flag(k string, v bool) {
	w.key(k)
	w.b = strconv.AppendBool(w.b, v)
}

// float leaves out what JSON cannot hold.
func (w *jsonWriter) float(k string, v *float64) {
	if v != nil && !math.IsNaN(*v) && !math.IsInf(*v, 0) {
		w.key(k)
		w.b = strconv.AppendFloat(w.b, *v, 'g', -1, 64)
	}
}

func (w *jsonWriter) floats(k string, list []float64) {
	if len(list) == 0 {
		return
	}
	w.key(k)
	w.b = append(w.b, '[')
	for i, f := range list {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = strconv.AppendFloat(w.b, f, 'g', -1, 64)
	}
	w.b = append(w.b, ']')
}

func (w *jsonWriter) time(k string, t *time.Time) {
	if t != nil {
		w.key(k)
		w.b = append(w.b, '"')
		w.b = t.UTC().AppendFormat(w.b, time.RFC3339Nano)
		w.b = append(w.b, '"')
	}
}

func (w *jsonWriter) list(k string, list []string) { appendList(w, k, list) }

func appendList[S ~string](w *jsonWriter, k string, list []S) {
	if len(list) == 0 {
		return
	}
	w.key(k)
	w.b = append(w.b, '[')
	for i, s := range list {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = jsonscan.AppendString(w.b, string(s))
	}
	w.b = append(w.b, ']')
}
