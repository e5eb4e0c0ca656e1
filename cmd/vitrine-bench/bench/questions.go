package bench

import (
	"encoding/json"
	"fmt"

	"vitrine/query"
	"vitrine/query/run"
)

// question is one search, ready to be asked in three ways: of the service over
// REST and over MCP, and of OpenSearch by the request that the service sends to it.
type question struct {
	class string
	text  string
	tool  string // the operation's name
	path  string // its route
	args  map[string]any

	rest []byte // body of the REST call
	dsl  []byte // body of the request to OpenSearch

	sql     string // the statement for the rival, where it is asked too
	sqlArgs []any
}

// Classes of searches. Words are those of the sample's prompts.
var classes = []struct {
	name    string
	facets  bool
	queries []string
}{
	{name: "text and filter", queries: []string{"neon city tool:comfyui", "stained glass fish steps:>=20", "snowy mountains sampler:euler",
		"spiral galaxy stars mime_type:png", "koi pond water lilies cfg:5..9", "ocean waves lighthouse width:>=200", "floral mandala has:lineage", "retro sun grid -rain media:image"}},
	{name: "filter only", queries: []string{"tool:comfyui steps:20..30", "mime_type:jpeg", "sampler:euler cfg:>=6", "tag:bench steps:<25",
		"created:2024.. media:image", "width:>=200 height:>=200", "has:workflow -tool:invokeai", "steps:30 OR steps:28"}},
	{name: "facets", facets: true, queries: []string{"", "neon", "tool:comfyui", "mountains lake", "steps:>=25", "glass -fish", "mime_type:png", "stars"}},
	{name: "phrase", queries: []string{`"stained glass"`, `"spiral galaxy"`, `"water lilies"`, `"neon city"`, `"highly detailed"`, `"soft light"`, `"ocean waves"`, `"lead lines"`}},
	{name: "wildcard", queries: []string{"moun*", "gala*", "*glass*", "light*se", "neb*la", "refl*", "man*ala", "fract*"}},
}

// usualFacets are counted by the facet questions.
var usualFacets = []string{"tool", "checkpoint", "lora", "sampler", "status", "tag", "mime_type", "created:month"}

// questions makes every question.
func (e *env) questions() ([]question, error) {
	var list []question
	for _, c := range classes {
		for _, text := range c.queries {
			q, err := e.question(c.name, query.Smart, text, c.facets)
			if err != nil {
				return nil, fmt.Errorf("the search %q: %w", text, err)
			}
			list = append(list, q)
		}
	}
	return list, nil
}

func (e *env) question(class string, mode query.Mode, text string, facets bool) (q question, err error) {
	q = question{class: class, text: text, tool: "SearchAssets", path: "/api/v1/assets/search", args: map[string]any{"query": text}}
	if mode != query.Smart {
		q.args["search_mode"] = mode
	}
	var compiled *query.Search
	if facets {
		q.tool, q.path, q.args["facets"] = "GetFacets", "/api/v1/assets/facets", usualFacets
		compiled, err = e.compile(mode, text, 0, usualFacets...)
	} else {
		compiled, err = e.compile(mode, text, 20)
	}
	if err != nil {
		return q, err
	}
	if q.dsl, err = json.Marshal(run.Body(compiled)); err != nil {
		return q, err
	}
	q.rest, err = json.Marshal(q.args)
	return q, err
}

// compile reads and compiles a text as the service does for the benchmark's key.
func (e *env) compile(mode query.Mode, text string, limit int, facets ...string) (*query.Search, error) {
	parsed, err := query.Parse(text, query.Options{Strict: mode.Strict()})
	if err != nil {
		return nil, err
	}
	return query.Compile(parsed, query.Request{Mode: mode, Tenant: e.tenant, Index: e.alias(), SeesPrivate: true, Limit: limit, Facets: facets, FacetSize: 20})
}
