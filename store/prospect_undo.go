package store

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"vitrine/library"
	"vitrine/outreach"
)

// undoProspectRows takes rows back by further rows, or brings them back the same way, and
// finds out anew who is who.
func undoProspectRows(ctx context.Context, t *Tx, n *Noun, entries []entry) ([]library.Outcome, error) {
	if err := t.lockProspects(ctx); err != nil {
		return nil, err
	}
	var outcomes []library.Outcome
	var touched []library.ProspectHash
	for _, e := range entries {
		of, outcome, err := t.undoProspectRow(ctx, n, e)
		if err != nil {
			return nil, err
		}
		if outcomes = append(outcomes, outcome); of != "" {
			touched = append(touched, of)
		}
	}
	slices.Sort(touched)
	for _, h := range slices.Compact(touched) {
		if err := t.renewKeys(ctx, h); err != nil {
			return nil, err
		}
		if _, err := t.regroup(ctx, []library.ProspectHash{h}, h); err != nil {
			return nil, err
		}
	}
	return outcomes, nil
}

func (t *Tx) undoProspectRow(ctx context.Context, n *Noun, e entry) (of library.ProspectHash, out library.Outcome, err error) {
	out = library.Outcome{Key: e.key, Outcome: library.OutcomeGone, Reason: "it was erased, or taken back before"}
	h, id, _ := strings.Cut(e.key, "/")
	row, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return "", out, err
	}
	rows, err := queryRows(ctx, t, scanProspectRow, `SELECT `+prospectRowColumns+` FROM prospect_rows r WHERE r.tenant_id = $1 AND r.prospect_h = $2 ORDER BY r.row_id`, t.tenant(), h)
	if err != nil {
		return "", out, err
	}
	there := slices.ContainsFunc(rows, func(r outreach.Row) bool { return r.ID == row })
	live := outreach.Live(rows)
	lives := slices.ContainsFunc(live, func(r outreach.Row) bool { return r.ID == row })
	creates := e.before == nil
	if !there || lives != creates {
		return "", out, nil
	}
	if creates && needed(live, row) {
		out.Outcome, out.Reason = library.OutcomeConflict, "touches, replies or a stage of the prospect were recorded since; take those back first, or erase the prospect"
		return "", out, nil
	}
	kind, before, after := outreach.KindRetraction, any(e.after), any(nil)
	if !creates {
		kind, before, after = outreach.KindRestoration, nil, any(e.before)
	}
	if _, err := t.insertRow(ctx, library.ProspectHash(h), kind, NewProspectRow{Source: "undo", Body: outreach.Body{Of: row}}); err != nil {
		return "", out, err
	}
	out.Outcome, out.Reason = library.OutcomeReverted, ""
	return library.ProspectHash(h), out, t.Record(ctx, n, e.key, before, after)
}

// needed reports whether a row is the last profile under what happened to a prospect.
func needed(live []outreach.Row, row int64) bool {
	others, happened, profile := 0, false, false
	for _, r := range live {
		switch r.Kind {
		case outreach.KindProfile:
			if r.ID == row {
				profile = true
			} else {
				others++
			}
		case outreach.KindTouch, outreach.KindReply, outreach.KindContact:
			happened = true
		}
	}
	return profile && others == 0 && happened
}

// renewKeys makes the keys of a record those of its live profiles.
func (t *Tx) renewKeys(ctx context.Context, h library.ProspectHash) error {
	rows, err := queryRows(ctx, t, scanProspectRow, `SELECT `+prospectRowColumns+` FROM prospect_rows r WHERE r.tenant_id = $1 AND r.prospect_h = $2
		AND r.kind IN ('profile', 'retraction', 'restoration')`, t.tenant(), h)
	if err != nil {
		return err
	}
	if _, err := t.Exec(ctx, `DELETE FROM prospect_keys WHERE tenant_id = $1 AND prospect_h = $2`, t.tenant(), h); err != nil {
		return err
	}
	s := outreach.Fold(rows)
	if err := t.addKeys(ctx, h, s.Keys); err != nil {
		return err
	}
	// Keys that come back may be those of somebody else by now.
	found, err := t.membersWith(ctx, s.Keys)
	if err != nil || len(found) == 0 {
		return err
	}
	_, err = t.regroup(ctx, append(hashesOf(found), h), h)
	return err
}

// Erasure is what an erasure removed.
type Erasure struct {
	Records []library.ProspectHash // of the person
	Rows    int64
}

// Erase removes all that is known of a person, by any of the person's records: the rows, the keys, the documents of
// the index and kept responses. Salted marks of the personal keys stay, so that whoever
// registers the person again gets a suppressed prospect. Nothing brings the data back.
func (ps *Prospects) Erase(ctx context.Context, actor library.Actor, which library.ProspectHash) (out Erasure, err error) {
	_, err = ps.s.Write(ctx, actor, func(t *Tx) error {
		if err := t.lockProspects(ctx); err != nil {
			return err
		}
		h, err := prospectIn(ctx, t, t.tenant(), which, " FOR UPDATE OF p")
		if err != nil {
			return err
		}
		if err := t.QueryRow(ctx, `SELECT records, erased FROM erase_prospect($1)`, h).Scan(&out.Records, &out.Rows); err != nil {
			return err
		}
		var left bool // where the owner of the function is kept from rows
		if err := t.QueryRow(ctx, `SELECT EXISTS (SELECT FROM prospect_rows WHERE tenant_id = $1 AND prospect_h = ANY ($2))
			OR EXISTS (SELECT FROM prospect_keys WHERE tenant_id = $1 AND prospect_h = ANY ($2))`, t.tenant(), out.Records).Scan(&left); err != nil {
			return err
		}
		if left {
			return errors.New("erase_prospect left rows: the policies of the prospects' tables are not those of the migrations")
		}
		if _, err := t.Exec(ctx, `UPDATE prospects SET merged_into = NULL, deleted_at = now() WHERE tenant_id = $1 AND prospect_h = ANY ($2)`, t.tenant(), out.Records); err != nil {
			return err
		}
		if err := t.prospectsChanged(ctx, out.Records, "deleted"); err != nil {
			return err
		}
		return t.Audit(ctx, "prospect.erased", string(h), map[string]any{"records": len(out.Records), "rows": out.Rows})
	})
	return out, err
}
