package pipeline

import (
	"encoding/json"
	"fmt"
	"time"

	"vitrine/library"
)

// Template is a pipeline that every tenant may clone.
type Template struct{ library.Pipeline }

// templateText is a template in the text form.
type templateText struct {
	slug, name, description, text string
	vars                          map[string]library.PipelineVar
}

var templateTexts = []templateText{
	{"weekly_client_deck", "Weekly client deck", "Puts the best approved images of the last week into a client's collection and tells webhooks that it is ready.",
		`search query="status:approved" | where created >= "now-7d" | sort by=rating order=desc | limit count="{{vars.count}}" | add_to_collection "{{vars.collection}}" create_if_missing=true | notify event_type=pipeline.notified confirm=true | count group_by=model`,
		map[string]library.PipelineVar{"count": {Type: "number", Default: json.Number("50"), Description: "How many images."}, "collection": {Type: "string", Default: "clients.weekly", Description: "The client's collection."}}},
	{"auto_tag_new_uploads", "Auto-tag new uploads", "Tags images of the last day by the tool that made them and by long renders.",
		`search | where created >= "now-1d" | compute field=metadata.made_with expression="coalesce(tool, \"unknown\")" | set_tag "{{vars.tag}}" | group_by tool`,
		map[string]library.PipelineVar{"tag": {Type: "string", Default: "new", Description: "The tag for new images."}}},
	{"archive_rejected_30d", "Archive rejected after 30 days", "Archives images that were rejected and not touched for 30 days.",
		`search query="status:rejected" | where updated < "now-30d" | archive confirm=true | count`, nil},
	{"near_duplicate_review", "Review near duplicates", "Compares everything with the set without near duplicates, so that the others can be looked at.",
		`search query="{{vars.query}}" | deduplicate phash keep=best_score | add_to_collection "{{vars.collection}}" create_if_missing=true | group_by model then=status`,
		map[string]library.PipelineVar{"query": {Type: "string", Default: "has:prompt", Description: "Where to look."}, "collection": {Type: "string", Default: "review.unique", Description: "Gets one image of each group."}}},
	{"best_of_per_model", "Best of each model", "Tags the best rated images of each model.",
		`search query="rating:>=4" | sample count="{{vars.count}}" stratify_by=model_name | set_tag "{{vars.tag}}" | group_by model_name`,
		map[string]library.PipelineVar{"count": {Type: "number", Default: json.Number("100"), Description: "How many in all, spread evenly."}, "tag": {Type: "string", Default: "best-of", Description: "The tag."}}},
	{"missing_lineage_audit", "Audit of missing generation data", "Lists by tool and type what carries no prompt, and puts it into a collection.",
		`search | where missing(prompt) | add_to_collection "{{vars.collection}}" create_if_missing=true | group_by mime_type then=tool | count`,
		map[string]library.PipelineVar{"collection": {Type: "string", Default: "audit.nolineage", Description: "Gets what carries no prompt."}}},
	{"pending_approval_digest", "Digest of what waits for approval", "Counts by owner what waits for approval and tells webhooks.",
		`search query="status:pendingapproval" | group_by owner then=model | notify event_type=pipeline.notified confirm=true`, nil},
	{"approved_to_client_export", "Export what is approved", "Exports what is approved of a collection for a client, without generation data.",
		`collection "{{vars.collection}}" include_nested=true | where status = "Approved" | sort by=created | export preset=client confirm=true`,
		map[string]library.PipelineVar{"collection": {Type: "string", Default: "clients", Description: "The client's collection."}}},
}

// Templates returns the templates that every tenant has. It panics where one cannot be read,
// which a test finds.
func Templates() []Template {
	list := make([]Template, len(templateTexts))
	for i, t := range templateTexts {
		stages, err := ParseText(t.text)
		if err != nil {
			panic(fmt.Sprintf("the template %s: %v", t.slug, err))
		}
		list[i] = Template{Pipeline: library.Pipeline{Hash: library.SystemPipelineHash(t.slug), Version: 1, Name: t.name, Slug: t.slug, Description: t.description, Stages: stages, Vars: t.vars,
			DryRun: true, Timeout: 30 * time.Second, Template: true, UpdatedBy: "vitrine"}}
	}
	return list
}
