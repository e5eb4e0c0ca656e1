package store

import (
	"context"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/outreach"
)

// RegisterResult is what became of one of several prospects.
type RegisterResult struct {
	Hash       library.ProspectHash
	Created    bool
	Unchanged  bool           // it said nothing new, and nothing was written
	Suppressed bool           // the person is
	Err        *library.Error // it was not registered
}

// RegisterAll registers people as Register does, in one transaction, but those of whom nothing
// new is said. One that is refused does not keep the others back.
func (ps *Prospects) RegisterAll(ctx context.Context, actor library.Actor, list []NewProspect) (out []RegisterResult, operationID string, err error) {
	operationID, err = ps.s.Write(ctx, actor, func(t *Tx) error {
		out = make([]RegisterResult, 0, len(list))
		if err := t.lockProspects(ctx); err != nil {
			return err
		}
		now := time.Now()
		for _, n := range list {
			known, err := t.saysNothingNew(ctx, n)
			if err != nil {
				return err
			}
			if known != nil {
				out = append(out, RegisterResult{Hash: known.Hash, Unchanged: true, Suppressed: known.Suppressed(now) != nil})
				continue
			}
			done, err := t.register(ctx, n)
			if refused := library.AsError(err); err != nil && refused.Kind == library.KindConflict { // before anything was written
				out = append(out, RegisterResult{Err: refused})
				continue
			}
			if err != nil {
				return err
			}
			out = append(out, RegisterResult{Hash: done.Hash, Created: done.Created, Suppressed: done.Suppressed(now) != nil})
			if t.extend != nil {
				t.extend()
			}
		}
		return nil
	})
	return out, operationID, err
}

// saysNothingNew returns the person that a profile is of, where it and what comes with it are known
// already; else nil.
func (t *Tx) saysNothingNew(ctx context.Context, n NewProspect) (*ProspectState, error) {
	keys, _ := n.Profile.Keys()
	members, err := t.membersWith(ctx, keys)
	if err != nil {
		return nil, err
	}
	h := targetOf(members, keys)
	if h == "" {
		return nil, nil
	}
	s, err := prospectState(ctx, t, t.tenant(), h)
	if err != nil {
		return nil, err
	}
	sameWriting(&n.Profile, &s.Profile)
	row := func(id int64, b outreach.Body) outreach.Row { return outreach.Row{ID: id, Body: b} }
	with := []outreach.Row{row(1, outreach.Body{Profile: &s.Profile}), row(2, outreach.Body{Research: s.Research}), row(3, outreach.Body{Deal: s.Deal}), row(4, outreach.Body{Owner: &s.Owner})}
	before := outreach.Fold(with)
	after := outreach.Fold(append(with, row(5, outreach.Body{Profile: &n.Profile}), row(6, outreach.Body{Research: n.Research}), row(7, outreach.Body{Deal: n.Deal}), row(8, outreach.Body{Owner: n.Owner})))
	same := reflect.DeepEqual(before.Profile, after.Profile) && reflect.DeepEqual(before.Research, after.Research) && reflect.DeepEqual(before.Deal, after.Deal) && before.Owner == after.Owner
	if !same {
		return nil, nil
	}
	return &s, nil
}

// sameWriting writes the keys of a profile as another one does, where they are the same.
func sameWriting(p, as *outreach.Profile) {
	for _, f := range []struct {
		kind  outreach.KeyKind
		value *string
		as    string
	}{{outreach.KeyEmail, &p.Email, as.Email}, {outreach.KeyLinkedIn, &p.LinkedInURL, as.LinkedInURL}, {outreach.KeyProfile, &p.ProfileURL, as.ProfileURL},
		{outreach.KeyHandle, &p.Handle, as.Handle}, {outreach.KeyWebsite, &p.Website, as.Website}} {
		a, errA := outreach.NormalizeKey(f.kind, *f.value)
		b, errB := outreach.NormalizeKey(f.kind, f.as)
		if errA == nil && errB == nil && a == b {
			*f.value = f.as
		}
	}
}

// eachPage is how many prospects Each reads at once.
const eachPage = 200

// Each calls fn with every prospect of a tenant, in order of prospect_h. One page after the other is
// read, so a change meanwhile may or may not be seen.
func (ps *Prospects) Each(ctx context.Context, actor library.Actor, fn func(ProspectState) error) error {
	after := library.ProspectHash("")
	for {
		page, err := ps.page(ctx, actor.Tenant, after)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, p := range page {
			if err := fn(p); err != nil {
				return err
			}
		}
		after = page[len(page)-1].Hash
	}
}

// page reads the prospects that follow one.
func (ps *Prospects) page(ctx context.Context, tenant library.TenantID, after library.ProspectHash) (page []ProspectState, err error) {
	err = ps.s.inTenant(ctx, tenant, func(tx pgx.Tx) error {
		type ofPerson struct {
			person library.ProspectHash
			row    outreach.Row
		}
		rows, err := queryRows(ctx, tx, func(r pgx.CollectableRow) (x ofPerson, err error) {
			err = r.Scan(append([]any{&x.person}, prospectRowFields(&x.row)...)...)
			return x, err
		}, `WITH persons AS MATERIALIZED (SELECT p.prospect_h FROM prospects p WHERE p.tenant_id = $1 AND p.deleted_at IS NULL AND p.prospect_h > $2 ORDER BY 1 LIMIT $3),
			records AS (SELECT prospect_h AS person, prospect_h FROM persons UNION ALL SELECT m.merged_into, m.prospect_h FROM persons JOIN prospects m ON m.tenant_id = $1 AND m.merged_into = persons.prospect_h)
			SELECT records.person, `+prospectRowColumns+` FROM records JOIN prospect_rows r ON r.tenant_id = $1 AND r.prospect_h = records.prospect_h ORDER BY 1, 2`, tenant, after, eachPage)
		if err != nil {
			return err
		}
		for len(rows) > 0 {
			person, n := rows[0].person, 0
			var list []outreach.Row
			for n < len(rows) && rows[n].person == person {
				list = append(list, rows[n].row)
				n++
			}
			page, rows = append(page, ProspectState{Hash: person, State: outreach.Fold(list)}), rows[n:]
		}
		return nil
	})
	return page, err
}
