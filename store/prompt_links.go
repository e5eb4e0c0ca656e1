package store

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/prompt"
)

// An asset whose extracted prompt is a render of a version is linked to it. Which versions
// those are follows from the prompt and the versions that there are, in whichever order
// they came: an upload is compared with the versions in its transaction, and a job
// compares versions that come or go with the assets that are there.

// PromptLinkJob compares the versions of a tenant that came or went with its images.
type PromptLinkJob struct {
	Tenant library.TenantID `json:"tenant_id"`
}

// Kind implements JobArgs.
func (PromptLinkJob) Kind() string { return "link_prompts" }

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
// changes of versions, and makes those that begin later wait for the transaction.
func batchPromptCandidates(b *pgx.Batch, tenant library.TenantID, positive *string) *promptMatch {
	if positive == nil {
		return nil
	}
	m := &promptMatch{prompt: prompt.Read(strings.ReplaceAll(*positive, "\x00", ""))} // as it is stored
	anchors := m.prompt.Anchors()
	if len(anchors) == 0 {
		return nil
	}
	b.Queue(`SELECT pg_advisory_xact_lock_shared(hashtextextended('prompts' || $1, 0))`, string(tenant))
	b.Queue(promptCandidatesSQL, tenant, anchors).Query(func(rows pgx.Rows) (err error) {
		m.candidates, err = pgx.CollectRows(rows, scanPromptCandidate)
		return err
	})
	return m
}

const promptCandidatesSQL = `SELECT version_h, body FROM prompt_versions WHERE tenant_id = $1 AND anchor = ANY($2::bigint[]) AND deleted_at IS NULL ORDER BY version_h`

func scanPromptCandidate(row pgx.CollectableRow) (c promptCandidate, err error) {
	err = row.Scan(&c.version, &c.text)
	return c, err
}

// link links a new asset to the versions that its prompt is a render of.
func (m *promptMatch) link(ctx context.Context, tx pgx.Tx, tenant library.TenantID, asset library.AssetHash) error {
	if m == nil || len(m.candidates) == 0 {
		return nil
	}
	return insertPromptLinks(ctx, tx, tenant, asset, rendered(m.prompt, m.candidates))
}

func insertPromptLinks(ctx context.Context, tx pgx.Tx, tenant library.TenantID, asset library.AssetHash, versions []library.PromptVersionHash) error {
	if len(versions) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `INSERT INTO prompt_links (tenant_id, asset_h, version_h) SELECT $1, $2, unnest($3::text[]) ON CONFLICT DO NOTHING`, tenant, asset, versions)
	return err
}

// relink replaces the links of an asset by what follows from its prompt. The caller holds
// the asset's row of lineage, so that two of them do not mix.
func relink(ctx context.Context, tx pgx.Tx, tenant library.TenantID, asset library.AssetHash, positive *string) error {
	var versions []library.PromptVersionHash
	b := &pgx.Batch{}
	if m := batchPromptCandidates(b, tenant, positive); m != nil {
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		versions = rendered(m.prompt, m.candidates)
	}
	if _, err := tx.Exec(ctx, `DELETE FROM prompt_links WHERE tenant_id = $1 AND asset_h = $2 AND version_h <> ALL(coalesce($3::text[], '{}'))`, tenant, asset, versions); err != nil {
		return err
	}
	return insertPromptLinks(ctx, tx, tenant, asset, versions)
}

// linkPage is how many assets are looked at in one transaction.
const linkPage = 1000

// pendingVersion is a version that came or went and that images are to be compared with.
type pendingVersion struct {
	promptCandidate
	live   bool
	anchor *int64
}

