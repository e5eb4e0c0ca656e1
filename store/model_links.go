package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// ModelLink is somebody's word that an asset was made with a model. It stands
// beside what the asset's file says and is never merged with it.
type ModelLink struct {
	Model  library.ModelHash `json:"model_hash"`
	Source string            `json:"detection_source"` // never "extracted": that is the file's own word
	Weight *float64          `json:"weight,omitempty"`
	Linked bool              `json:"linked"` // false: there is no such link
}

// linkChange is the link of a change before and after it.
type linkChange struct{ before, after ModelLink }

func (l *linkChange) same() bool {
	return l == nil || l.before.equal(l.after)
}

func (l ModelLink) equal(o ModelLink) bool {
	return l.Model == o.Model && l.Source == o.Source && l.Linked == o.Linked && (!l.Linked || sameNumber(l.Weight, o.Weight))
}

// LinkModel records that an asset was made with a model, in the word of
// link.Source. The same word again changes only the weight, or nothing. weightless
// is asked whether models of a type have no weight.
func (s *Store) LinkModel(ctx context.Context, actor library.Actor, tool string, hash library.AssetHash, link ModelLink,
	weightless func(modelType string) bool) (ChangeResult, error) {
	var out ChangeResult
	err := s.retryDeadlock(ctx, actor.Tenant, func(tx pgx.Tx) error {
		have, err := lockAssets(ctx, tx, actor.Tenant, []library.AssetHash{hash})
		if err != nil {
			return err
		}
		a, ok := have[hash]
		if !ok || a.Trashed {
			return library.NotFound("asset")
		}
		kind, err := modelType(ctx, tx, actor.Tenant, link.Model)
		if err != nil {
			return err
		}
		if link.Weight != nil && weightless(kind) {
			return library.Invalid(library.FieldError{Field: "model_weight", Code: "conflict",
				Message: "A model of the type " + kind + " is loaded whole and has no weight.", Hint: "Omit model_weight."})
		}
		now, err := currentLink(ctx, tx, actor.Tenant, hash, link.Model, link.Source)
		if err != nil {
			return err
		}
		link.Linked = true
		out, err = applyChanges(ctx, tx, actor, tool, []change{{before: a, after: a, link: &linkChange{before: now, after: link}}})
		return err
	})
	if err == nil && out.OperationID != "" {
		s.notifyOutbox()
	}
	return out, err
}

// modelType gives a model's type, or a not-found error.
func modelType(ctx context.Context, tx pgx.Tx, tenant library.TenantID, hash library.ModelHash) (string, error) {
	var kind string
	err := tx.QueryRow(ctx, `SELECT type FROM models WHERE tenant_id = $1 AND model_hash = $2`, tenant, hash).Scan(&kind)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", library.NotFound("model")
	}
	return kind, err
}

// currentLink gives the link of an asset with a model in the word of a source.
func currentLink(ctx context.Context, tx pgx.Tx, tenant library.TenantID, hash library.AssetHash, model library.ModelHash, source string) (ModelLink, error) {
	l := ModelLink{Model: model, Source: source}
	err := tx.QueryRow(ctx, `SELECT true, weight FROM asset_models
		WHERE tenant_id = $1 AND asset_h = $2 AND model_hash = $3 AND detection_source = $4`, tenant, hash, model, source).Scan(&l.Linked, &l.Weight)
	if errors.Is(err, pgx.ErrNoRows) {
		return l, nil
	}
	return l, err
}

// batchModelLink brings a link from one state to the other. The asset's row is locked,
// so nobody else takes the same place in its list meanwhile.
func batchModelLink(b *pgx.Batch, tenant library.TenantID, hash library.AssetHash, l linkChange) {
	a := l.after
	switch {
	case !a.Linked:
		b.Queue(`DELETE FROM asset_models WHERE tenant_id = $1 AND asset_h = $2 AND model_hash = $3 AND detection_source = $4`,
			tenant, hash, a.Model, a.Source)
	case l.before.Linked:
		b.Queue(`UPDATE asset_models SET weight = $5 WHERE tenant_id = $1 AND asset_h = $2 AND model_hash = $3 AND detection_source = $4`,
			tenant, hash, a.Model, a.Source, a.Weight)
	default:
		b.Queue(`INSERT INTO asset_models (tenant_id, asset_h, sequence, model_hash, name, weight, detection_source)
			SELECT $1, $2, (SELECT coalesce(max(sequence) + 1, 0) FROM asset_models WHERE tenant_id = $1 AND asset_h = $2 AND detection_source = $4),
				model_hash, name, $5, $4
			FROM models WHERE tenant_id = $1 AND model_hash = $3`, tenant, hash, a.Model, a.Source, a.Weight)
	}
}

// undoLink gives what must become of a link to undo a change of it, or the reason
// why it stays: somebody changed it since.
func undoLink(ctx context.Context, tx pgx.Tx, tenant library.TenantID, hash library.AssetHash, before, after fields) (*linkChange, string, error) {
	if after.Link == nil {
		return nil, "", nil
	}
	now, err := currentLink(ctx, tx, tenant, hash, after.Link.Model, after.Link.Source)
	if err != nil {
		return nil, "", err
	}
	if !now.equal(*after.Link) {
		return nil, "the link to the model was changed again since", nil
	}
	return &linkChange{before: now, after: *before.Link}, "", nil
}
