package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"vitrine/api/client"
	"vitrine/query"
	"vitrine/query/run"
)

type searchCommand struct {
	remote
	Query  string `arg:"" optional:"" help:"Query, for example: fox lora:detail -tag:wip created:2026-01.."`
	Mode   string `default:"smart" enum:"exact,partial,fuzzy,fulltext,boolean,smart" help:"How words match."`
	Limit  int    `default:"20" help:"Number of results, 1 to 100."`
	Offset int    `help:"Results to skip."`
	Order  string `default:"relevance" help:"relevance, created, updated, title, filename, size, …"`
	JSON   bool   `name:"json" help:"Print the service's response as JSON."`
}

func (c *searchCommand) Run(ctx context.Context) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	in := client.SearchAssetsInput{Query: c.Query, SearchMode: c.Mode, Limit: c.Limit, Offset: c.Offset, OrderBy: c.Order}
	if c.JSON {
		return printResponse(ctx, api, client.OpSearchAssets, in)
	}
	in.ResponseFormat = "detailed" // for sizes and dates
	out, err := api.SearchAssets(ctx, in)
	if err != nil {
		return err
	}
	return printFound(out)
}

func printFound(f client.SearchAssetsOutput) error {
	for _, w := range f.Interpretation.Warnings {
		warn("note: %s", w.Message)
		if w.Suggestion != "" {
			warn("      did you mean: %s", w.Suggestion)
		}
	}
	if d := f.DidYouMean; d != nil {
		warn("did you mean: %s (%d found)", d.Query, d.Total)
	}
	if r := f.Relaxed; r != nil {
		warn("note: nothing has all words; left out: %s", strings.Join(r.LeftOut, ", "))
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	for _, d := range f.Data {
		name := d.Filename
		if d.Title != "" {
			name = d.Title + " (" + d.Filename + ")"
		}
		if d.Matched == "meaning" {
			name += " [similar]"
		}
		made := ""
		if d.CreatedAt != nil {
			made = d.CreatedAt.Local().Format("2006-01-02 15:04")
		}
		size := ""
		if d.Width > 0 && d.Height > 0 { // 3D models have none
			size = fmt.Sprintf("%dx%d", d.Width, d.Height)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", d.AssetH[:12], name, d.Tool, size, made, strings.Join(d.Tags, ", "))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Printf("%d of %d, %d ms\n", len(f.Data), f.Total, f.TookMS)
	return nil
}

type queryCommand struct {
	Explain queryExplain `cmd:"" help:"Show how a query is parsed: its tree, its warnings and the request to OpenSearch."`
	Fields  queryFields  `cmd:"" help:"Print the reference of the query language."`
}

type queryExplain struct {
	Query  string `arg:"" help:"The query."`
	Strict bool   `help:"Strict syntax, as in the mode boolean and in pipelines."`
	Mode   string `default:"smart" enum:"exact,partial,fuzzy,fulltext,boolean,smart" help:"How words match."`
	JSON   bool   `name:"json" help:"Print JSON: query, tree, warnings, dsl."`
}

// explainTenant stands in the explained request where a service puts the caller's.
const explainTenant = "00000000-0000-4000-8000-000000000000"

func (c *queryExplain) Run() error {
	mode := query.Mode(c.Mode)
	q, err := query.Parse(c.Query, query.Options{Strict: c.Strict || mode.Strict()})
	if err != nil {
		return err
	}
	compiled, err := query.Compile(q, query.Request{Mode: mode, Tenant: explainTenant, Limit: 20})
	if err != nil {
		return err
	}
	warnings := append(append([]query.Warning{}, q.Warnings...), compiled.Warnings...)
	if c.JSON {
		return printJSON(map[string]any{"query": c.Query, "tree": q.Canonical(), "warnings": warnings, "dsl": run.Body(compiled)})
	}
	fmt.Println("tree      ", q.Canonical())
	fmt.Println("as text   ", q.Repaired())
	for _, w := range warnings {
		fmt.Printf("warning    %s at %d: %s", w.Code, w.Offset, w.Message)
		if w.Suggestion != "" {
			fmt.Print("; did you mean ", w.Suggestion)
		}
		fmt.Println()
	}
	fmt.Println("request to OpenSearch:")
	return printIndented(run.Body(compiled))
}

type queryFields struct{}

func (c *queryFields) Run() error {
	_, err := fmt.Println(query.Reference())
	return err
}
