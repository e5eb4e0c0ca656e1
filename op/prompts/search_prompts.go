package prompts

import (
	"context"
	"regexp"
	"strings"

	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

type searchInput struct {
	op.TenantInput
	Query       string `json:"query,omitempty" id:"query" maxLength:"1000" doc:"Words in names, descriptions, tags and texts; \"phrase\", -word and OR work."`
	Category    string `json:"category,omitempty" maxLength:"100"`
	TargetModel string `json:"target_model,omitempty" maxLength:"200"`
	Tag         string `json:"tag,omitempty" maxLength:"100"`
	Label       string `json:"label,omitempty" maxLength:"50"`
	Limit       int    `json:"limit,omitempty" minimum:"1" maximum:"100" default:"20"`
	Offset      int    `json:"offset,omitempty" minimum:"0" maximum:"100000" default:"0"`
}

// Found is a prompt in a list: with its newest version.
type Found struct {
	Prompt
	Version
	Versions int            `json:"version_count"`
	Pointers map[string]int `json:"label_versions" doc:"The version that each label points at."`
	Images   int            `json:"images" doc:"Images whose prompt is a render of one of its versions."`
	Score    float64        `json:"relevance_score,omitempty"`
	Similar  bool           `json:"similar,omitempty" doc:"It has none of the words; its meaning is alike."`
}

type searchOutput struct {
	Data  []Found `json:"data" doc:"The best match first; without query the latest changed first. Texts are those of the newest versions."`
	Total int     `json:"total"`
}

// exactWords finds what says in a query that its words are meant as they are.
var exactWords = regexp.MustCompile(`"|(^|\s)-\S|\sOR\s`)

func (s *Service) searchPrompts() op.Operation {
	return op.Define(op.Meta{
		Name: "SearchPrompts", Title: "Search prompts", Domain: op.Prompts,
		Doc:    "Finds prompts of the prompt library by words, then by meaning, and by category, target model, tag or label.",
		Method: "GET", Path: "/api/v1/prompts", Permission: library.PermSearch, Rate: op.RateSearch, ReadOnly: true, Idempotent: true,
		Example: map[string]any{"query": "studio portrait", "limit": 10},
	}, func(ctx context.Context, actor library.Actor, in searchInput) (searchOutput, error) {
		out := searchOutput{Data: []Found{}}
		var similar map[library.PromptHash]float64
		if s.Similar != nil && !exactWords.MatchString(in.Query) {
			similar = s.Similar(ctx, actor.Tenant, strings.TrimSpace(in.Query))
		}
		list, total, err := s.Store.Prompts.Search(ctx, actor, store.PromptFilter{Query: in.Query, Similar: similar, Category: in.Category, TargetModel: in.TargetModel,
			Tag: in.Tag, Label: in.Label, Limit: in.Limit, Offset: in.Offset})
		if err != nil {
			return out, err
		}
		out.Total = total
		for _, e := range list {
			out.Data = append(out.Data, Found{Prompt: describe(e.Prompt), Version: describeVersion(e.Latest), Versions: e.Versions, Pointers: e.Labels, Images: e.Images, Score: e.Score, Similar: e.Similar})
		}
		return out, nil
	})
}
