package pipelines

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vitrine/library"
	"vitrine/op"
	"vitrine/pipeline"
	"vitrine/store"
)

type templatesInput struct{ op.TenantInput }

type template struct {
	SavedPipeline
	Source string                  `json:"source" enum:"system,tenant"`
	Stages []library.PipelineStage `json:"stages"`
}

type templatesOutput struct {
	Data []template `json:"data"`
}

// templates returns the system's and the tenant's.
func (s *Service) templates(ctx context.Context, actor library.Actor) (templatesOutput, error) {
	out := templatesOutput{Data: []template{}}
	for _, t := range pipeline.Templates() {
		out.Data = append(out.Data, template{describePipeline(t.Pipeline), "system", t.Stages})
	}
	yes := true
	list, _, err := s.Store.Pipelines.List(ctx, actor.Tenant, store.PipelineFilter{Template: &yes, Limit: 200})
	for _, p := range list {
		out.Data = append(out.Data, template{describePipeline(p), "tenant", p.Stages})
	}
	return out, err
}

func (s *Service) listTemplates() op.Operation {
	return op.Define(op.Meta{
		Name: "ListPipelineTemplates", Title: "List pipeline templates", Domain: op.Pipelines,
		Doc:    "Returns the templates of pipelines, the system's and the tenant's. Save their stages with SavePipeline, or clone one over REST.",
		Method: "GET", Path: "/api/v1/pipelines/templates", Permission: library.PermRead, ReadOnly: true, Idempotent: true,
		Example: map[string]any{},
	}, func(ctx context.Context, actor library.Actor, _ templatesInput) (templatesOutput, error) {
		return s.templates(ctx, actor)
	})
}

type cloneInput struct {
	op.TenantInput
	PipelineH string `json:"pipeline_definition_h" id:"pipeline" pattern:"^[0-9a-fA-F]{40}$" patternDescription:"40 hex digits" doc:"Of the template."`
	Name      string `json:"name,omitempty" maxLength:"200" doc:"Default: the template's name, with a number where that is taken."`
}

func (s *Service) cloneTemplate() op.Operation {
	return op.Define(op.Meta{
		Name: "ClonePipelineTemplate", Title: "Clone a pipeline template", Domain: op.Pipelines,
		Doc:    "Saves a template as a new pipeline.",
		Method: "POST", Path: "/api/v1/pipelines/templates", Permission: library.PermWrite, Creates: "/api/v1/pipelines/{pipeline_definition_h}", RESTOnly: true,
		Example: map[string]any{"pipeline_definition_h": string(library.SystemPipelineHash("near_duplicate_review"))},
	}, func(ctx context.Context, actor library.Actor, in cloneInput) (out saveOutput, err error) {
		p, err := s.findTemplate(ctx, actor, library.PipelineHash(strings.ToLower(in.PipelineH)))
		if err != nil {
			return out, err
		}
		p.Hash, p.Template, p.Name = "", false, strings.Join(strings.Fields(in.Name+" "), " ")
		base := p.Name
		if base == "" {
			if base, err = s.freeName(ctx, actor, p.Slug); err != nil {
				return out, err
			}
		}
		p.Name = base
		if errs := pipeline.CheckSaved(&p); len(errs) > 0 {
			return out, library.Invalid(errs...)
		}
		p, id, err := s.Store.Pipelines.Save(ctx, actor, p)
		return saveOutput{describePipeline(p), true, op.Undoable{OperationID: id}}, err
	})
}

// findTemplate returns a template of the system or the tenant.
func (s *Service) findTemplate(ctx context.Context, actor library.Actor, hash library.PipelineHash) (library.Pipeline, error) {
	list := pipeline.Templates()
	if i := slices.IndexFunc(list, func(t pipeline.Template) bool { return t.Hash == hash }); i >= 0 {
		return list[i].Pipeline, nil
	}
	p, err := s.Store.Pipelines.Find(ctx, actor.Tenant, hash, "")
	if err == nil && !p.Template {
		err = library.NotFound("template")
	}
	return p, err
}

// freeName returns a name like a slug that no pipeline has.
func (s *Service) freeName(ctx context.Context, actor library.Actor, slug string) (string, error) {
	name := strings.ReplaceAll(slug, "_", " ")
	for n := 2; ; n++ {
		_, err := s.Store.Pipelines.Find(ctx, actor.Tenant, "", name)
		switch {
		case err != nil && library.AsError(err).Kind == library.KindNotFound:
			return name, nil
		case err != nil:
			return "", err
		}
		name = fmt.Sprintf("%s %d", strings.ReplaceAll(slug, "_", " "), n)
	}
}

func (s *Service) templatesResource() op.Resource {
	return op.Resource{URI: "vitrine://pipelines/templates", Name: "pipeline-templates", Title: "Pipeline templates", Doc: "The templates of pipelines: the system's and the tenant's, with their stages.",
		MIMEType: "application/json", Permission: library.PermRead, Example: "vitrine://pipelines/templates",
		Read: func(ctx context.Context, actor library.Actor, _ map[string]string) (any, error) {
			return s.templates(ctx, actor)
		}}
}
