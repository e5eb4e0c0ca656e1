package models

import (
	"context"
	"encoding/json"
	"time"

	"vitrine/library"
	"vitrine/op"
)

type versionsInput struct {
	op.TenantInput
	InModel
	IncludeDeleted bool `json:"include_deleted,omitempty" default:"false" tool:"plain" doc:"Includes deleted versions."`
}

type versionsOutput struct {
	ModelHash library.ModelHash `json:"model_hash"`
	Versions  []versionOutput   `json:"versions" doc:"Newest first, by training date."`
}

// versionOutput is one version of a model.
type versionOutput struct {
	Tag            string          `json:"version_tag"`
	Notes          string          `json:"version_notes"`
	TrainingSteps  *int64          `json:"training_steps" required:"true" nullable:"true"`
	TrainingEpochs *int64          `json:"training_epochs" required:"true" nullable:"true"`
	TrainingConfig json.RawMessage `json:"training_config" doc:"An object, or null."`
	QualityScore   *float64        `json:"quality_score" required:"true" nullable:"true" doc:"0 to 10."`
	Recommended    bool            `json:"is_recommended"`
	TrainedAt      *time.Time      `json:"trained_at" required:"true" nullable:"true"`
	CreatedAt      time.Time       `json:"created_at" doc:"When it was added."`
	CreatedBy      string          `json:"created_by" doc:"The key that added it."`
	DeletedAt      *time.Time      `json:"deleted_at" required:"true" nullable:"true"`
}

func describeVersion(v library.ModelVersion) versionOutput {
	config := v.TrainingConfig
	if config == nil {
		config = json.RawMessage("null")
	}
	return versionOutput{Tag: v.Tag, Notes: v.Notes, TrainingSteps: v.TrainingSteps, TrainingEpochs: v.TrainingEpochs, TrainingConfig: config,
		QualityScore: v.QualityScore, Recommended: v.Recommended, TrainedAt: utc(v.TrainedAt), CreatedAt: v.CreatedAt.UTC(), CreatedBy: v.CreatedBy,
		DeletedAt: utc(v.DeletedAt)}
}

func describeVersions(list []library.ModelVersion) []versionOutput {
	out := make([]versionOutput, len(list))
	for i, v := range list {
		out[i] = describeVersion(v)
	}
	return out
}

func (s *Service) getModelVersions() op.Operation {
	return op.Define(op.Meta{
		Name: "GetModelVersions", Title: "Get a model's versions", Domain: op.Models,
		Doc:    "Returns the versions of a model: training, quality score, and which are recommended.",
		Method: "GET", Path: "/api/v1/models/{model_hash}/versions", Permission: library.PermRead, ReadOnly: true, Idempotent: true,
		Example: map[string]any{"model_hash": exampleModel, "include_deleted": true},
	}, func(ctx context.Context, actor library.Actor, in versionsInput) (versionsOutput, error) {
		list, err := s.Models.Versions(ctx, actor, in.hash(), in.IncludeDeleted)
		return versionsOutput{ModelHash: in.hash(), Versions: describeVersions(list)}, err
	})
}
