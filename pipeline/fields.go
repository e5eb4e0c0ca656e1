package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/media/palette"
	"vitrine/op"
	"vitrine/pipeline/expr"
	"vitrine/store"
)

// metadataPrefix begins the fields of what was sent along with a file.
const metadataPrefix = "metadata."

// Field is a field of an asset that stages may name.
type Field struct {
	Name string
	Type expr.Type
	Doc  string
	// Settable is set where set_field, compute and regex_replace may change it.
	Settable bool
	kinds    store.FactKinds // what it is read from beside the asset's row
	get      func(*Row) expr.Value
	set      func(r *Row, v expr.Value) error // nil: it cannot be changed
	// index is the field of the index whose values compare as those of the rows do: whole numbers, dates,
	// truth values and enumerations. sort is the order of searches that is the same.
	index, sort string
}

func text(get func(*Row) string) func(*Row) expr.Value {
	return func(r *Row) expr.Value {
		if s := get(r); s != "" {
			return expr.OfText(s)
		}
		return expr.Missing
	}
}

// positive is a number that is missing where it is 0.
func positive(get func(*Row) float64) func(*Row) expr.Value {
	return func(r *Row) expr.Value {
		if n := get(r); n > 0 {
			return expr.OfNumber(n)
		}
		return expr.Missing
	}
}

func pointer[T int | float64](get func(*library.GenerationParameters) *T) func(*Row) expr.Value {
	return func(r *Row) expr.Value {
		if n := get(&r.Facts.Parameters); n != nil {
			return expr.OfNumber(float64(*n))
		}
		return expr.Missing
	}
}

func textPointer(get func(*store.AssetFacts) *string) func(*Row) expr.Value {
	return func(r *Row) expr.Value {
		if s := get(r.Facts); s != nil && *s != "" {
			return expr.OfText(*s)
		}
		return expr.Missing
	}
}

func models(types ...string) func(*Row) expr.Value {
	return func(r *Row) expr.Value {
		var list []string
		for _, m := range r.Facts.Models {
			if (len(types) == 0 || slices.Contains(types, m.Type)) && !slices.Contains(list, m.Name) {
				list = append(list, m.Name)
			}
		}
		return expr.OfList(list)
	}
}

func moment(get func(*Row) time.Time) func(*Row) expr.Value {
	return func(r *Row) expr.Value { return expr.OfDate(get(r)) }
}

// Fields lists the fields that stages may name, beside metadata.NAME.
var Fields = slices.Concat(assetFields, generationFields, relationFields)

var assetFields = []*Field{
	{Name: "asset_h", Type: expr.Text, Doc: "the asset's hash", get: text(func(r *Row) string { return string(r.Hash) })},
	{Name: "title", Type: expr.Text, Doc: "its title", Settable: true, get: text(func(r *Row) string { return r.Title }), set: setText("title", library.MaxTitle, func(r *Row) *string { return &r.Title })},
	{Name: "description", Type: expr.Text, Doc: "its description", Settable: true, get: text(func(r *Row) string { return r.Description }),
		set: setText("description", library.MaxDescription, func(r *Row) *string { return &r.Description })},
	{Name: "filename", Type: expr.Text, Doc: "the name of its file", get: text(func(r *Row) string { return r.Filename })},
	{Name: "source_path", Type: expr.Text, Doc: "where the importer found it", get: text(func(r *Row) string { return r.SourcePath })},
	{Name: "mime_type", Type: expr.Text, Doc: "such as image/png", get: text(func(r *Row) string { return r.MIMEType })},
	{Name: "status", Type: expr.Text, Doc: "Draft, PendingApproval, Approved, Rejected or Archived", Settable: true, index: "status",
		get: text(func(r *Row) string { return string(r.Status) }), set: setStatus},
	{Name: "tags", Type: expr.List, Doc: "its tags", Settable: true, get: func(r *Row) expr.Value { return expr.OfList(r.Tags) }, set: setTags},
	{Name: "owner", Type: expr.Text, Doc: "whose it is, an actor's id", get: text(func(r *Row) string { return r.Owner })},
	{Name: "created_by", Type: expr.Text, Doc: "who stored it", get: text(func(r *Row) string { return r.CreatedBy })},
	{Name: "visibility", Type: expr.Text, Doc: "private, team or public", get: text(func(r *Row) string { return string(r.Visibility) })},
	{Name: "rating", Type: expr.Number, Doc: "1 to 5", Settable: true, index: "rating", sort: "rating", get: positive(func(r *Row) float64 { return float64(r.Rating) }), set: setRating},
	{Name: "favorite", Type: expr.Bool, Doc: "whether it has a star", Settable: true, index: "favorite", get: func(r *Row) expr.Value { return expr.OfBool(r.Favorite) }, set: setFavorite},
	{Name: "size", Type: expr.Number, Doc: "of the file, in bytes", index: "size_bytes", sort: "size", get: positive(func(r *Row) float64 { return float64(r.Size) })},
	{Name: "width", Type: expr.Number, Doc: "in pixels", index: "width", sort: "width", get: positive(func(r *Row) float64 { return float64(r.Width) })},
	{Name: "height", Type: expr.Number, Doc: "in pixels", index: "height", sort: "height", get: positive(func(r *Row) float64 { return float64(r.Height) })},
	{Name: "megapixels", Type: expr.Number, Doc: "width times height, in millions", get: positive(func(r *Row) float64 { return float64(r.Width) * float64(r.Height) / 1e6 })},
	{Name: "duration", Type: expr.Number, Doc: "of a video, in seconds", get: positive(func(r *Row) float64 { return float64(r.DurationMS) / 1000 })},
	{Name: "color", Type: expr.Text, Doc: "the name of the dominant color, where enrich found it", index: "color", kinds: store.FactKinds{Fingerprints: true}, get: text(func(r *Row) string { return palette.NameOf(r.Facts.Color) })},
	{Name: "created", Type: expr.Date, Doc: "when it was made", index: "created", sort: "created", get: moment(func(r *Row) time.Time { return r.CreatedAt })},
	{Name: "stored", Type: expr.Date, Doc: "when it was stored", index: "stored", sort: "stored", get: moment(func(r *Row) time.Time { return r.StoredAt })},
	{Name: "updated", Type: expr.Date, Doc: "when it was last changed", index: "updated", get: moment(func(r *Row) time.Time { return r.UpdatedAt })},
	{Name: "parent", Type: expr.Text, Doc: "the hash of the asset it was made from", get: text(func(r *Row) string { return string(r.Parent) })},
}

