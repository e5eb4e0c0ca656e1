package prompts

import (
	"context"
	"slices"

	"vitrine/library"
	"vitrine/op"
	"vitrine/op/assets"
	"vitrine/prompt"
)

type proposeInput struct {
	op.TenantInput
	AssetHashes []string `json:"asset_hs" id:"asset" minItems:"1" maxItems:"200" doc:"Assets with a prompt."`

	hashes []library.AssetHash
}

// Validate implements op.Validator.
func (in *proposeInput) Validate() []library.FieldError {
	sent, errs := assets.Hashes("asset_hs", in.AssetHashes)
	for _, h := range sent {
		if !slices.Contains(in.hashes, h) {
			in.hashes = append(in.hashes, h)
		}
	}
	return errs
}

// Proposal is a template for assets whose prompts differ in a few words.
type Proposal struct {
	Text      string              `json:"prompt_text" doc:"Pass to CreatePrompt, with better names of the variables."`
	Assets    []library.AssetHash `json:"asset_hs"`
	Variables []ProposedVariable  `json:"variables" doc:"Empty if the prompts are the same."`
	Exists    library.PromptHash  `json:"prompt_h,omitempty" doc:"The prompt that has this text already."`
}

// ProposedVariable is where prompts differ.
type ProposedVariable struct {
	Name   string   `json:"name"`
	Values []string `json:"values" doc:"What each asset of asset_hs has in its place."`
}

type proposeOutput struct {
	Data    []Proposal          `json:"data" doc:"The largest group first. An asset whose prompt is like no other is alone."`
	LeftOut []library.AssetHash `json:"left_out" doc:"Assets without an extracted prompt or with a very long one, and those that do not exist."`
}

func (s *Service) proposePrompts() op.Operation {
	return op.Define(op.Meta{
		Name: "ProposePrompts", Title: "Propose prompts from assets", Domain: op.Prompts,
		Doc:    "Groups assets whose prompts differ in a few words, and proposes a template for each group, with variables where they differ. Writes nothing.",
		Method: "POST", Path: "/api/v1/prompts/propose", Permission: library.PermRead, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"asset_hs": []string{exampleAsset}},
	}, func(ctx context.Context, actor library.Actor, in proposeInput) (proposeOutput, error) {
		out := proposeOutput{Data: []Proposal{}, LeftOut: []library.AssetHash{}}
		positives, err := s.Store.Prompts.Positives(ctx, actor, in.hashes)
		if err != nil {
			return out, err
		}
		var texts []string
		var of []library.AssetHash
		for _, h := range in.hashes {
			if text, ok := positives[h]; ok {
				texts, of = append(texts, text), append(of, h)
			}
		}
		grouped := map[library.AssetHash]bool{}
		for _, p := range prompt.Propose(texts) {
			shown := Proposal{Text: p.Text, Assets: []library.AssetHash{}, Variables: []ProposedVariable{}}
			for _, m := range p.Members {
				shown.Assets, grouped[of[m]] = append(shown.Assets, of[m]), true
			}
			declared, _ := variablesOf(p.Text)
			for _, v := range declared {
				shown.Variables = append(shown.Variables, ProposedVariable{v.Name, p.Values[v.Name]})
			}
			if shown.Exists, err = s.Store.Prompts.OfText(ctx, actor.Tenant, p.Text); err != nil {
				return out, err
			}
			out.Data = append(out.Data, shown)
		}
		for _, h := range in.hashes {
			if !grouped[h] {
				out.LeftOut = append(out.LeftOut, h)
			}
		}
		return out, nil
	})
}
