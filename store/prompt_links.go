package store

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/prompt"
	"vitrine/store/indexstate"
)

func init() {
	indexstate.AddDocumentPart(`SELECT k.ord, v.prompt_h, v.version_h
		FROM `+indexstate.AssetKeysSQL+` JOIN prompt_links l USING (tenant_id, asset_h) JOIN prompt_versions v USING (tenant_id, version_h)
		WHERE v.deleted_at IS NULL ORDER BY k.ord, v.prompt_h, v.version_h`,
		func(p *indexstate.DocumentPrompt) []any { return []any{&p.Prompt, &p.Version} },
		func(d *indexstate.DocumentRow, p indexstate.DocumentPrompt) { d.Prompts = append(d.Prompts, p) })
}

// An asset whose extracted prompt is a render of a version is linked to it. Which versions
// those are follows from the prompt and the versions that there are, in whichever order
// they came: an upload is compared with the versions in its transaction, and a job
// compares versions that come or go with the assets that are there.

// promptCandidate is a version that a prompt may be a render of.
type promptCandidate struct {
	version library.PromptVersionHash
	text    string
}

// matcher returns what recognizes the version's renders.
func (c promptCandidate) matcher() *prompt.Matcher {
	template, errs := prompt.Parse(c.text)
	if len(errs) > 0 { // by a later release that reads templates otherwise
		return nil
	}
	return template.Matcher()
}

// rendered returns the versions that a prompt is a render of: of those that match, the
// ones with the most fixed words. A template that is a part of another, such as its
// version before something was appended, matches the other's renders by chance only.
func rendered(p prompt.Prompt, candidates []promptCandidate) (list []library.PromptVersionHash) {
	most := -1
	for _, c := range candidates {
		m := c.matcher()
		if m == nil || m.FixedWords() < most || !m.Matches(p) {
			continue
		}
		if m.FixedWords() > most {
			most, list = m.FixedWords(), nil
		}
		list = append(list, c.version)
	}
	return list
}

// promptMatch is an upload while it is compared with the versions.
type promptMatch struct {
	prompt     prompt.Prompt
	candidates []promptCandidate
}

// batchPromptCandidates finds the versions that a prompt may be a render of. It waits for
// changes of versions, and makes those that begin later wait for the transaction. It returns
// nil for a prompt that can be a render of none.
func batchPromptCandidates(b *pgx.Batch, tenant library.TenantID, positive *string) *promptMatch {
	return batchPromptsCandidates(b, tenant, []*string{positive})[0]
}

// batchPromptsCandidates is batchPromptCandidates for several prompts.
func batchPromptsCandidates(b *pgx.Batch, tenant library.TenantID, positives []*string) []*promptMatch {
	out := make([]*promptMatch, len(positives))
	byAnchor := map[int64][]*promptMatch{}
	for i, positive := range positives {
		if positive == nil {
			continue
		}
		m := &promptMatch{prompt: prompt.Read(strings.ReplaceAll(*positive, "\x00", ""))} // as it is stored
		for _, a := range m.prompt.Anchors() {
			if out[i] = m; !slices.Contains(byAnchor[a][max(0, len(byAnchor[a])-1):], m) { // a prompt may have an anchor twice
				byAnchor[a] = append(byAnchor[a], m)
			}
		}
	}
	if len(byAnchor) == 0 {
		return out
	}
	b.Queue(`SELECT pg_advisory_xact_lock_shared(hashtextextended('prompts' || $1, 0))`, string(tenant))
	b.Queue(promptCandidatesSQL, tenant, slices.Collect(maps.Keys(byAnchor))).Query(func(rows pgx.Rows) error {
		var c promptCandidate
		var anchor int64
		_, err := pgx.ForEachRow(rows, []any{&c.version, &c.text, &anchor}, func() error {
			for _, m := range byAnchor[anchor] {
				m.candidates = append(m.candidates, c)
			}
			return nil
		})
		return err
	})
	return out
}

const promptCandidatesSQL = `SELECT version_h, body, anchor FROM prompt_versions WHERE tenant_id = $1 AND anchor = ANY($2::bigint[]) AND deleted_at IS NULL ORDER BY version_h`

// linkPrompts links new assets to the versions that their prompts are renders of. The matches
// are those of the assets, in the same order.
func linkPrompts(ctx context.Context, tx pgx.Tx, tenant library.TenantID, assets []library.AssetHash, matches []*promptMatch) error {
	var linked []library.AssetHash
	var versions []library.PromptVersionHash
	for i, m := range matches {
		if m == nil || len(m.candidates) == 0 {
			continue
		}
		for _, v := range rendered(m.prompt, m.candidates) {
			linked, versions = append(linked, assets[i]), append(versions, v)
		}
	}
	_, err := insertPromptLinks(ctx, tx, tenant, linked, versions)
	return err
}

// insertPromptLinks links assets to versions, pair by pair, and reports whether one was not before.
func insertPromptLinks(ctx context.Context, tx pgx.Tx, tenant library.TenantID, assets []library.AssetHash, versions []library.PromptVersionHash) (added bool, err error) {
	if len(versions) == 0 {
		return false, nil
	}
	tag, err := tx.Exec(ctx, `INSERT INTO prompt_links (tenant_id, asset_h, version_h) SELECT $1::uuid, * FROM unnest($2::text[], $3::text[]) ON CONFLICT DO NOTHING`, tenant, assets, versions)
	return tag.RowsAffected() > 0, err
}

// relink replaces the links of an asset by what follows from its prompt, and reports
// whether they changed. The caller holds the asset's row of lineage, so that two of them do
// not mix.
func relink(ctx context.Context, tx pgx.Tx, tenant library.TenantID, asset library.AssetHash, positive *string) (changed bool, err error) {
	var versions []library.PromptVersionHash
	b := &pgx.Batch{}
	if m := batchPromptCandidates(b, tenant, positive); m != nil {
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return false, err
		}
		versions = rendered(m.prompt, m.candidates)
	}
	gone, err := tx.Exec(ctx, `DELETE FROM prompt_links WHERE tenant_id = $1 AND asset_h = $2 AND version_h <> ALL(coalesce($3::text[], '{}'))`, tenant, asset, versions)
	if err != nil {
		return false, err
	}
	added, err := insertPromptLinks(ctx, tx, tenant, slices.Repeat([]library.AssetHash{asset}, len(versions)), versions)
	return gone.RowsAffected() > 0 || added, err
}

// lockPromptsShared takes what lockPrompts waits for. It comes before locks of rows.
func lockPromptsShared(ctx context.Context, tx pgx.Tx, tenant library.TenantID) error {
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock_shared(hashtextextended('prompts' || $1, 0))`, string(tenant))
	return err
}
