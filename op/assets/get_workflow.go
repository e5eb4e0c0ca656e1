package assets

import (
	"context"
	"encoding/json"
	"strings"

	"vitrine/library"
	"vitrine/op"
)

type workflowInput struct {
	op.TenantInput
	AssetHash string `json:"asset_h" id:"asset" pattern:"^[0-9a-fA-F]{40}$" patternDescription:"a SHA-1 of 40 hex digits" doc:"The asset."`
}

type workflowOutput struct {
	Editor   json.RawMessage `json:"workflow" doc:"The editor's graph, as ComfyUI loads it; null when the file has none."`
	Executed json.RawMessage `json:"prompt" doc:"The executed graph, in the form of ComfyUI's API; null when the file has none."`
}

func (s *Service) getWorkflow() op.Operation {
	return op.Define(op.Meta{
		Name: "GetWorkflow", Title: "Get a workflow graph", Domain: op.Assets,
		Doc:    "Returns the workflow graphs in an asset's file, for loading into ComfyUI.",
		Method: "GET", Path: "/api/v1/assets/{asset_h}/workflow", Permission: library.PermRead, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"asset_h": "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
	}, func(ctx context.Context, actor library.Actor, in workflowInput) (workflowOutput, error) {
		editor, executed, err := s.Store.Assets.Workflow(ctx, actor, library.AssetHash(strings.ToLower(in.AssetHash)))
		if err != nil {
			return workflowOutput{}, err
		}
		if editor == nil && executed == nil {
			return workflowOutput{}, library.NewError(library.KindNotFound, library.CodeNotFound,
				"The asset's file has no workflow graph. GetAssetDetails shows its generation metadata.")
		}
		return workflowOutput{Editor: library.ValidJSON(editor), Executed: library.ValidJSON(executed)}, nil
	})
}
