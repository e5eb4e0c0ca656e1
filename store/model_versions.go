package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/store/internal/pg"
)

// modelVersionNoun is a version of a model; its key is the id of its row.
var modelVersionNoun = rowNoun("model_version", &rowTable{table: "model_versions", key: []string{"version_id"}, label: "version_tag", trash: "deleted_at",
	columns: []string{"model_hash", "version_tag", "version_notes", "training_steps", "training_epochs", "training_config", "quality_score",
		"is_recommended", "trained_at", "created_at", "created_by", "deleted_at"}}).trashed("deleted_at", "created", "trashed", "restored")

func init() { register(modelVersionNoun, undoRows) }

const versionColumns = `model_hash, version_tag, version_notes, training_steps, training_epochs, training_config, quality_score, is_recommended,
	trained_at, created_at, created_by, deleted_at`

func scanVersion(row pgx.CollectableRow) (library.ModelVersion, error) {
	var v library.ModelVersion
	err := row.Scan(&v.Model, &v.Tag, &v.Notes, &v.TrainingSteps, &v.TrainingEpochs, &v.TrainingConfig, &v.QualityScore, &v.Recommended,
		&v.TrainedAt, &v.CreatedAt, &v.CreatedBy, &v.DeletedAt)
	return v, err
}

// modelVersions reads a model's versions, the newest first.
func modelVersions(ctx context.Context, tx pgx.Tx, tenant library.TenantID, hash library.ModelHash, deleted bool) ([]library.ModelVersion, error) {
	rows, err := tx.Query(ctx, `SELECT `+versionColumns+` FROM model_versions
		WHERE tenant_id = $1 AND model_hash = $2 AND ($3 OR deleted_at IS NULL)
		ORDER BY coalesce(trained_at, created_at) DESC, version_id DESC`, tenant, hash, deleted)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanVersion)
}

// Versions returns a model's versions, the newest first, with the deleted ones
// if asked; a not-found error when there is no such model.
func (ms *Models) Versions(ctx context.Context, actor library.Actor, hash library.ModelHash, deleted bool) ([]library.ModelVersion, error) {
	var list []library.ModelVersion
	err := ms.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) (err error) {
		if _, err = modelType(ctx, tx, actor, hash); err != nil {
			return err
		}
		list, err = modelVersions(ctx, tx, actor.Tenant, hash, deleted)
		return err
	})
	return list, err
}

// AddVersion adds a version to a model and returns it as stored, with the
// operation that did it. A tag that the model has already is refused.
func (ms *Models) AddVersion(ctx context.Context, actor library.Actor, v library.ModelVersion) (library.ModelVersion, string, error) {
	var config []byte
	if v.TrainingConfig != nil {
		var err error
		if config, err = jsonb(v.TrainingConfig); err != nil {
			return v, "", err
		}
	}
	operation, err := ms.s.Write(ctx, actor, func(t *Tx) error {
		if _, err := modelType(ctx, t, actor, v.Model); err != nil {
			return err
		}
		id := newID()
		return t.Track(ctx, modelVersionNoun, []string{id}, func() error {
			rows, err := t.Query(ctx, `INSERT INTO model_versions (tenant_id, model_hash, version_id, version_tag, version_notes, training_steps,
					training_epochs, training_config, quality_score, is_recommended, trained_at, created_by)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING `+versionColumns,
				t.tenant(), v.Model, id, v.Tag, v.Notes, v.TrainingSteps, v.TrainingEpochs, config, v.QualityScore, v.Recommended,
				v.TrainedAt, actor.ID)
			if err != nil {
				return err
			}
			v, err = pgx.CollectExactlyOneRow(rows, scanVersion)
			if pg.IsUniqueViolation(err) {
				return library.NewError(library.KindConflict, library.CodeNameTaken,
					"This model already has a version with this version_tag. Choose another tag; GetModelVersions lists the existing ones.")
			}
			return err
		})
	})
	return v, operation, err
}
