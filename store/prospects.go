package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/outreach"
)

// Prospects keeps the people of outreach: rows that are only ever added, and what they add
// up to.
type Prospects struct{ s *Store }

// The nouns of rows; the key of each is prospect_h and row_id. The journal and the audit trail
// have the names of their fields alone, since values are personal data.
var (
	prospectNoun            = prospectRowNoun("prospect", "prospect.registered") // profile, research and deal
	prospectOwnerNoun       = prospectRowNoun("prospect_owner", "prospect.owner_set")
	prospectTouchNoun       = prospectRowNoun("prospect_touch", "prospect.touched")
	prospectReplyNoun       = prospectRowNoun("prospect_reply", "prospect.replied")
	prospectSuppressionNoun = prospectRowNoun("prospect_suppression", "prospect.suppressed")
	contactNoun             = prospectRowNoun("contact", "contact.stage_changed")
)

func init() {
	register(prospectNoun, undoProspectRows)
	register(prospectOwnerNoun, undoProspectRows)
	register(prospectTouchNoun, undoProspectRows)
	register(prospectReplyNoun, undoProspectRows)
	register(prospectSuppressionNoun, undoProspectRows)
	register(contactNoun, undoProspectRows)
}

// prospectRetracted is the type of the event of a row that an undo takes back.
const prospectRetracted = "prospect.row_retracted"

func prospectRowNoun(name, recorded string) *Noun {
	n := &Noun{name: name, personal: true, events: []string{recorded, prospectRetracted}}
	n.event = func(_, after json.RawMessage) string {
		if after == nil {
			return prospectRetracted
		}
		return recorded
	}
	return n
}

// nounOfRow returns the noun of rows of a kind.
func nounOfRow(k outreach.Kind) *Noun {
	switch k {
	case outreach.KindOwner:
		return prospectOwnerNoun
	case outreach.KindTouch:
		return prospectTouchNoun
	case outreach.KindReply:
		return prospectReplyNoun
	case outreach.KindSuppression:
		return prospectSuppressionNoun
	case outreach.KindContact:
		return contactNoun
	}
	return prospectNoun
}

// ProspectState is a prospect with all its live rows.
type ProspectState struct {
	Hash   library.ProspectHash
	Merged []library.ProspectHash // later records of the same person
	outreach.State
}

// ProspectChange is what a write did to a prospect.
type ProspectChange struct {
	ProspectState
	Created     bool // the prospect is new
	MergedNow   int  // records that the write merged into it
	Existing    bool // the row was there already, by its external_id: nothing was written
	Row         outreach.Row
	OperationID string
}

// NewProspectRow is a row to record.
type NewProspectRow struct {
	At         time.Time // zero: now
	Source     string
	ExternalID string
	outreach.Body
}

func (n *NewProspectRow) kind() outreach.Kind {
	switch {
	case n.Profile != nil:
		return outreach.KindProfile
	case n.Research != nil:
		return outreach.KindResearch
	case n.Deal != nil:
		return outreach.KindDeal
	case n.Owner != nil:
		return outreach.KindOwner
	case n.Touch != nil:
		return outreach.KindTouch
	case n.Reply != nil:
		return outreach.KindReply
	case n.Suppression != nil:
		return outreach.KindSuppression
	}
	return outreach.KindContact
}

// addRow adds a row to a prospect and records it.
func (t *Tx) addRow(ctx context.Context, to library.ProspectHash, n NewProspectRow) (outreach.Row, error) {
	r, err := t.insertRow(ctx, to, n.kind(), n)
	if err != nil {
		return r, err
	}
	return r, t.Record(ctx, nounOfRow(r.Kind), rowKey(to, r.ID), nil, fieldsOnly(&r))
}

func (t *Tx) insertRow(ctx context.Context, to library.ProspectHash, kind outreach.Kind, n NewProspectRow) (outreach.Row, error) {
	r := outreach.Row{Prospect: string(to), Kind: kind, At: n.At, RecordedBy: t.actor.ID, Source: n.Source, ExternalID: n.ExternalID, Body: n.Body}
	data, err := jsonb(n.Body)
	if err != nil {
		return r, err
	}
	var at *time.Time
	if !n.At.IsZero() {
		at = &n.At
	}
	err = t.QueryRow(ctx, `INSERT INTO prospect_rows (tenant_id, prospect_h, kind, at, recorded_by, record_source, external_id, data)
		VALUES ($1, $2, $3, coalesce($4, clock_timestamp()), $5, $6, nullif($7, ''), $8) RETURNING row_id, at, recorded_at`,
		t.tenant(), to, kind, at, t.actor.ID, n.Source, n.ExternalID, string(data)).Scan(&r.ID, &r.At, &r.RecordedAt)
	return r, err
}