var lineage = store.FactKinds{Lineage: true}

var generationFields = []*Field{
	{Name: "tool", Type: expr.Text, Doc: "the tool that made it, such as comfyui", kinds: lineage, get: text(func(r *Row) string { return r.Facts.Tool })},
	{Name: "tool_version", Type: expr.Text, Doc: "as the tool gives it", kinds: lineage, get: text(func(r *Row) string { return r.Facts.ToolVersion })},
	{Name: "prompt", Type: expr.Text, Doc: "the positive prompt", kinds: lineage, get: textPointer(func(f *store.AssetFacts) *string { return f.Positive })},
	{Name: "negative", Type: expr.Text, Doc: "the negative prompt", kinds: lineage, get: textPointer(func(f *store.AssetFacts) *string { return f.Negative })},
	{Name: "seed", Type: expr.Number, Doc: "the seed, exactly", kinds: lineage, index: "seed", get: func(r *Row) expr.Value {
		if s := r.Facts.Parameters.Seed; s != nil {
			return expr.OfWhole(*s)
		}
		return expr.Missing
	}},
	{Name: "steps", Type: expr.Number, Doc: "sampling steps", kinds: lineage, index: "steps", sort: "steps", get: pointer(func(p *library.GenerationParameters) *int { return p.Steps })},
	{Name: "cfg", Type: expr.Number, Doc: "the cfg scale", kinds: lineage, get: pointer(func(p *library.GenerationParameters) *float64 { return p.CFGScale })},
	{Name: "guidance", Type: expr.Number, Doc: "distilled guidance", kinds: lineage, get: pointer(func(p *library.GenerationParameters) *float64 { return p.Guidance })},
	{Name: "denoise", Type: expr.Number, Doc: "the denoising strength", kinds: lineage, get: pointer(func(p *library.GenerationParameters) *float64 { return p.Denoise })},
	{Name: "clip_skip", Type: expr.Number, Doc: "layers of CLIP that were skipped", kinds: lineage, get: pointer(func(p *library.GenerationParameters) *int { return p.ClipSkip })},
	{Name: "batch_size", Type: expr.Number, Doc: "pictures of one batch", kinds: lineage, get: pointer(func(p *library.GenerationParameters) *int { return p.BatchSize })},
	{Name: "frames", Type: expr.Number, Doc: "of a video", kinds: lineage, get: pointer(func(p *library.GenerationParameters) *int { return p.Frames })},
	{Name: "sampler", Type: expr.Text, Doc: "as the file names it", kinds: lineage, get: textPointer(func(f *store.AssetFacts) *string { return f.Parameters.Sampler })},
	{Name: "scheduler", Type: expr.Text, Doc: "as the file names it", kinds: lineage, get: textPointer(func(f *store.AssetFacts) *string { return f.Parameters.Scheduler })},
	{Name: "model_name", Type: expr.Text, Doc: "the main model, as the file names it", kinds: lineage, get: textPointer(func(f *store.AssetFacts) *string { return f.Parameters.ModelName })},
	{Name: "prompt_hash", Type: expr.Text, Doc: "the same for prompts that differ in case and blanks alone", kinds: lineage, get: text(func(r *Row) string { return r.Facts.PromptHash })},
	{Name: "workflow_hash", Type: expr.Text, Doc: "the same for workflows with the same nodes and links", kinds: lineage, get: text(func(r *Row) string { return r.Facts.WorkflowHash })},
}

