package models

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/op"
)

type addVersionInput struct {
	op.TenantInput
	InModel
	Tag            string         `json:"version_tag" minLength:"1" maxLength:"100" doc:"For example v2-fp16. Unique within the model."`
	Notes          string         `json:"version_notes,omitempty" maxLength:"5000" tool:"plain" doc:"Release notes."`
	TrainingSteps  *int64         `json:"training_steps,omitempty" minimum:"0" maximum:"1000000000000"`
	TrainingEpochs *int64         `json:"training_epochs,omitempty" minimum:"0" maximum:"1000000000000"`
	TrainingConfig map[string]any `json:"training_config,omitempty" tool:"plain" doc:"Training settings. Any object of at most 64 KiB of JSON, 16 levels, 1,000 names."`
	QualityScore   *float64       `json:"quality_score,omitempty" minimum:"0" maximum:"10" doc:"0 to 10."`
	Recommended    bool           `json:"is_recommended,omitempty" tool:"plain" doc:"Whether it is recommended."`
	TrainedAt      *time.Time     `json:"trained_at,omitempty" tool:"plain" doc:"When it was trained."`
}

// Validate implements op.Validator.
func (in *addVersionInput) Validate() []library.FieldError {
	var errs []library.FieldError
	if in.Tag = strings.TrimSpace(in.Tag); in.Tag == "" {
		errs = append(errs, library.FieldError{Field: "version_tag", Code: "length", Message: "Expected 1 to 100 characters that are not all spaces."})
	}
	if t := in.TrainedAt; t != nil && (t.Year() < 1970 || t.After(time.Now().Add(24*time.Hour))) {
		errs = append(errs, library.FieldError{Field: "trained_at", Code: "range", Message: "Expected a time from 1970 to now.",
			Hint: "Omit it until the version is trained."})
	}
	errs = append(errs, op.CheckObject("training_config", in.TrainingConfig, op.SmallObject)...)
	return errs
}

type addVersionOutput struct {
	ModelHash library.ModelHash `json:"model_hash"`
	Version   versionOutput     `json:"version"`
	op.Undoable
}

func (s *Service) addModelVersion() op.Operation {
	return op.Define(op.Meta{
		Name: "AddModelVersion", Title: "Add a model version", Domain: op.Models,
		Doc:    "Adds a version to a model.",
		More:   "Undoing it deletes the version.",
		Method: "POST", Path: "/api/v1/models/{model_hash}/versions", Permission: library.PermWrite, Status: 201, Chained: true,
		Example: map[string]any{"model_hash": exampleModel, "version_tag": "v2", "version_notes": "Trained on cleaner captions.", "training_steps": 4000, "quality_score": 8.5, "is_recommended": true},
	}, func(ctx context.Context, actor library.Actor, in addVersionInput) (addVersionOutput, error) {
		v := library.ModelVersion{Model: in.hash(), Tag: in.Tag, Notes: in.Notes, TrainingSteps: in.TrainingSteps, TrainingEpochs: in.TrainingEpochs,
			QualityScore: in.QualityScore, Recommended: in.Recommended, TrainedAt: in.TrainedAt}
		if in.TrainingConfig != nil {
			raw, err := json.Marshal(in.TrainingConfig)
			if err != nil {
				return addVersionOutput{}, err
			}
			v.TrainingConfig = raw
		}
		v, operation, err := s.Models.AddVersion(ctx, actor, v)
		if err != nil {
			return addVersionOutput{}, err
		}
		return addVersionOutput{ModelHash: v.Model, Version: describeVersion(v), Undoable: op.Undoable{OperationID: operation}}, nil
	})
}