func rowKey(prospect library.ProspectHash, id int64) string {
	return string(prospect) + "/" + strconv.FormatInt(id, 10)
}

// fieldsOnly is what the journal holds of a row: which fields it has, without their values.
func fieldsOnly(r *outreach.Row) map[string]bool {
	set := map[string]bool{}
	for _, f := range r.Fields() {
		set[f] = true
	}
	return set
}

const prospectRowColumns = `r.row_id, r.prospect_h, r.kind, r.at, r.recorded_at, r.recorded_by, r.record_source, coalesce(r.external_id, ''), r.data`

func prospectRowFields(r *outreach.Row) []any {
	return []any{&r.ID, &r.Prospect, &r.Kind, &r.At, &r.RecordedAt, &r.RecordedBy, &r.Source, &r.ExternalID, &r.Body}
}

func scanProspectRow(row pgx.CollectableRow) (r outreach.Row, err error) {
	err = row.Scan(prospectRowFields(&r)...)
	return r, err
}

// prospectIn finds the record that stands for a person by any of the person's records; lock is a locking
// clause or empty.
func prospectIn(ctx context.Context, tx pgx.Tx, tenant library.TenantID, any library.ProspectHash, lock string) (h library.ProspectHash, err error) {
	err = tx.QueryRow(ctx, `SELECT p.prospect_h FROM prospects p WHERE p.tenant_id = $1 AND p.deleted_at IS NULL
		AND p.prospect_h = (SELECT coalesce(m.merged_into, m.prospect_h) FROM prospects m WHERE m.tenant_id = $1 AND m.prospect_h = $2)`+lock, tenant, any).Scan(&h)
	if errors.Is(err, pgx.ErrNoRows) {
		err = library.NotFound("prospect")
	}
	return h, err
}

// holdProspect finds the record that stands for a person and locks it. One that is merged while this waits for
// the lock is looked for again.
func (t *Tx) holdProspect(ctx context.Context, any library.ProspectHash) (h library.ProspectHash, err error) {
	for range 3 {
		if h, err = prospectIn(ctx, t, t.tenant(), any, " FOR UPDATE OF p"); err == nil || library.AsError(err).Kind != library.KindNotFound {
			return h, err
		}
	}
	return h, err
}

// prospectState reads the rows of a person, whose record is given, and folds them.
func prospectState(ctx context.Context, tx pgx.Tx, tenant library.TenantID, h library.ProspectHash) (s ProspectState, err error) {
	rows, err := queryRows(ctx, tx, scanProspectRow, `SELECT `+prospectRowColumns+` FROM prospect_rows r
		WHERE r.tenant_id = $1 AND r.prospect_h IN (SELECT m.prospect_h FROM prospects m WHERE m.tenant_id = $1 AND (m.prospect_h = $2 OR m.merged_into = $2))
		ORDER BY r.row_id`, tenant, h)
	if err != nil {
		return s, err
	}
	s = ProspectState{Hash: h, State: outreach.Fold(rows)}
	for _, r := range rows {
		if m := library.ProspectHash(r.Prospect); m != h && !slices.Contains(s.Merged, m) {
			s.Merged = append(s.Merged, m)
		}
	}
	slices.Sort(s.Merged)
	return s, nil
}

// State returns what is known of a person, by any of the person's records.
func (ps *Prospects) State(ctx context.Context, actor library.Actor, any library.ProspectHash) (s ProspectState, err error) {
	err = ps.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		h, err := prospectIn(ctx, tx, actor.Tenant, any, "")
		if err != nil {
			return err
		}
		s, err = prospectState(ctx, tx, actor.Tenant, h)
		return err
	})
	return s, err
}