var modelFacts = store.FactKinds{Models: true}

var relationFields = []*Field{
	{Name: "model", Type: expr.List, Doc: "every model it uses, by name", kinds: modelFacts, get: models()},
	{Name: "checkpoint", Type: expr.List, Doc: "its checkpoints and diffusion models", kinds: modelFacts, get: models("checkpoint", "unet")},
	{Name: "lora", Type: expr.List, Doc: "its LoRAs", kinds: modelFacts, get: models("lora")},
	{Name: "base_model", Type: expr.List, Doc: "the base architectures of its models, such as sdxl", kinds: modelFacts, get: func(r *Row) expr.Value {
		var list []string
		for _, m := range r.Facts.Models {
			if m.BaseModel != "" && !slices.Contains(list, m.BaseModel) {
				list = append(list, m.BaseModel)
			}
		}
		return expr.OfList(list)
	}},
	{Name: "collection", Type: expr.List, Doc: "the paths of the collections it is in", kinds: store.FactKinds{Collections: true}, get: func(r *Row) expr.Value {
		var list []string
		for _, m := range r.Facts.Collections {
			list = append(list, m.Path)
		}
		return expr.OfList(list)
	}},
}

var fieldNames = func() map[string]*Field {
	m := map[string]*Field{}
	for _, f := range Fields {
		m[f.Name] = f
	}
	return m
}()

// aliases are other names of fields: those of searches and of asset details.
var aliases = map[string]string{"tag": "tags", "cfg_scale": "cfg", "created_at": "created", "updated_at": "updated", "stored_at": "stored", "size_bytes": "size", "asset_id": "asset_h",
	"asset_hash": "asset_h", "models": "model", "loras": "lora", "collections": "collection", "mime": "mime_type", "positive": "prompt", "parent_asset_h": "parent", "collection_path": "collection"}

func lookupField(name string) *Field {
	if f := fieldNames[name]; f != nil {
		return f
	}
	name = strings.ToLower(name)
	if other, ok := aliases[name]; ok {
		name = other
	}
	return fieldNames[name]
}

// fieldType returns the type of a field, for expressions.
func fieldType(name string) (expr.Type, bool) {
	if f := lookupField(name); f != nil {
		return f.Type, true
	}
	key, ok := strings.CutPrefix(name, metadataPrefix)
	return expr.Any, ok && key != "" && len(key) <= maxMetadataKey
}

// maxMetadataKey is how long the name of a metadata field may be.
const maxMetadataKey = 200

// fieldKinds is what must be read for some fields.
func fieldKinds(names ...string) (k store.FactKinds) {
	for _, name := range names {
		if f := lookupField(name); f != nil {
			k = k.Join(f.kinds)
		}
	}
	return k
}

// checkField reports what is wrong with the name of a field.
func checkField(at, name string, settable bool) []library.FieldError {
	if _, ok := fieldType(name); !ok {
		var names []string
		for _, f := range Fields {
			if !settable || f.Settable {
				names = append(names, f.Name)
			}
		}
		hint := "What was sent along with a file is metadata.NAME. Fields are " + strings.Join(names, ", ") + "."
		if near := op.Nearest(name, names); near != "" {
			hint = "Did you mean " + near + "? " + hint
		}
		return []library.FieldError{{Field: at, Code: "enum", Message: "There is no such field.", Hint: hint}}
	}
	if f := lookupField(name); settable && f != nil && f.set == nil {
		hint := "Fields that can be set are title, description, status, tags, rating, favorite and metadata.NAME."
		switch f.Name {
		case "owner":
			hint = "The stage set_owner changes it."
		case "visibility":
			hint = "The stage set_visibility changes it."
		case "collection":
			hint = "The stages add_to_collection and move change it."
		}
		return []library.FieldError{{Field: at, Code: "enum", Message: fmt.Sprintf("%s cannot be set: it comes from the file or is kept by the library.", f.Name), Hint: hint}}
	}
	return nil
}
