package main

import (
	"context"

	"vitrine/api/client"
	"vitrine/library"
)

// demoPipelines are the saved pipelines of the demo. They change nothing unless a run says so.
var demoPipelines = []struct {
	name, description, text string
	vars                    map[string]any
}{
	{"Long renders by model", "Which models the renders with many steps used, and how they were received.", `search | where steps > 25 | sort created desc | group_by checkpoint status | stats steps | histogram steps bins=5`, nil},
	{"Tag by tool", "Tags the images of each tool whose prompt is known, and puts the best rated into a collection.",
		`search query="has:prompt" | compute metadata.made_with "coalesce(tool, \"unknown\")" | set_tag "{{vars.tag}}" | where rating >= 4 | add_to_collection "{{vars.collection}}" create_if_missing=true | group_by tool`,
		map[string]any{"tag": map[string]any{"type": "string", "default": "prompted"}, "collection": map[string]any{"type": "string", "default": "best"}}},
	{demoColors, "Finds the dominant colors of the best rated images, counts them, and begins an export of six to share.",
		`search order_by=rating limit=24 | enrich dominant_color phash | group_by color then=status | limit 6 | export share confirm=true`, nil},
}

// demoColors is the pipeline that the demo runs, so that there is a run with its results and an export.
const demoColors = "Colors of the best"

// demoSavePipelines saves the pipelines. What an earlier run saved is left as it is.
func demoSavePipelines(ctx context.Context, api *client.Client) error {
	have, err := api.ListPipelines(ctx, client.ListPipelinesInput{Limit: 200})
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, p := range have.Data {
		known[p.Slug] = true
	}
	for _, p := range demoPipelines {
		if known[library.PipelineSlug(p.name)] {
			continue
		}
		stages, err := stagesOf(p.text)
		if err != nil {
			return err
		}
		if _, err := api.SavePipeline(ctx, client.SavePipelineInput{Name: p.name, Description: p.description, Stages: stages, Vars: p.vars, Tags: []string{"sample"}, DefaultDryRun: true}); err != nil {
			return err
		}
		if p.name != demoColors {
			continue
		}
		if _, err := api.RunSavedPipeline(ctx, client.RunSavedPipelineInput{PipelineName: p.name, DryRun: new(false)}); err != nil {
			return err
		}
	}
	return nil
}
