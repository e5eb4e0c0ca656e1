// Package samples holds what random query texts are made of. It is used by tests
// of the language and of what runs it, and imports neither.
package samples

import (
	"math/rand/v2"
	"strings"
)

// Pieces of query texts: every token kind, every slip the repair knows, values
// of every type, and the characters with a meaning.
var Pieces = []string{
	"red", "cat", "dog", "best_quality", "sub-pixel", "猫", "猫娘の夜", "Élan", "1girl", "x", "--ar", "16:9", "😀", "&", "-", "*", "??",
	"AND", "OR", "NOT", "and", "or", "-", "(", ")", "((", "))", "()", "\"", "“", "”", "\"\"", "\"red cat\"", "\"a \\\" b\"", "\\", "\\(", "\\*", "\\ ",
	"saber_(fate)", "(masterpiece:1.2)", "<lora:detail:0.8>", "<lora:detail tweaker>", "https://x.com/a?b=c", "foo:bar", "foo:", "note:", "foo:(",
	"tag:", "tag:(", "tag:cat", "tag:red_hair", "tag:\"red hair\"", "tag:ca*", "tag:*", "-tag:dog", "tag:a*", "title:cat", "title:\"red cat\"", "title:c*t",
	"prompt:*at", "prompt:ca*", "description:soft", "filename:cat", "filename:*.png", "filename:\"100% *real*\"", "status:approved", "status:Nope", "status:dr*",
	"mime_type:image/png", "mime_type:image", "mime_type:png", "dimensions:512x512", "dimensions:>=512x256", "dimensions:512x*", "dimensions:1x1..9x9",
	"created:2024-01", "created:7d", "created:..yesterday", "created:>=2024", "created:2024-01-01..2024-06", "created:..2024", "created:2025..2023", "created:2024-13", "updated:<2024-02-02",
	"seed:18446744073709551615", "seed:-1", "steps:20..30", "steps:>25", "steps:2.5", "cfg:7", "cfg:>=-1.5", "cfg:1..", "denoise:..0.5", "aspect:16:9", "aspect:>1",
	"model:dream", "model:\"d?r*e\"", "checkpoint:v1", "lora:detail", "model_name:DreamShaper.safetensors", "model_weight:0.5..0.9", "base_model:sdxl", "trigger_word:ohwx",
	"graphtool_node:KSampler", "graphtool_node:KSampler.cfg=7.0", "graphtool_node:KSampler.cfg", "graphtool_node:a>b", "node:*.cfg=*", "parameters:steps=20", "params:euler",
	"ai:true", "ai:maybe", "chain:true", "chain:2fd4e1c67a2d28fced849ee1bb76e7391b93eb12", "similar:2fd4e1c67a2d28fced849ee1bb76e7391b93eb12", "parent:cat", "has:prompt", "is:portrait", "metadata:", "metadata.", "metadata.x:", "metadata.x:>", "metadata.x:..", "metadata.x:>what", "metadata.x:9..2024-01", "metadata.x:a..b", "metadata:>5", "metadata.x:\"1..2\"", "metadata.x:\">5\"", "metadata.x:\"a b\"", "metadata.顧客:猫*", "meta.a.b:1..2", "has:metadata.", "has:metadata.x",
	"is:what", "collection:launch/hero", "collection:=launch", "-collection:=Launch/Hero", "collection:=nowhere", "collection:la*", "experiment:launch/hero", "experiment:=launch", "experiment:la*", "prompt_h:2fd4e1c67a2d28fced849ee1bb76e7391b93eb12", "version_h:2FD4*", "has:saved_prompt", "width:>100", "size:..9007199254740992", "version:1.*", "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12", "created:", "> 5", "cfg:> 5",
	"->", "-,", "steps:>", "^_^", "created:\"2024-01-01\"..\"2024-02-01\"", "created:[2024-01 TO 2024-02]", "tagg:x", "promt:", "\t", "\u3000", "\x00", "\xff",
}

// Soup draws a text of up to most pieces, with and without blanks between them.
func Soup(r *rand.Rand, most int) string {
	var b strings.Builder
	for range r.IntN(most + 1) {
		b.WriteString(Pieces[r.IntN(len(Pieces))])
		b.WriteString([]string{" ", " ", " ", "", " OR "}[r.IntN(5)])
	}
	return b.String()
}

