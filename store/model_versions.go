package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// ModelVersion is one version of a model that somebody keeps notes on. A nil
// pointer means that nobody said.
type ModelVersion struct {
	Model          library.ModelHash
	Tag            string // unique among the model's versions that are not deleted
	Notes          string
	TrainingSteps  *int64
	TrainingEpochs *int64
	TrainingConfig json.RawMessage // an object, or nil
	QualityScore   *float64        // 0 to 10
	Recommended    bool
	TrainedAt      *time.Time
	CreatedAt      time.Time
	CreatedBy      string // actor id
	DeletedAt      *time.Time
}

const versionColumns = `model_hash, version_tag, version_notes, training_steps, training_epochs, training_config, quality_score, is_recommended,
	trained_at, created_at, created_by, deleted_at`

func scanVersion(row pgx.CollectableRow) (ModelVersion, error) {
	var v ModelVersion
	err := row.Scan(&v.Model, &v.Tag, &v.Notes, &v.TrainingSteps, &v.TrainingEpochs, &v.TrainingConfig, &v.QualityScore, &v.Recommended,
		&v.TrainedAt, &v.CreatedAt, &v.CreatedBy, &v.DeletedAt)
	return v, err
}

// modelVersions reads a model's versions, the newest first.
func modelVersions(ctx context.Context, tx pgx.Tx, tenant library.TenantID, hash library.ModelHash, deleted bool) ([]ModelVersion, error) {
	rows, err := tx.Query(ctx, `SELECT `+versionColumns+` FROM model_versions
		WHERE tenant_id = $1 AND model_hash = $2 AND ($3 OR deleted_at IS NULL)
		ORDER BY coalesce(trained_at, created_at) DESC, version_id DESC`, tenant, hash, deleted)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanVersion)
}

// ModelVersions gives a model's versions, the newest first, with the deleted ones
// if asked; a not-found error when there is no such model.
func (s *Store) ModelVersions(ctx context.Context, tenant library.TenantID, hash library.ModelHash, deleted bool) ([]ModelVersion, error) {
	var list []ModelVersion
	err := s.inTenant(ctx, tenant, func(tx pgx.Tx) (err error) {
		if _, err = modelType(ctx, tx, tenant, hash); err != nil {
			return err
		}
		list, err = modelVersions(ctx, tx, tenant, hash, deleted)
		return err
	})
	return list, err
}

// AddModelVersion adds a version to a model and gives it as stored, with the
// operation that did it. A tag that the model has already is refused.
func (s *Store) AddModelVersion(ctx context.Context, actor library.Actor, tool string, v ModelVersion) (ModelVersion, string, error) {
	operation := newID()
	var config []byte
	if v.TrainingConfig != nil {
		var err error
		if config, err = jsonb(v.TrainingConfig); err != nil {
			return v, "", err
		}
	}
	err := s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		if _, err := modelType(ctx, tx, actor.Tenant, v.Model); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `INSERT INTO model_versions (tenant_id, model_hash, version_id, version_tag, version_notes, training_steps,
				training_epochs, training_config, quality_score, is_recommended, trained_at, created_by, operation_id)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) RETURNING `+versionColumns,
			actor.Tenant, v.Model, newID(), v.Tag, v.Notes, v.TrainingSteps, v.TrainingEpochs, config, v.QualityScore, v.Recommended,
			v.TrainedAt, actor.ID, operation)
		if err != nil {
			return err
		}
		if v, err = pgx.CollectExactlyOneRow(rows, scanVersion); isUniqueViolation(err) {
			return library.NewError(library.KindConflict, library.CodeNameTaken,
				"This model already has a version with this version_tag. Choose another tag; GetModelVersions lists the existing ones.")
		} else if err != nil {
			return err
		}
		b := &pgx.Batch{}
		batchOperation(b, actor, operation, tool)
		batchAudit(b, actor, "model.version_added", string(v.Model), operation, map[string]any{"version_tag": v.Tag})
		return tx.SendBatch(ctx, b).Close()
	})
	if err != nil {
		return v, "", err
	}
	return v, operation, nil
}

// UndoneVersion is a model version that an undo took away or brought back.
type UndoneVersion struct {
	Model   library.ModelHash
	Tag     string
	Deleted bool // false: it is back
}

// undoVersions takes away the versions that an operation added, and brings back
// those that it took away.
func undoVersions(ctx context.Context, tx pgx.Tx, actor library.Actor, tool, operation string, out *UndoResult) error {
	rows, err := tx.Query(ctx, `SELECT model_hash, version_tag, deleted_at IS NULL FROM model_versions
		WHERE tenant_id = $1 AND (operation_id = $2 AND deleted_at IS NULL OR deleted_by = $2) ORDER BY version_id FOR UPDATE`,
		actor.Tenant, operation)
	if err != nil {
		return err
	}
	if out.Versions, err = pgx.CollectRows(rows, pgx.RowToStructByPos[UndoneVersion]); err != nil || len(out.Versions) == 0 {
		return err
	}
	b := &pgx.Batch{}
	if out.OperationID == "" {
		out.OperationID = newID()
		batchOperation(b, actor, out.OperationID, tool)
	}
	b.Queue(`UPDATE model_versions SET operation_id = CASE WHEN deleted_at IS NULL THEN operation_id ELSE $3 END,
			deleted_by = CASE WHEN deleted_at IS NULL THEN $3 END, deleted_at = CASE WHEN deleted_at IS NULL THEN now() END
		WHERE tenant_id = $1 AND (operation_id = $2 AND deleted_at IS NULL OR deleted_by = $2)`, actor.Tenant, operation, out.OperationID)
	for _, v := range out.Versions {
		action := "model.version_restored"
		if v.Deleted {
			action = "model.version_deleted"
		}
		batchAudit(b, actor, action, string(v.Model), out.OperationID, map[string]any{"version_tag": v.Tag})
	}
	err = tx.SendBatch(ctx, b).Close()
	if isUniqueViolation(err) {
		return library.NewError(library.KindConflict, library.CodeNameTaken,
			"The version cannot be restored: the model has another version with its version_tag now.")
	}
	return err
}