// LinkPending compares versions that came, went or came back with the images of the
// library, and returns how many versions and links that were.
func (ps *Prompts) LinkPending(ctx context.Context, tenant library.TenantID) (versions, links int, err error) {
	var pending []pendingVersion
	err = ps.s.readTenant(ctx, tenant, `SELECT version_h, body, deleted_at IS NULL, anchor FROM prompt_versions WHERE tenant_id = $1 AND linked_at IS NULL`, []any{tenant},
		func(rows pgx.Rows) (err error) {
			pending, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (v pendingVersion, err error) {
				err = row.Scan(&v.version, &v.text, &v.live, &v.anchor)
				return v, err
			})
			return err
		})
	if err != nil || len(pending) == 0 {
		return 0, 0, err
	}
	if links, err = ps.linkAll(ctx, tenant, pending); err != nil {
		return 0, links, err
	}
	var done []library.PromptVersionHash
	var live []bool
	for _, v := range pending {
		done, live = append(done, v.version), append(live, v.live)
	}
	err = ps.s.inTenant(ctx, tenant, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE prompt_versions v SET linked_at = now() FROM unnest($2::text[], $3::boolean[]) AS d(version_h, live)
			WHERE v.tenant_id = $1 AND v.version_h = d.version_h AND (v.deleted_at IS NULL) = d.live`, tenant, done, live)
		return err
	})
	return len(pending), links, err
}

// linkAll compares pending versions with all assets, page by page.
func (ps *Prompts) linkAll(ctx context.Context, tenant library.TenantID, pending []pendingVersion) (links int, err error) {
	anchors := map[int64][]*prompt.Matcher{}
	var all []library.PromptVersionHash
	for _, v := range pending {
		all = append(all, v.version)
		if m := v.matcher(); m != nil && v.live && v.anchor != nil {
			anchors[*v.anchor] = append(anchors[*v.anchor], m)
		}
	}
	for after, more := library.AssetHash(""), true; more; {
		var found []library.AssetHash
		if found, after, more, err = ps.rendersAfter(ctx, tenant, all, anchors, after); err != nil {
			return links, err
		}
		for chunk := range slices.Chunk(found, 100) {
			if err := ps.relinkEach(ctx, tenant, chunk); err != nil {
				return links, err
			}
			links += len(chunk)
		}
	}
	return links, nil
}

// rendersAfter returns, of a page of assets, those that are linked to a version or whose
// prompts a matcher takes, and where the next page begins.
func (ps *Prompts) rendersAfter(ctx context.Context, tenant library.TenantID, linked []library.PromptVersionHash, anchors map[int64][]*prompt.Matcher, after library.AssetHash) (
	found []library.AssetHash, last library.AssetHash, more bool, err error) {
	n := 0
	err = ps.s.readTenant(ctx, tenant, `SELECT l.asset_h, l.positive, EXISTS (SELECT FROM prompt_links k WHERE k.tenant_id = l.tenant_id AND k.asset_h = l.asset_h AND k.version_h = ANY($3))
		FROM lineage l WHERE l.tenant_id = $1 AND l.asset_h > $2 AND l.positive <> '' ORDER BY l.asset_h LIMIT $4`,
		[]any{tenant, after, linked, linkPage}, func(rows pgx.Rows) error {
			var asset library.AssetHash
			var positive string
			var isLinked bool
			_, err := pgx.ForEachRow(rows, []any{&asset, &positive, &isLinked}, func() error {
				n++
				last = asset
				if isLinked || takes(anchors, positive) {
					found = append(found, asset)
				}
				return nil
			})
			return err
		})
	return found, last, n == linkPage, err
}

// takes reports whether one of some matchers takes a prompt.
func takes(anchors map[int64][]*prompt.Matcher, positive string) bool {
	p := prompt.Read(positive)
	for _, a := range p.Anchors() {
		if slices.ContainsFunc(anchors[a], func(m *prompt.Matcher) bool { return m.Matches(p) }) {
			return true
		}
	}
	return false
}

// relinkEach links some assets again. Their rows of lineage are locked first, so the versions
// that are read after are the newest for whoever is the last to do so.
func (ps *Prompts) relinkEach(ctx context.Context, tenant library.TenantID, assets []library.AssetHash) error {
	return ps.s.retryDeadlock(ctx, tenant, func(tx pgx.Tx, _ func()) error {
		if err := lockPromptsShared(ctx, tx, tenant); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT asset_h, positive FROM lineage WHERE tenant_id = $1 AND asset_h = ANY($2) ORDER BY asset_h FOR UPDATE`, tenant, assets)
		if err != nil {
			return err
		}
		type row struct {
			Asset    library.AssetHash
			Positive *string
		}
		list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
		if err != nil {
			return err
		}
		for _, r := range list {
			if err := relink(ctx, tx, tenant, r.Asset, r.Positive); err != nil {
				return err
			}
		}
		return nil
	})
}

// lockPromptsShared takes what lockPrompts waits for. It comes before locks of rows.
func lockPromptsShared(ctx context.Context, tx pgx.Tx, tenant library.TenantID) error {
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock_shared(hashtextextended('prompts' || $1, 0))`, string(tenant))
	return err
}
