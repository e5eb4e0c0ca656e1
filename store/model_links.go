package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// linkChange is the link of a change before and after it.
type linkChange struct{ before, after library.ModelLink }

func sameLink(l, o library.ModelLink) bool {
	return l.Model == o.Model && l.Source == o.Source && l.Linked == o.Linked && (!l.Linked || sameNumber(l.Weight, o.Weight))
}

// modelLinkNoun is a link of an asset with a model; its key is the asset, the model
// and the source with slashes between them.
var modelLinkNoun = &Noun{name: "model_link"}

func init() { register(modelLinkNoun, undoLinks) }

// linkState is a link as the journal keeps it.
type linkState struct {
	Weight *float64 `json:"weight"`
}

// stateOf returns what the journal keeps of a link; nil when there is none.
func stateOf(l library.ModelLink) any {
	if !l.Linked {
		return nil
	}
	return linkState{l.Weight}
}

func linkKey(hash library.AssetHash, l library.ModelLink) string {
	return string(hash) + "/" + string(l.Model) + "/" + l.Source
}

// Link records that an asset was made with a model, in the word of
// link.Source. The same word again changes only the weight, or nothing. weightless
// is asked whether models of a type have no weight.
func (ms *Models) Link(ctx context.Context, actor library.Actor, hash library.AssetHash, link library.ModelLink,
	weightless func(modelType string) bool) (operationID string, err error) {
	return ms.s.Write(ctx, actor, func(t *Tx) error {
		have, err := lockAssets(ctx, t, t.tenant(), []library.AssetHash{hash})
		if err != nil {
			return err
		}
		a, ok := have[hash]
		if !ok || a.Trashed || !actor.Sees(a) {
			return library.NotFound("asset")
		}
		kind, err := modelType(ctx, t, actor, link.Model)
		if err != nil {
			return err
		}
		if link.Weight != nil && weightless(kind) {
			return library.Invalid(library.FieldError{Field: "model_weight", Code: "conflict",
				Message: "A model of the type " + kind + " is loaded whole and has no weight.", Hint: "Omit model_weight."})
		}
		now, err := currentLink(ctx, t, t.tenant(), hash, link.Model, link.Source)
		if err != nil {
			return err
		}
		link.Linked = true
		return t.changeLink(ctx, a, linkChange{before: now, after: link})
	})
}

// changeLink brings a link from one state to the other. The caller holds the asset's row.
func (t *Tx) changeLink(ctx context.Context, a library.Asset, l linkChange) error {
	if sameLink(l.before, l.after) {
		return nil
	}
	b := &pgx.Batch{}
	batchModelLink(b, t.tenant(), a.Hash, l)
	if err := t.Record(ctx, modelLinkNoun, linkKey(a.Hash, l.after), stateOf(l.before), stateOf(l.after)); err != nil {
		return err
	}
	if err := t.Send(ctx, b); err != nil {
		return err
	}
	_, err := applyChanges(ctx, t, []change{{before: a, after: a, touched: true}})
	return err
}

// modelType returns the type of a model that the actor sees, or a not-found error.
func modelType(ctx context.Context, tx pgx.Tx, actor library.Actor, hash library.ModelHash) (string, error) {
	var kind string
	err := tx.QueryRow(ctx, `SELECT type FROM models m WHERE tenant_id = $1 AND model_hash = $2 AND `+visibleModel("$3"),
		actor.Tenant, hash, viewer(actor)).Scan(&kind)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", library.NotFound("model")
	}
	return kind, err
}

// currentLink returns the link of an asset with a model in the word of a source.
func currentLink(ctx context.Context, tx pgx.Tx, tenant library.TenantID, hash library.AssetHash, model library.ModelHash, source string) (library.ModelLink, error) {
	l := library.ModelLink{Model: model, Source: source}
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

// undoLinks puts links back unless somebody changed them since.
func undoLinks(ctx context.Context, t *Tx, _ *Noun, entries []entry) ([]library.Outcome, error) {
	hashes := make([]library.AssetHash, len(entries))
	for i, e := range entries {
		hash, _, _ := strings.Cut(e.key, "/")
		hashes[i] = library.AssetHash(hash)
	}
	if _, err := lockAssets(ctx, t, t.tenant(), hashes); err != nil {
		return nil, err
	}
	outcomes := make([]library.Outcome, len(entries))
	for i, e := range entries {
		o, err := undoLink(ctx, t, hashes[i], e)
		if err != nil {
			return nil, err
		}
		outcomes[i] = o
	}
	return outcomes, nil
}

func undoLink(ctx context.Context, t *Tx, hash library.AssetHash, e entry) (library.Outcome, error) {
	o := library.Outcome{Key: e.key, Outcome: library.OutcomeReverted}
	before, after, err := e.links()
	if err != nil {
		return o, err
	}
	// Read anew for each link: two links of one asset raise its version twice.
	have, err := lockAssets(ctx, t, t.tenant(), []library.AssetHash{hash})
	if err != nil {
		return o, err
	}
	a, ok := have[hash]
	if !ok || !t.actor.Sees(a) {
		o.Outcome, o.Reason = library.OutcomeGone, "the asset was deleted"
		return o, nil
	}
	now, err := currentLink(ctx, t, t.tenant(), hash, after.Model, after.Source)
	if err != nil {
		return o, err
	}
	if after.Linked && !now.Linked {
		o.Outcome, o.Reason = library.OutcomeGone, "the link was removed since"
		return o, nil
	}
	if !sameLink(now, after) {
		o.Outcome, o.Reason = library.OutcomeKept, "the link to the model was changed again since"
		return o, nil
	}
	return o, t.changeLink(ctx, a, linkChange{before: now, after: before})
}

// links decodes a journal entry of a link.
func (e entry) links() (before, after library.ModelLink, err error) {
	parts := strings.SplitN(e.key, "/", 3)
	if len(parts) != 3 {
		return before, after, fmt.Errorf("%q is no key of a link", e.key)
	}
	side := func(raw json.RawMessage) (l library.ModelLink, err error) {
		l.Model, l.Source, l.Linked = library.ModelHash(parts[1]), parts[2], raw != nil
		if raw != nil {
			var s linkState
			err = json.Unmarshal(raw, &s)
			l.Weight = s.Weight
		}
		return l, err
	}
	if before, err = side(e.before); err != nil {
		return before, after, err
	}
	after, err = side(e.after)
	return before, after, err
}
