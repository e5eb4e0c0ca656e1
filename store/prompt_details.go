package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/prompt"
)

// MeanScore is the mean of some scores.
type MeanScore struct {
	Mean  float64
	Count int
}

// PromptVersionStats is a version and what became of it.
type PromptVersionStats struct {
	library.PromptVersion
	Images      int       // linked to it, that the actor sees
	Rated       MeanScore // the ratings of those that are rated
	Evaluations int
	Scores      map[string]MeanScore // of the evaluations, per dimension
}

// PromptDetail is a prompt with its versions.
type PromptDetail struct {
	library.Prompt
	Selected PromptVersionStats
	Versions []PromptVersionStats // the newest first
	Total    int                  // versions
	Samples  []library.Asset      // of the selected version: the best rated first, then the newest
}

// Get returns a prompt with its newest versions, at most maxVersions, and pictures of the
// version that ref names; see Version.
func (ps *Prompts) Get(ctx context.Context, actor library.Actor, hash library.PromptHash, ref string, maxVersions, samples int) (d PromptDetail, err error) {
	err = ps.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		if d.Prompt, err = promptIn(ctx, tx, actor.Tenant, hash, ""); err != nil {
			return err
		}
		selected, err := promptVersionIn(ctx, tx, actor.Tenant, hash, ref)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT count(*) OVER (), `+versionOfPromptColumns+` FROM prompt_versions v
			WHERE v.tenant_id = $1 AND v.prompt_h = $2 AND v.deleted_at IS NULL ORDER BY v.number DESC LIMIT $3`, actor.Tenant, hash, maxVersions)
		if err != nil {
			return err
		}
		list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (v PromptVersionStats, err error) {
			err = row.Scan(append([]any{&d.Total}, promptVersionFields(&v.PromptVersion)...)...)
			return v, err
		})
		if err != nil {
			return err
		}
		list = append(list, PromptVersionStats{PromptVersion: selected})
		if err := countPromptVersions(ctx, tx, actor, list); err != nil {
			return err
		}
		d.Versions, d.Selected = list[:len(list)-1], list[len(list)-1]
		d.Samples, _, err = promptImages(ctx, tx, actor, selected.Hash, samples, 0)
		return err
	})
	return d, err
}

// countPromptVersions fills in the images, ratings and evaluations of versions.
func countPromptVersions(ctx context.Context, tx pgx.Tx, actor library.Actor, list []PromptVersionStats) error {
	place, hashes := map[library.PromptVersionHash][]*PromptVersionStats{}, make([]string, len(list))
	for i := range list {
		v := &list[i]
		v.Scores = map[string]MeanScore{}
		place[v.Hash], hashes[i] = append(place[v.Hash], v), string(v.Hash)
	}
	var hash library.PromptVersionHash
	var images int
	var score MeanScore
	rows, err := tx.Query(ctx, `SELECT k.version_h, count(*), coalesce(avg(nullif(a.rating, 0)), 0)::float8, count(nullif(a.rating, 0)) FROM prompt_links k JOIN assets a USING (tenant_id, asset_h)
		WHERE k.tenant_id = $1 AND k.version_h = ANY($2) AND a.trashed_at IS NULL AND `+visibleTo("a", "$3")+` GROUP BY k.version_h`, actor.Tenant, hashes, viewer(actor))
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, []any{&hash, &images, &score.Mean, &score.Count}, func() error {
		for _, v := range place[hash] {
			v.Images, v.Rated = images, score
		}
		return nil
	})
	if err != nil {
		return err
	}
	rows, err = tx.Query(ctx, `SELECT version_h, '', 0::float8, count(*) FROM prompt_evaluations WHERE tenant_id = $1 AND version_h = ANY($2) GROUP BY version_h
		UNION ALL SELECT e.version_h, s.key, avg(s.value::float8), count(*) FROM prompt_evaluations e CROSS JOIN LATERAL jsonb_each_text(e.scores) s
		WHERE e.tenant_id = $1 AND e.version_h = ANY($2) GROUP BY e.version_h, s.key`, actor.Tenant, hashes)
	if err != nil {
		return err
	}
	var dimension string
	_, err = pgx.ForEachRow(rows, []any{&hash, &dimension, &score.Mean, &score.Count}, func() error {
		for _, v := range place[hash] {
			if dimension == "" {
				v.Evaluations = score.Count
			} else {
				v.Scores[dimension] = score
			}
		}
		return nil
	})
	return err
}

// promptImages reads the assets that are linked to a version and that the actor sees, the
// best rated first, then the newest, and how many there are.
func promptImages(ctx context.Context, tx pgx.Tx, actor library.Actor, version library.PromptVersionHash, limit, offset int) (list []library.Asset, total int, err error) {
	where := `tenant_id = $1 AND trashed_at IS NULL AND ` + visibleTo("assets", "$3") + ` AND asset_h IN (SELECT asset_h FROM prompt_links WHERE tenant_id = $1 AND version_h = $2)`
	args := []any{actor.Tenant, version, viewer(actor)}
	if err := tx.QueryRow(ctx, `SELECT count(*) FROM assets WHERE `+where, args...).Scan(&total); err != nil {
		return nil, 0, err
	}
	rows, err := tx.Query(ctx, `SELECT `+assetColumns+` FROM assets WHERE `+where+` ORDER BY rating DESC, created_at DESC, asset_h LIMIT $4 OFFSET $5`, append(args, limit, offset)...)
	if err != nil {
		return nil, 0, err
	}
	list, err = pgx.CollectRows(rows, scanAsset)
	return list, total, err
}

// Images returns the assets whose prompt is a render of a version, the best rated first,
// then the newest, how many there are, and the version.
func (ps *Prompts) Images(ctx context.Context, actor library.Actor, hash library.PromptHash, ref string, limit, offset int) (v library.PromptVersion, list []library.Asset, total int, err error) {
	err = ps.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		if _, err = promptIn(ctx, tx, actor.Tenant, hash, ""); err != nil {
			return err
		}
		if v, err = promptVersionIn(ctx, tx, actor.Tenant, hash, ref); err != nil {
			return err
		}
		list, total, err = promptImages(ctx, tx, actor, v.Hash, limit, offset)
		return err
	})
	return v, list, total, err
}

// Positives returns the extracted prompts of those of some assets that have one and that the
// actor sees.
func (ps *Prompts) Positives(ctx context.Context, actor library.Actor, hashes []library.AssetHash) (map[library.AssetHash]string, error) {
	out := make(map[library.AssetHash]string, len(hashes))
	err := ps.s.readTenant(ctx, actor.Tenant, `SELECT l.asset_h, l.positive FROM lineage l JOIN assets a USING (tenant_id, asset_h)
		WHERE l.tenant_id = $1 AND l.asset_h = ANY($2) AND l.positive <> '' AND a.trashed_at IS NULL AND `+visibleTo("a", "$3"),
		[]any{actor.Tenant, hashes, viewer(actor)}, func(rows pgx.Rows) error {
			var h library.AssetHash
			var text string
			_, err := pgx.ForEachRow(rows, []any{&h, &text}, func() error { out[h] = text; return nil })
			return err
		})
	return out, err
}

// OfText returns the prompt that has a version with a text, or an empty hash.
func (ps *Prompts) OfText(ctx context.Context, tenant library.TenantID, text string) (hash library.PromptHash, err error) {
	err = ps.s.inTenant(ctx, tenant, func(tx pgx.Tx) error {
		found, err := promptOfText(ctx, tx, tenant, prompt.Clean(text))
		hash = found.Prompt.Hash
		return err
	})
	return hash, err
}

// AssetPrompt is a version whose render an asset's prompt is.
type AssetPrompt struct {
	Prompt  library.PromptHash
	Name    string
	Number  int
	Version library.PromptVersionHash
}

// promptsOfAsset reads the versions that asset $2 is linked to.
const promptsOfAsset = `SELECT v.prompt_h, p.name, v.number, v.version_h FROM prompt_links k JOIN prompt_versions v USING (tenant_id, version_h) JOIN prompts p USING (tenant_id, prompt_h)
	WHERE k.tenant_id = $1 AND k.asset_h = $2 AND v.deleted_at IS NULL AND p.deleted_at IS NULL ORDER BY p.updated_at DESC, v.version_h`