// Terms of well-formed queries over the documents that tests generate.
var Terms = []string{
	"red", "cat", "dog", "blue", "street", "neon", "best_quality", "best", "quality", "sub-pixel", "cafe", "Café", "猫", "猫娘", "夜", "v1.5", "&",
	`"cat best_quality red"`, `"neon best_quality street_cat red"`, "red-best_quality-cat", "prompt:\"red street_cat dog\"", "18446744073709551615", "/out/red_cat.jpg", "C:\\out\\cat.png", "DreamShaper_8.safetensors",
	`"red cat"`, `"neon street"`, `"best quality"`, `"cat red"`, "ca*", "*.png", "*eam*", "ne*n", "red_*", "comfy*",
	"cat,", "red_hair,", "(cat:1.2),", ",", "steps:20 ,", "tag:cat & tag:neon",
	"title:cat", `title:"red cat"`, "title:ca*", "title:*cat*", "prompt:neon", `prompt:"red cat"`, "prompt:str*", "prompt:*", "negative_prompt:blurry", "description:soft", "description:*",
	"filename:comfyui", "filename:*.png", `filename:"00_[1]"`, "filename:100%", "tag:cat", "tag:red_hair", `tag:"red hair"`, "tag:red*", "tag:*", "tag:(cat OR dog)", "tag:Élan",
	"status:approved", "status:(draft OR rejected)", "status:dr*", "mime_type:image/png", "mime_type:image", "mime_type:mp4", "media:video",
	"dimensions:512x512", "dimensions:>=768x512", "dimensions:1024x*", "dimensions:512x512..768x768", "dimensions:<1024x1024", "width:>=768", "aspect:1:1", "aspect:3:2", "aspect:>1.2",
	"created:2024-01", "created:>2024-02-10", "created:<2024", "created:2023-12-15..2024-01-15", "created:>=2024-03", "created:<=2024-01", "created:*", "updated:2024",
	"steps:20", "steps:20..30", "steps:>25", "cfg:7", "cfg:>=7.5", "cfg:..7", "seed:18446744073709551615", "seed:1..3", "model_weight:0.8", "model_weight:>0.5", "steps:*",
	"tool:comfyui", "tool:(comfyui OR invokeai)", "sampler:euler", "sampler:dpm*", "version:v1.10.1", "version:v1.*", "parameters:steps=20", "parameters:clip_skip=2.0", "parameters:euler",
	"model:dream", "model:xl*", `model:"?shaper"`, "checkpoint:v1-5", "lora:tweak", "model_name:dreamshaper_8", "model_name:DreamShaper_8.safetensors", "model_type:lora", "base_model:sdxl*",
	"graphtool_node:KSampler", "graphtool_node:KSampler.cfg=7.0", "graphtool_node:KSampler.cfg", "graphtool_node:*sampler*", "graphtool_node:KSampler.*=7", "graphtool_model_hash:abc*",
	"ai:true", "ai:false", "chain:true", "collection:launch", "collection:launch/hero", "collection:launch.*", "experiment:launch", "experiment:launch/hero", "experiment:=archive", "experiment:launch.*", "has:experiment", "parent:fennec", "parent:*", "has:prompt", "has:tags", "has:workflow", "has:parent",
	"metadata:acme", "metadata:*", "metadata:ac*", "metadata:\"acme corp\"", "metadata.client:acme", "metadata.Client:*", "metadata.client:a*", "metadata.client:\"Acme Corp\"", "metadata.client:*corp",
	"metadata.rating:7", "metadata.rating:7.0", "metadata.rating:>5", "metadata.rating:..7", "metadata.rating:<=-3", "metadata.rating:-3..50", "metadata.due_date:2024-02..2024-02", "metadata.due_date:>2024-02-10", "metadata.due_date:<2024-03",
	"metadata.due_date:2024-02-10", "metadata.顧客:山田", "metadata.shot.lens:50", "has:metadata", "has:metadata.shot", "has:metadata.顧客", "metadata.shot.by:ann", "metadata.shot:x=y", "metadata.client:(acme OR true)", "meta.shot.take:>=9",
	"is:approved", "is:untagged", "is:video", "is:square", "is:landscape", "is:duplicate", "creator:ann",
}

// Query draws a well-formed query: terms side by side, negated, grouped and
// joined by OR.
func Query(r *rand.Rand) string { return group(r, 3) }

func group(r *rand.Rand, depth int) string {
	var b strings.Builder
	for i := range 1 + r.IntN(4) {
		if i > 0 {
			b.WriteString([]string{" ", " ", " AND ", " OR "}[r.IntN(4)])
		}
		b.WriteString([]string{"", "", "", "-", "NOT "}[r.IntN(5)])
		if depth > 0 && r.IntN(4) == 0 {
			b.WriteString("(" + group(r, depth-1) + ")")
		} else {
			b.WriteString(Terms[r.IntN(len(Terms))])
		}
	}
	return b.String()
}
