package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/outreach"
)

// NewProspect is what is registered at once: a profile with at least one key, and more if there is.
type NewProspect struct {
	Profile  outreach.Profile
	Research *outreach.Research
	Deal     *outreach.Deal
	Owner    *string
	Source   string
}

// Register records a person. Which records are the same person follows from their keys, see
// outreach.Group: the rows go to one that has such a key, or to a new one, and records that they
// tie together are merged into the oldest.
func (ps *Prospects) Register(ctx context.Context, actor library.Actor, n NewProspect) (out ProspectChange, err error) {
	out.OperationID, err = ps.s.Write(ctx, actor, func(t *Tx) (err error) {
		if err := t.lockProspects(ctx); err != nil {
			return err
		}
		out, err = t.register(ctx, n)
		return err
	})
	return out, err
}

// lockProspects makes changes of who is who wait for each other within a tenant.
func (t *Tx) lockProspects(ctx context.Context) error {
	_, err := t.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('prospects' || $1, 0))`, string(t.tenant()))
	return err
}

func (t *Tx) register(ctx context.Context, n NewProspect) (out ProspectChange, err error) {
	keys, _ := n.Profile.Keys()
	members, err := t.membersWith(ctx, keys)
	if err != nil {
		return out, err
	}
	to := targetOf(members, keys)
	if out.Created = to == ""; out.Created {
		if to, err = t.newProspect(ctx); err != nil {
			return out, err
		}
	} else if err := t.roomForRows(ctx, to); err != nil {
		return out, err
	}
	if out.Row, err = t.addRow(ctx, to, NewProspectRow{Source: n.Source, Body: outreach.Body{Profile: &n.Profile}}); err != nil {
		return out, err
	}
	for _, b := range []outreach.Body{{Research: n.Research}, {Deal: n.Deal}, {Owner: n.Owner}} {
		if b.Research != nil || b.Deal != nil || b.Owner != nil {
			if _, err := t.addRow(ctx, to, NewProspectRow{Source: n.Source, Body: b}); err != nil {
				return out, err
			}
		}
	}
	if err := t.addKeys(ctx, to, keys); err != nil {
		return out, err
	}
	root, err := t.regroup(ctx, append(hashesOf(members), to), to)
	if err != nil {
		return out, err
	}
	if err := t.keepSuppressed(ctx, root, keys); err != nil {
		return out, err
	}
	if out.ProspectState, err = prospectState(ctx, t, t.tenant(), root); err != nil {
		return out, err
	}
	for _, m := range members {
		if m.root == m.Hash && library.ProspectHash(m.Hash) != root && slices.Contains(out.Merged, library.ProspectHash(m.Hash)) {
			out.MergedNow++
		}
	}
	return out, nil
}

// newProspect makes a record without rows.
func (t *Tx) newProspect(ctx context.Context) (h library.ProspectHash, err error) {
	var many bool
	if err := t.QueryRow(ctx, `SELECT EXISTS (SELECT FROM prospects WHERE tenant_id = $1 OFFSET $2)`, t.tenant(), library.MaxProspects-1).Scan(&many); err != nil {
		return "", err
	}
	if many {
		return "", library.NewError(library.KindConflict, library.CodeConflict, "The tenant has %d prospects, which is the most it may have.", library.MaxProspects)
	}
	h = library.NewProspectHash()
	_, err = t.Exec(ctx, `INSERT INTO prospects (tenant_id, prospect_h) VALUES ($1, $2)`, t.tenant(), h)
	return h, err
}

func (t *Tx) addKeys(ctx context.Context, h library.ProspectHash, keys []outreach.Key) error {
	kinds, values := splitProspectKeys(keys)
	_, err := t.Exec(ctx, `INSERT INTO prospect_keys (tenant_id, prospect_h, kind, value) SELECT $1, $2, k, v FROM unnest($3::text[], $4::text[]) AS x(k, v) ON CONFLICT DO NOTHING`,
		t.tenant(), h, kinds, values)
	return err
}

func splitProspectKeys(keys []outreach.Key) (kinds, values []string) {
	for _, k := range keys {
		kinds, values = append(kinds, string(k.Kind)), append(values, k.Value)
	}
	return kinds, values
}

// prospectMember is a record with what it was merged into.
type prospectMember struct {
	outreach.Member
	root     string // itself, unless it is merged
	profiles int    // live profiles; 0: it is nobody any more
	deleted  bool
}

func hashesOf(list []prospectMember) (hashes []library.ProspectHash) {
	for _, m := range list {
		hashes = append(hashes, library.ProspectHash(m.Hash))
	}
	return hashes
}

// membersWith returns the records of all persons of whom one has one of some keys, by age.
func (t *Tx) membersWith(ctx context.Context, keys []outreach.Key) ([]prospectMember, error) {
	kinds, values := splitProspectKeys(keys)
	return t.members(ctx, `SELECT coalesce(p.merged_into, p.prospect_h) FROM unnest($2::text[], $3::text[]) AS x(kind, value)
		JOIN prospect_keys k ON k.tenant_id = $1 AND k.kind = x.kind AND k.value = x.value
		JOIN prospects p ON p.tenant_id = $1 AND p.prospect_h = k.prospect_h`, kinds, values)
}

// members returns the records of some persons, who are selected by the record that each was
// merged into, by age.
func (t *Tx) members(ctx context.Context, roots string, args ...any) ([]prospectMember, error) {
	list, err := queryRows(ctx, t, func(row pgx.CollectableRow) (m prospectMember, err error) {
		var kinds, values []string
		err = row.Scan(&m.Hash, &m.CreatedAt, &m.root, &m.deleted, &kinds, &values)
		for i := range kinds {
			m.Keys = append(m.Keys, outreach.Key{Kind: outreach.KeyKind(kinds[i]), Value: values[i]})
		}
		return m, err
	}, `WITH roots AS MATERIALIZED (SELECT DISTINCT r.h FROM (`+roots+`) AS r(h)),
		found AS MATERIALIZED (
			SELECT p.* FROM roots JOIN prospects p ON p.tenant_id = $1 AND p.prospect_h = roots.h
			UNION SELECT p.* FROM roots JOIN prospects p ON p.tenant_id = $1 AND p.merged_into = roots.h)
		SELECT p.prospect_h, p.created_at, coalesce(p.merged_into, p.prospect_h), p.deleted_at IS NOT NULL,
			ARRAY(SELECT k.kind FROM prospect_keys k WHERE k.tenant_id = $1 AND k.prospect_h = p.prospect_h ORDER BY k.kind, k.value),
			ARRAY(SELECT k.value FROM prospect_keys k WHERE k.tenant_id = $1 AND k.prospect_h = p.prospect_h ORDER BY k.kind, k.value)
		FROM found p ORDER BY p.created_at, p.prospect_h`, append([]any{t.tenant()}, args...)...)
	return list, err
}

// targetOf returns the record that a profile with some keys belongs to: the oldest of those
// that have its strongest key and may be the same person, else the next key decides. "" means none.
func targetOf(members []prospectMember, keys []outreach.Key) library.ProspectHash {
	persons := map[string][]outreach.Key{}
	for _, m := range members {
		persons[m.root] = append(persons[m.root], m.Keys...)
	}
	for _, k := range keys {
		for _, m := range members {
			if m.root == m.Hash && slices.Contains(persons[m.root], k) && outreach.Tied(keys, persons[m.root]) {
				return library.ProspectHash(m.Hash)
			}
		}
	}
	return ""
}

// regroup finds out anew who is who among some records and those that they are merged with,
// marks what is merged, unmerged or nobody any more, and has the index look at all that changed and at
// always. It returns the record that stands for always.
func (t *Tx) regroup(ctx context.Context, list []library.ProspectHash, always library.ProspectHash) (root library.ProspectHash, err error) {
	members, err := t.members(ctx, `SELECT coalesce(p.merged_into, p.prospect_h) FROM prospects p WHERE p.tenant_id = $1 AND p.prospect_h = ANY ($2)`, list)
	if err != nil {
		return "", err
	}
	plain := make([]outreach.Member, len(members))
	now := map[string]prospectMember{}
	for i, m := range members {
		plain[i], now[m.Hash] = m.Member, m
	}
	changed := []library.ProspectHash{always}
	for _, group := range outreach.Group(plain) {
		first := group[0].Hash
		for _, m := range group {
			if m.Hash == string(always) {
				root = library.ProspectHash(first)
			}
			nobody := len(m.Keys) == 0
			if was := now[m.Hash]; was.root == first && was.deleted == (nobody || m.Hash != first) {
				continue
			}
			var into *string
			if m.Hash != first {
				into = &first
			}
			if _, err := t.Exec(ctx, `UPDATE prospects SET merged_into = $3, deleted_at = CASE WHEN $4 THEN coalesce(deleted_at, now()) END WHERE tenant_id = $1 AND prospect_h = $2`,
				t.tenant(), m.Hash, into, nobody || into != nil); err != nil {
				return "", err
			}
			changed = append(changed, library.ProspectHash(m.Hash), library.ProspectHash(first), library.ProspectHash(now[m.Hash].root))
		}
	}
	changed = append(changed, root)
	slices.Sort(changed)
	return root, t.prospectsChanged(ctx, slices.Compact(changed), "updated")
}

// keepSuppressed suppresses a prospect for good who has a key of somebody whose data was
// erased.
func (t *Tx) keepSuppressed(ctx context.Context, h library.ProspectHash, keys []outreach.Key) error {
	var salt string
	rows, err := queryRows(ctx, t, pgx.RowTo[string], `SELECT salt FROM prospect_salts WHERE tenant_id = $1`, t.tenant())
	if err != nil || len(rows) == 0 { // nobody was erased
		return err
	}
	salt = rows[0]
	marks := make([]string, len(keys))
	for i, k := range keys {
		sum := sha256.Sum256([]byte(salt + " " + string(k.Kind) + " " + k.Value))
		marks[i] = hex.EncodeToString(sum[:])
	}
	var marked bool
	if err := t.QueryRow(ctx, `SELECT EXISTS (SELECT FROM prospect_marks WHERE tenant_id = $1 AND mark = ANY ($2))`, t.tenant(), marks).Scan(&marked); err != nil || !marked {
		return err
	}
	s, err := prospectState(ctx, t, t.tenant(), h)
	if x := s.Suppressed(time.Now()); err != nil || x != nil && x.Until == "" {
		return err
	}
	_, err = t.addRow(ctx, h, NewProspectRow{Source: "erasure", Body: outreach.Body{Suppression: &outreach.Suppression{Reason: outreach.Erased}}})
	return err
}