// Add records rows of a prospect: of a touch, a reply, an owner, a suppression or a stage. A row
// with an external_id that a live one of its kind has already is not written again. next
// returns rows that follow from the state with the first ones in it.
func (ps *Prospects) Add(ctx context.Context, actor library.Actor, any library.ProspectHash, n NewProspectRow, next func(ProspectState) []NewProspectRow) (out ProspectChange, err error) {
	out.OperationID, err = ps.s.Write(ctx, actor, func(t *Tx) error {
		out = ProspectChange{}
		h, err := t.holdProspect(ctx, any)
		if err != nil {
			return err
		}
		if found, err := t.sameExternal(ctx, h, n); err != nil || found != nil {
			if err != nil {
				return err
			}
			out.Existing, out.Row = true, *found
			out.ProspectState, err = prospectState(ctx, t, t.tenant(), h)
			return err
		}
		if err := t.roomForRows(ctx, h); err != nil {
			return err
		}
		if out.Row, err = t.addRow(ctx, h, n); err != nil {
			return err
		}
		if out.ProspectState, err = prospectState(ctx, t, t.tenant(), h); err != nil {
			return err
		}
		if next != nil {
			if err := t.addNext(ctx, &out, next(out.ProspectState)); err != nil {
				return err
			}
		}
		return t.prospectsChanged(ctx, []library.ProspectHash{h}, "updated")
	})
	return out, err
}

// addNext adds rows that follow from a row just written.
func (t *Tx) addNext(ctx context.Context, out *ProspectChange, rows []NewProspectRow) error {
	for _, r := range rows {
		if _, err := t.addRow(ctx, out.Hash, r); err != nil {
			return err
		}
	}
	if len(rows) == 0 {
		return nil
	}
	s, err := prospectState(ctx, t, t.tenant(), out.Hash)
	out.ProspectState = s
	return err
}

// sameExternal finds the live row of the same kind with the same external_id. One of another
// person is a conflict.
func (t *Tx) sameExternal(ctx context.Context, h library.ProspectHash, n NewProspectRow) (*outreach.Row, error) {
	if n.ExternalID == "" {
		return nil, nil
	}
	if _, err := t.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('prospect row ' || $1 || $2, 0))`, string(t.tenant()), n.ExternalID); err != nil {
		return nil, err
	}
	list, err := queryRows(ctx, t, scanProspectRow, `SELECT `+prospectRowColumns+` FROM prospect_rows r
		WHERE r.tenant_id = $1 AND r.kind = $2 AND r.external_id = $3 ORDER BY r.row_id`, t.tenant(), n.kind(), n.ExternalID)
	if err != nil {
		return nil, err
	}
	for i := range list {
		rows, err := queryRows(ctx, t, scanProspectRow, `SELECT `+prospectRowColumns+` FROM prospect_rows r WHERE r.tenant_id = $1 AND r.prospect_h = $2 AND (r.row_id = $3 OR (r.data ->> 'of')::bigint = $3) ORDER BY r.row_id`,
			t.tenant(), list[i].Prospect, list[i].ID)
		if err != nil {
			return nil, err
		}
		if len(outreach.Live(rows)) == 0 {
			continue
		}
		whose, err := prospectIn(ctx, t, t.tenant(), library.ProspectHash(list[i].Prospect), "")
		if err != nil || whose != h {
			return nil, library.NewError(library.KindConflict, library.CodeConflict, "Another prospect has a %s with this external_id. Use an id that is unique for each message, such as its Message-ID.", n.kind())
		}
		return &list[i], nil
	}
	return nil, nil
}

// roomForRows refuses a row of a person who has the most already.
func (t *Tx) roomForRows(ctx context.Context, h library.ProspectHash) error {
	var have int
	err := t.QueryRow(ctx, `SELECT count(*) FROM prospect_rows r WHERE r.tenant_id = $1
		AND r.prospect_h IN (SELECT m.prospect_h FROM prospects m WHERE m.tenant_id = $1 AND (m.prospect_h = $2 OR m.merged_into = $2))`, t.tenant(), h).Scan(&have)
	if err == nil && have >= library.MaxProspectRows {
		return library.NewError(library.KindConflict, library.CodeConflict, "The prospect has %d rows, which is the most one may have. Send only what is new.", have)
	}
	return err
}

// prospectsChanged raises the versions of some prospects and has the index look at them again. Their changes
// are recorded by then.
func (t *Tx) prospectsChanged(ctx context.Context, list []library.ProspectHash, reason string) error {
	rows, err := t.Query(ctx, `UPDATE prospects SET doc_version = doc_version + 1, updated_at = now() WHERE tenant_id = $1 AND prospect_h = ANY ($2) RETURNING prospect_h, doc_version`, t.tenant(), list)
	if err != nil {
		return err
	}
	versions := map[string]int64{}
	var key string
	var version int64
	if _, err := pgx.ForEachRow(rows, []any{&key, &version}, func() error { versions[key] = version; return nil }); err != nil {
		return err
	}
	for key, version := range versions {
		if err := t.reindex(ctx, ProspectIndex, key, version, reason); err != nil {
			return err
		}
	}
	return nil
}
