package pipeline

import (
	"context"

	"vitrine/library"
)

// PlanStep is how a stage is run.
type PlanStep struct {
	Index    int    `json:"index"`
	Type     string `json:"type"`
	Category string `json:"category"`
	Runs     string `json:"runs" enum:"index,rows,effect,output" doc:"index: in the search index. rows: over rows of the database. effect: it changes assets, 1,000 in one transaction. output: it tells others."`
	Fused    []int  `json:"fused,omitempty" doc:"Stages that the query of this one does too, while the index has every change; else they run over rows."`
	Text     string `json:"text" doc:"The stage in the text form."`
}

// Explain checks stages without running them, and returns them as they are run and how.
func (e *Engine) Explain(ctx context.Context, actor library.Actor, stages []library.PipelineStage) ([]library.PipelineStage, []PlanStep, error) {
	d, err := Parse(stages, Options{Actor: actor})
	if err != nil {
		return nil, nil, err
	}
	if err := e.checkActor(ctx, actor, d, "stages"); err != nil {
		return nil, nil, err
	}
	plan := make([]PlanStep, len(d.Steps))
	for i, s := range d.Steps {
		plan[i] = PlanStep{Index: i, Type: s.Type, Category: string(s.Kind.Category), Text: stageText(s.PipelineStage), Runs: "rows"}
		_, isSearch := s.work.(*search)
		w, isWhere := s.work.(*where)
		switch {
		case isSearch, isWhere && w.Query != "":
			plan[i].Runs = "index"
		case s.Kind.Category == Transform || s.Kind.Category == Action:
			plan[i].Runs = "effect"
		case s.Kind.Category == Output:
			plan[i].Runs = "output"
		}
	}
	if f := d.fuse(); f != nil && !e.NoFusion {
		for i := 1; i < f.steps; i++ {
			plan[0].Fused, plan[i].Runs = append(plan[0].Fused, i), "index"
		}
	}
	return d.Stages(), plan, nil
}
