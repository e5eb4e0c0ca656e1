package store

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"vitrine/internal/retry"
	"vitrine/library"
)

// AssetFacts is what is known of an asset beside its row.
type AssetFacts struct {
	Tool         string
	Positive     *string
	Negative     *string
	ToolVersion  string
	Parameters   library.GenerationParameters
	PromptHash   string // equal prompts have equal hashes, whatever their case and blanks; empty: none
	WorkflowHash string
	PHash        *uint64 // of its picture
	Color        string  // the dominant one, as #rrggbb; empty: not known
	Models       []AssetModelName
	Collections  []Membership
}

// AssetModelName is a model that an asset uses.
type AssetModelName struct {
	Type, Name, BaseModel string // Name is the display name
}

// Membership is that an asset is in a collection.
type Membership struct {
	Collection library.CollectionHash `json:"collection_h"`
	Path       string                 `json:"path"`
	Role       library.MemberRole     `json:"role,omitempty"`
}

// FactKinds chooses what Facts reads.
type FactKinds struct{ Lineage, Models, Collections, Fingerprints bool }

// Join returns what either chooses.
func (k FactKinds) Join(o FactKinds) FactKinds {
	return FactKinds{k.Lineage || o.Lineage, k.Models || o.Models, k.Collections || o.Collections, k.Fingerprints || o.Fingerprints}
}

// Rows returns those of some assets that are in the library and that the actor sees, in the
// order of the hashes, with facts about them.
func (ps *PipelineRuns) Rows(ctx context.Context, actor library.Actor, hashes []library.AssetHash, kinds FactKinds) (list []library.Asset, facts map[library.AssetHash]*AssetFacts, err error) {
	err = ps.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT `+assetColumns+` FROM unnest($2::text[]) WITH ORDINALITY AS k(hash, place) JOIN assets ON tenant_id = $1 AND asset_h = k.hash
			WHERE trashed_at IS NULL AND `+visibleTo("assets", "$3")+` ORDER BY k.place`, actor.Tenant, hashes, viewer(actor))
		if err != nil {
			return err
		}
		if list, err = pgx.CollectRows(rows, scanAsset); err != nil {
			return err
		}
		facts, err = readFacts(ctx, tx, actor.Tenant, hashes, kinds)
		return err
	})
	return list, facts, err
}

// Facts is what is known of some assets beside their rows, within a write.
func (t *Tx) Facts(ctx context.Context, hashes []library.AssetHash, kinds FactKinds) (map[library.AssetHash]*AssetFacts, error) {
	return readFacts(ctx, t, t.tenant(), hashes, kinds)
}

// factPart is a statement about some assets and what each of its rows adds to their facts.
type factPart struct {
	wanted bool
	sql    string
	scan   func(rows pgx.Rows, of map[library.AssetHash]*AssetFacts) error
}

func readFacts(ctx context.Context, tx pgx.Tx, tenant library.TenantID, hashes []library.AssetHash, kinds FactKinds) (map[library.AssetHash]*AssetFacts, error) {
	facts := make(map[library.AssetHash]*AssetFacts, len(hashes))
	for _, h := range hashes {
		facts[h] = &AssetFacts{}
	}
	b := &pgx.Batch{}
	for _, part := range []factPart{
		{kinds.Lineage, `SELECT l.asset_h, l.tool, l.doc, coalesce(` + sharedKey[SamePrompt] + `, ''), coalesce(` + sharedKey[SameWorkflow] + `, '')
			FROM lineage l WHERE l.tenant_id = $1 AND l.asset_h = ANY($2)`, scanLineageFacts},
		{kinds.Models, `SELECT u.asset_h, m.type, m.display_name, m.base_model FROM asset_models u JOIN models m USING (tenant_id, model_hash)
			WHERE u.tenant_id = $1 AND u.asset_h = ANY($2) ORDER BY u.asset_h, u.detection_source <> 'extracted', u.detection_source, u.sequence`, scanModelFacts},
		{kinds.Collections, `SELECT i.asset_h, c.collection_h, c.path, i.role FROM collection_items i JOIN collections c USING (tenant_id, collection_h)
			WHERE i.tenant_id = $1 AND i.asset_h = ANY($2) AND c.deleted_at IS NULL ORDER BY i.asset_h, c.path`, scanMemberships},
		{kinds.Fingerprints, `SELECT asset_h, phash, coalesce(color, '') FROM asset_fingerprints WHERE tenant_id = $1 AND asset_h = ANY($2)`, scanFingerprints},
	} {
		if part.wanted {
			b.Queue(part.sql, tenant, hashes).Query(func(rows pgx.Rows) error {
				for rows.Next() {
					if err := part.scan(rows, facts); err != nil {
						return err
					}
				}
				return rows.Err()
			})
		}
	}
	if b.Len() == 0 {
		return facts, nil
	}
	return facts, tx.SendBatch(ctx, b).Close()
}

func scanLineageFacts(rows pgx.Rows, of map[library.AssetHash]*AssetFacts) error {
	var h library.AssetHash
	var tool, prompt, workflow string
	var raw json.RawMessage
	if err := rows.Scan(&h, &tool, &raw, &prompt, &workflow); err != nil {
		return err
	}
	var doc struct {
		ToolVersion string                        `json:"tool_version"`
		Positive    *string                       `json:"positive"`
		Negative    *string                       `json:"negative"`
		Parameters  *library.GenerationParameters `json:"parameters"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return err
	}
	f := of[h]
	f.Tool, f.ToolVersion, f.Positive, f.Negative, f.PromptHash, f.WorkflowHash = tool, doc.ToolVersion, doc.Positive, doc.Negative, prompt, workflow
	if doc.Parameters != nil {
		f.Parameters = *doc.Parameters
	}
	return nil
}

func scanModelFacts(rows pgx.Rows, of map[library.AssetHash]*AssetFacts) error {
	var h library.AssetHash
	var m AssetModelName
	if err := rows.Scan(&h, &m.Type, &m.Name, &m.BaseModel); err != nil {
		return err
	}
	of[h].Models = append(of[h].Models, m)
	return nil
}

func scanMemberships(rows pgx.Rows, of map[library.AssetHash]*AssetFacts) error {
	var h library.AssetHash
	var m Membership
	if err := rows.Scan(&h, &m.Collection, &m.Path, &m.Role); err != nil {
		return err
	}
	of[h].Collections = append(of[h].Collections, m)
	return nil
}

func scanFingerprints(rows pgx.Rows, of map[library.AssetHash]*AssetFacts) error {
	var h library.AssetHash
	var bits *int64
	var color string
	if err := rows.Scan(&h, &bits, &color); err != nil {
		return err
	}
	of[h].Color = color
	if bits != nil {
		p := uint64(*bits) //nolint:gosec // the same 64 bits
		of[h].PHash = &p
	}
	return nil
}

// keepAlive renews the time of the transaction until it is stopped: for a statement that may
// take long.
func (t *Tx) keepAlive() (stop func()) {
	if t.extend == nil {
		return func() {}
	}
	t.extend()
	return retry.Every(context.Background(), transactionLimit/3, func(context.Context) { t.extend() })
}
