package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"vitrine/api/client"
	"vitrine/internal/spreadsheet"
	"vitrine/library"
	"vitrine/pipeline"
)

type pipelineCommand struct {
	Run     pipelineRun     `cmd:"" help:"Run stages, or a saved pipeline, and print what each stage did."`
	Explain pipelineExplain `cmd:"" help:"Check stages, and print how they would be run and their JSON."`
	Diff    pipelineDiff    `cmd:"" help:"Print which assets entered, left and changed between two runs."`
}

type pipelineRun struct {
	remote
	Text    string            `arg:"" optional:"" help:"Stages, for example: search fox | where steps > 30 | limit 50 | set_tag best"`
	Name    string            `help:"Run the saved pipeline with this name instead."`
	Real    bool              `help:"Change what the stages change. Without it the run is a dry run."`
	Var     map[string]string `help:"Values of variables, for example --var tag=best."`
	Timeout int               `default:"30000" help:"Milliseconds to wait; the run goes on afterwards."`
	CSV     bool              `name:"csv" help:"Print the results of summarize stages as CSV."`
	JSON    bool              `name:"json" help:"Print the service's response as JSON."`
}

func (c *pipelineRun) Run(ctx context.Context) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	vars := map[string]any{}
	for name, value := range c.Var {
		vars[name] = varValue(value)
	}
	if c.Name != "" {
		dry := !c.Real
		in := client.RunSavedPipelineInput{PipelineName: c.Name, DryRun: &dry, TimeoutMS: c.Timeout, Vars: vars}
		if c.JSON {
			return printResponse(ctx, api, client.OpRunSavedPipeline, in)
		}
		out, err := api.RunSavedPipeline(ctx, in)
		return c.print(out, err)
	}
	stages, err := stagesOf(c.Text)
	if err != nil {
		return err
	}
	in := client.ExecutePipelineInput{Stages: stages, DryRun: !c.Real, TimeoutMS: c.Timeout, Vars: vars}
	if c.JSON {
		return printResponse(ctx, api, client.OpExecutePipeline, in)
	}
	out, err := api.ExecutePipeline(ctx, in)
	return c.print(out, err)
}

// varValue is a variable's value: JSON where it is JSON, else a text.
func varValue(s string) any {
	var v any
	if json.Unmarshal([]byte(s), &v) == nil {
		return v
	}
	return s
}

// stagesOf reads the text form of a pipeline as the service takes stages.
func stagesOf(text string) ([]map[string]any, error) {
	stages, err := pipeline.ParseText(text)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(stages)
	if err != nil {
		return nil, err
	}
	var list []map[string]any
	return list, json.Unmarshal(raw, &list)
}

// print prints what a run did.
func (c *pipelineRun) print(answer any, err error) error {
	if err != nil {
		return err
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	var out struct {
		RunID       string               `json:"run_id"`
		State       string               `json:"state"`
		DryRun      bool                 `json:"dry_run"`
		Stages      []library.StageTrace `json:"stages"`
		OperationID string               `json:"operation_id"`
		Error       *library.StageError  `json:"error"`
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	for _, s := range out.Stages {
		if !c.CSV {
			fmt.Fprintf(w, "%s\t%s\t%d → %d\t%s\n", s.Type, s.State, s.Input, s.Output, effectsText(s.Effects))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, s := range out.Stages {
		if s.Result != nil {
			if err := printTable(s.Result, c.CSV); err != nil {
				return err
			}
		}
		for _, text := range s.Warnings {
			warn("note: %s: %s", s.Type, text)
		}
	}
	if out.Error != nil {
		return fmt.Errorf("the run is %s: %s", out.State, out.Error.Detail)
	}
	warn("run %s is %s", out.RunID, out.State)
	switch {
	case out.DryRun:
		warn("Nothing was changed. Add --real to change it.")
	case out.OperationID != "":
		warn("Take it back: vitrine call UndoOperation --operation_id %s", out.OperationID)
	}
	return nil
}

func effectsText(effects []library.StageEffect) string {
	parts := make([]string, len(effects))
	for i, e := range effects {
		parts[i] = fmt.Sprintf("%d %s", e.Count, strings.TrimSuffix(e.Kind+" "+e.Field, " "))
	}
	return strings.Join(parts, ", ")
}

// printTable prints the result of a summarize stage.
func printTable(r *library.StageResult, asCSV bool) error {
	if asCSV {
		return spreadsheet.Write(os.Stdout, r.Columns, r.Rows)
	}
	rows := [][]string{r.Columns}
	for _, row := range r.Rows {
		line := make([]string, len(row))
		for i, v := range row {
			if v != nil {
				line[i] = fmt.Sprint(v)
			}
		}
		rows = append(rows, line)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, "  "+strings.Join(row, "\t"))
	}
	return w.Flush()
}

type pipelineExplain struct {
	remote
	Text string `arg:"" help:"Stages in the text form."`
}

func (c *pipelineExplain) Run(ctx context.Context) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	return printResponse(ctx, api, client.OpExplainPipeline, client.ExplainPipelineInput{Text: c.Text})
}

type pipelineDiff struct {
	remote
	Later string `arg:"" help:"The run_id of the later run."`
	With  string `arg:"" help:"The run to compare it with."`
	Limit int    `default:"100" help:"Assets to list of each kind, at most 1000."`
}

func (c *pipelineDiff) Run(ctx context.Context) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	return printResponse(ctx, api, client.OpDiffPipelineRuns, client.DiffPipelineRunsInput{RunID: c.Later, With: c.With, Limit: &c.Limit})
}
