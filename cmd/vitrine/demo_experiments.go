package main

import (
	"context"
	"errors"
	"fmt"

	"vitrine/api/client"
)

// demoExperiment is the path of the experiment that demoExperiments makes.
const demoExperiment = "whichsamplerforlight"

// demoExperiments makes a finished experiment of images of the sample library: runs of several
// samplers, scored by two people and a vision model, and compared in pairs. One image gets
// notes on the nodes of its workflow. A library that has the experiment is left as it is.
func demoExperiments(ctx context.Context, api *client.Client) error {
	_, err := api.GetExperimentSummary(ctx, client.GetExperimentSummaryInput{CollectionH: demoExperiment})
	var missing *client.Error
	if err == nil || !errors.As(err, &missing) || missing.Status != 404 {
		return err
	}
	made, err := api.CreateExperiment(ctx, client.CreateExperimentInput{DisplayName: "Which sampler for light", Description: "Pictures of several samplers, judged by their light and their detail.",
		Hypothesis: "The sampler matters less for light than for detail.", IndependentVariable: "sampler"})
	if err != nil {
		return err
	}
	found, err := api.SearchAssets(ctx, client.SearchAssetsInput{Query: "tag:sample media:image has:prompt", OrderBy: "filename", Limit: 24})
	if err != nil {
		return err
	}
	var runs []demoRun
	for _, hit := range found.Data {
		run, err := registerDemoRun(ctx, api, made.CollectionH, hit.AssetH)
		if err != nil {
			return err
		}
		if run.sampler != "" {
			runs = append(runs, run)
		}
	}
	if err := judgeDemoRuns(ctx, api, made.CollectionH, runs); err != nil {
		return err
	}
	return demoNotes(ctx, api)
}

// demoRun is a run with how good it is under each dimension, from 0 to 9.
type demoRun struct {
	hash, sampler string
	quality       map[string]int
}

// registerDemoRun makes an image a run, unless its file tells no sampler.
func registerDemoRun(ctx context.Context, api *client.Client, experiment, asset string) (demoRun, error) {
	d, err := api.GetAssetDetails(ctx, client.GetAssetDetailsInput{AssetH: asset})
	if err != nil || d.GenerationParameters == nil || d.GenerationParameters.Sampler == nil {
		return demoRun{}, err
	}
	sampler := *d.GenerationParameters.Sampler
	tags := []string{"finished"}
	if asset[1] < '4' {
		tags = append(tags, "for print")
	}
	r, err := api.RegisterRun(ctx, client.RegisterRunInput{CollectionH: experiment, AssetH: asset, ConditionID: sampler, OutcomeTags: tags})
	if err != nil {
		return demoRun{}, err
	}
	chance := func(digit int) int { return int(asset[digit]) % 5 }
	return demoRun{r.CollectionItemH, sampler, map[string]int{"light": chance(2) + chance(3), "detail": len(sampler)%3*3 + chance(4)/2}}, nil
}

// judgeDemoRuns scores and compares runs by their quality; two evaluators agree mostly, and
// runs that are nearly alike are ties.
func judgeDemoRuns(ctx context.Context, api *client.Client, experiment string, runs []demoRun) error {
	for i, r := range runs {
		for j, who := range []struct{ name, kind string }{{"ann", "human"}, {"ben", "human"}, {"vision model", "vlm_assisted"}} {
			scores := map[string]int{}
			for dimension, q := range r.quality {
				scores[dimension] = min(max(1+q/2+(i*j)%7/6, 1), 5)
			}
			in := client.ScoreRunInput{CollectionItemH: r.hash, Scores: scores, Evaluator: who.name, EvaluatorType: who.kind, Flags: map[string]bool{"artifacts": r.quality["detail"] == 0}}
			if scores["light"] == 1 && j == 0 {
				in.Comments = "too dark in the corners"
			}
			if _, err := api.ScoreRun(ctx, in); err != nil {
				return err
			}
		}
		for _, step := range []int{1, 3, 7} {
			other := runs[(i+step)%len(runs)]
			if other.hash == r.hash {
				continue
			}
			winners := map[string]string{}
			for dimension, q := range r.quality {
				switch d := q - other.quality[dimension]; {
				case d > 1 || d == 1 && i%4 != 0:
					winners[dimension] = "item_a"
				case d < -1 || d == -1 && i%5 != 0:
					winners[dimension] = "item_b"
				default:
					winners[dimension] = "tie"
				}
			}
			if _, err := api.CompareRuns(ctx, client.CompareRunsInput{CollectionH: experiment, ItemA: r.hash, ItemB: other.hash, Winners: winners, Evaluator: "ann"}); err != nil {
				return err
			}
		}
	}
	return nil
}

// demoNotes annotates the nodes of one workflow.
func demoNotes(ctx context.Context, api *client.Client) error {
	found, err := api.SearchAssets(ctx, client.SearchAssetsInput{Query: "tag:sample media:image has:workflow", OrderBy: "filename", Limit: 1})
	if err != nil || len(found.Data) == 0 {
		return err
	}
	d, err := api.GetAssetDetails(ctx, client.GetAssetDetailsInput{AssetH: found.Data[0].AssetH, ResponseFormat: "detailed"})
	if err != nil || d.Workflow == nil {
		return err
	}
	for i, n := range d.Workflow.Nodes {
		made, err := api.CreateAnnotation(ctx, client.CreateAnnotationInput{WorkflowNodeID: n.WorkflowNodeID, Content: fmt.Sprintf("%s: too dark as it is, see the next version", n.Class), Visibility: "team"})
		if err != nil {
			return err
		}
		content, resolved := n.Class+": fine since the light was moved", i == 0
		if _, err := api.UpdateAnnotation(ctx, client.UpdateAnnotationInput{AnnotationID: made.AnnotationID, Content: &content, Resolved: &resolved}); err != nil {
			return err
		}
		if i == 2 {
			break
		}
	}
	_, err = api.CreateAnnotation(ctx, client.CreateAnnotationInput{WorkflowNodeID: d.AssetH, Content: "**Keep** for the light tests.", ContentType: "markdown"})
	return err
}
