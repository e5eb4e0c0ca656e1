package pipelines

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"vitrine/library"
	"vitrine/op"
	"vitrine/pipeline"
)

// PipelineInput is embedded by inputs that name a pipeline in their route.
type PipelineInput struct {
	PipelineH string `json:"pipeline_definition_h" id:"pipeline" pattern:"^[0-9a-fA-F]{40}$" patternDescription:"40 hex digits"`
}

type getPipelineInput struct {
	op.TenantInput
	PipelineInput
	Versions bool `json:"versions,omitempty" doc:"Also lists its versions, each with what it changed."`
}

type pipelineVersion struct {
	SavedPipeline
	Changes []string `json:"changes" doc:"How its stages, as text, differ from those of the version before: + and - before lines."`
}

type getPipelineOutput struct {
	SavedPipeline
	Stages   []library.PipelineStage `json:"stages"`
	Versions []pipelineVersion       `json:"versions,omitempty" doc:"The newest first."`
}

func (s *Service) getPipeline() op.Operation {
	return op.Define(op.Meta{
		Name: "GetPipeline", Title: "Get a pipeline", Domain: op.Pipelines,
		Doc:    "Returns a saved pipeline with its stages, and its versions with their authors.",
		Method: "GET", Path: "/api/v1/pipelines/{pipeline_definition_h}", Permission: library.PermRead, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"pipeline_definition_h": examplePipeline, "versions": true},
	}, func(ctx context.Context, actor library.Actor, in getPipelineInput) (out getPipelineOutput, err error) {
		p, err := s.Store.Pipelines.Find(ctx, actor.Tenant, library.PipelineHash(strings.ToLower(in.PipelineH)), "")
		if err != nil {
			return out, err
		}
		out.SavedPipeline, out.Stages = describePipeline(p), p.Stages
		if !in.Versions {
			return out, nil
		}
		list, err := s.Store.Pipelines.Versions(ctx, actor.Tenant, p.Hash)
		for i, v := range list {
			v.Hash, v.Slug = p.Hash, library.PipelineSlug(v.Name)
			version := pipelineVersion{describePipeline(v), []string{}}
			if i+1 < len(list) {
				version.Changes = changes(list[i+1], v)
			}
			out.Versions = append(out.Versions, version)
		}
		return out, err
	})
}

// changes returns how a version differs from the one before: lines of its stages, and other
// fields.
func changes(before, after library.Pipeline) []string {
	lines := func(p library.Pipeline) []string {
		list := []string{"name " + p.Name, "description " + p.Description, fmt.Sprintf("default_dry_run %v", p.DryRun), fmt.Sprintf("default_timeout_ms %d", p.Timeout.Milliseconds()), "tags " + strings.Join(p.Tags, ", ")}
		for _, name := range slices.Sorted(maps.Keys(p.Vars)) {
			list = append(list, fmt.Sprintf("var %s %s %v", name, p.Vars[name].Type, p.Vars[name].Default))
		}
		for _, stage := range p.Stages {
			list = append(list, pipeline.Text([]library.PipelineStage{stage}))
		}
		return list
	}
	return diffLines(lines(before), lines(after))
}

// diffLines returns the lines that went and those that came, by the longest common sequence.
func diffLines(a, b []string) []string {
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	out := []string{}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || common[i+1][j] >= common[i][j+1]):
			out, i = append(out, "- "+a[i]), i+1
		default:
			out, j = append(out, "+ "+b[j]), j+1
		}
	}
	return out
}
