package experiments

import (
	"context"
	"strconv"
	"strings"

	"vitrine/library"
	"vitrine/op"
)

type registerInput struct {
	op.TenantInput
	InExperiment
	AssetHash    string         `json:"asset_h" id:"asset"`
	ConditionID  string         `json:"condition_id,omitempty" id:"none" maxLength:"200"`
	VariantLabel string         `json:"variant_label,omitempty" maxLength:"200"`
	Seed         *uint64        `json:"seed,omitempty"`
	SeedText     string         `json:"seed_text,omitempty" pattern:"^[0-9]{1,20}$" patternDescription:"digits" tool:"plain" doc:"The seed as text, for clients whose numbers lose digits beyond 2^53."`
	PromptText   *string        `json:"prompt_text,omitempty" maxLength:"20000"`
	ModelName    *string        `json:"model_name,omitempty" maxLength:"300"`
	RunParams    map[string]any `json:"run_params,omitempty"`
	OutcomeTags  []string       `json:"outcome_tags,omitempty" maxItems:"50" maxLength:"100"`
	Position     *int           `json:"position,omitempty" minimum:"0" maximum:"10000000"`
}

// maxParams is how many settings a run may claim.
const maxParams = 100

// Validate implements op.Validator.
func (in *registerInput) Validate() []library.FieldError {
	if len(in.RunParams) > maxParams {
		return []library.FieldError{{Field: "run_params", Code: "length", Message: "Expected at most 100 members."}}
	}
	if in.SeedText != "" {
		seed, err := strconv.ParseUint(in.SeedText, 10, 64)
		if err != nil || in.Seed != nil && *in.Seed != seed {
			return []library.FieldError{{Field: "seed_text", Code: "range", Message: "Expected the digits of a seed, from 0 to 18446744073709551615, and of the same one as seed."}}
		}
		in.Seed = &seed
	}
	return op.CheckObject("run_params", in.RunParams, op.SmallObject)
}

// Run is a run as it is shown. Outputs embed it.
type Run struct {
	Hash         string                  `json:"collection_item_h" doc:"The run, for ScoreRun and CompareRuns."`
	AssetHash    library.AssetHash       `json:"asset_h"`
	ConditionID  string                  `json:"condition_id,omitempty"`
	VariantLabel string                  `json:"variant_label,omitempty"`
	OutcomeTags  []string                `json:"outcome_tags"`
	Values       []RunValue              `json:"values" doc:"Seed, prompt, model and settings that count."`
	Differences  []library.RunDifference `json:"differences" doc:"Claims that the file contradicts. The file counts."`
}

// RunValue is a value of a run.
type RunValue struct {
	Name   string                `json:"name"`
	Value  string                `json:"value"`
	Source library.LineageSource `json:"source" doc:"extracted: from the file. client_asserted: claimed."`
}

// maxShownValue is how many characters of a value are shown.
const maxShownValue = 500

func describeRun(r library.Run) Run {
	values, differences := r.Values()
	out := Run{Hash: r.Hash, AssetHash: r.Asset, ConditionID: r.Claim.ConditionID, VariantLabel: r.Claim.VariantLabel,
		OutcomeTags: append([]string{}, r.Claim.OutcomeTags...), Values: []RunValue{}, Differences: append([]library.RunDifference{}, differences...)}
	for _, name := range sortedKeys(values) {
		if name == "condition" || name == "variant" {
			continue
		}
		source := library.LineageAsserted
		if values[name].Extracted {
			source = library.LineageExtracted
		}
		out.Values = append(out.Values, RunValue{name, shorten(library.RunText(values[name].Value)), source})
	}
	return out
}

func shorten(s string) string {
	if r := []rune(s); len(r) > maxShownValue {
		return string(r[:maxShownValue]) + "…"
	}
	return s
}

type registerOutput struct {
	Run
	Created bool `json:"created" doc:"false: it was a run already, and was changed."`
	op.Undoable
	op.Indexed
}

func (s *Service) registerRun() op.Operation {
	return op.Define(op.Meta{
		Name: "RegisterRun", Title: "Register a run", Domain: op.Experiments,
		Doc:    "Makes an asset a run of an experiment. The seed, prompt, model and settings in its file count; those sent fill gaps, and differences lists contradictions. A repeated call changes the run.",
		Method: "POST", Path: "/api/v1/experiments/{collection_h}/runs", Permission: library.PermWrite, Idempotent: true, Chained: true,
		Example: map[string]any{"collection_h": exampleExperiment, "asset_h": exampleAsset, "condition_id": "cfg 7", "run_params": map[string]any{"cfg": 7}, "outcome_tags": []string{"good hands"}},
	}, func(ctx context.Context, actor library.Actor, in registerInput) (registerOutput, error) {
		done, err := s.Experiments.Register(ctx, actor, in.CollectionH, library.AssetHash(strings.ToLower(in.AssetHash)), library.RunClaim{
			ConditionID: strings.TrimSpace(in.ConditionID), VariantLabel: strings.TrimSpace(in.VariantLabel), Seed: in.Seed, Prompt: in.PromptText, Model: in.ModelName,
			Params: in.RunParams, OutcomeTags: library.MergeTags(nil, in.OutcomeTags)}, in.Position)
		if err != nil {
			return registerOutput{}, err
		}
		return registerOutput{describeRun(done.Run), done.Created, op.Undoable{OperationID: done.OperationID}, op.Indexed{IndexToken: done.OperationID}}, nil
	})
}
