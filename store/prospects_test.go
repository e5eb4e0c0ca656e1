package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/internal/randtest"
	"vitrine/library"
	"vitrine/outreach"
	"vitrine/store"
	"vitrine/store/storetest"
)

func (s bench) prospect(t *testing.T, p outreach.Profile) store.ProspectChange {
	t.Helper()
	got, err := s.Prospects.Register(t.Context(), s.a, store.NewProspect{Profile: p, Source: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (s bench) addProspectRow(t *testing.T, h library.ProspectHash, n store.NewProspectRow) store.ProspectChange {
	t.Helper()
	n.Source = "test"
	got, err := s.Prospects.Add(t.Context(), s.a, h, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// stateOf returns the state of a prospect; nil where there is none.
func (s bench) stateOf(t *testing.T, h library.ProspectHash) *store.ProspectState {
	t.Helper()
	st, err := s.Prospects.State(t.Context(), s.a, h)
	if err != nil {
		if library.AsError(err).Kind != library.KindNotFound {
			t.Fatal(err)
		}
		return nil
	}
	return &st
}

func touchRow(id string) store.NewProspectRow {
	return store.NewProspectRow{ExternalID: id, Body: outreach.Body{Touch: &outreach.Touch{Channel: "email"}}}
}

func TestProspects_ALaterRecordMergesTwoAndAnUndoPartsThem(t *testing.T) {
	t.Parallel()
	s := open(t)
	one := s.prospect(t, outreach.Profile{Email: "ada@example.com", Name: "Ada"})
	two := s.prospect(t, outreach.Profile{LinkedInURL: "linkedin.com/in/ada", Title: "Painter"})
	s.addProspectRow(t, one.Hash, touchRow("1"))
	s.addProspectRow(t, two.Hash, touchRow("2"))
	if one.Hash == two.Hash || !one.Created || !two.Created {
		t.Fatalf("%+v %+v", one, two)
	}
	tie := s.prospect(t, outreach.Profile{Email: "Ada@example.com", LinkedInURL: "https://de.linkedin.com/in/ada/de"})
	if tie.Hash != one.Hash || tie.MergedNow != 1 || tie.Created || len(tie.Touches) != 2 || tie.Step != 2 || tie.Profile.Title != "Painter" {
		t.Errorf("tied: %+v", tie)
	}
	if st := s.stateOf(t, two.Hash); st == nil || st.Hash != one.Hash || !slices.Equal(st.Merged, []library.ProspectHash{two.Hash}) {
		t.Errorf("by the younger record: %+v", st)
	}
	later := s.addProspectRow(t, two.Hash, touchRow("3"))
	undone, err := s.Operations.Undo(t.Context(), s.a, tie.OperationID, anyone)
	if err != nil || undone.Counts[library.OutcomeReverted] != 1 {
		t.Fatalf("%+v %v", undone, err)
	}
	if a, b := s.stateOf(t, one.Hash), s.stateOf(t, two.Hash); len(a.Touches) != 2 || len(b.Touches) != 1 || b.Hash != two.Hash || len(a.Merged) != 0 || later.Hash != one.Hash {
		t.Errorf("parted: %+v and %+v", a, b)
	}
	if redone, err := s.Operations.Undo(t.Context(), s.a, undone.OperationID, anyone); err != nil || s.stateOf(t, two.Hash).Hash != one.Hash {
		t.Errorf("tied again: %+v %v", redone, err)
	}
}

func TestProspects_AnUndoTakesRowsBackUnlessSomethingStandsOnThem(t *testing.T) {
	t.Parallel()
	s := open(t)
	made := s.prospect(t, outreach.Profile{Email: "ada@example.com"})
	touched := s.addProspectRow(t, made.Hash, touchRow("1"))
	if got := s.undo(t, s.a, made.OperationID); got.Outcome != library.OutcomeConflict || s.stateOf(t, made.Hash) == nil {
		t.Errorf("the only profile under a touch: %+v", got)
	}
	gone := s.addProspectRow(t, made.Hash, store.NewProspectRow{Body: outreach.Body{Suppression: &outreach.Suppression{Reason: "unsubscribe"}}})
	if gone.Status(time.Now()) != outreach.Suppressed {
		t.Errorf("%+v", gone)
	}
	if got := s.undo(t, s.a, gone.OperationID); got.Outcome != library.OutcomeReverted || s.stateOf(t, made.Hash).Status(time.Now()) != outreach.Active {
		t.Errorf("a suppression: %+v", got)
	}
	s.undo(t, s.a, touched.OperationID)
	if again := s.addProspectRow(t, made.Hash, touchRow("1")); again.Existing || again.Step != 1 {
		t.Errorf("a touch that was taken back is logged again: %+v", again)
	} else {
		s.undo(t, s.a, again.OperationID)
	}
	other := s.prospect(t, outreach.Profile{Email: "ben@example.com"})
	if got := s.undo(t, s.a, other.OperationID); got.Outcome != library.OutcomeReverted || s.stateOf(t, other.Hash) != nil {
		t.Errorf("a prospect: %+v", got)
	}
	if back := s.prospect(t, outreach.Profile{Email: "ben@example.com"}); !back.Created {
		t.Errorf("the key of one that was taken back is free: %+v", back)
	}
}

func TestProspects_TheSameTouchSentAtOnceIsLoggedOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	made, other := s.prospect(t, outreach.Profile{Email: "ada@example.com"}), s.prospect(t, outreach.Profile{Email: "ben@example.com"})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := s.Prospects.Add(t.Context(), s.a, made.Hash, touchRow("<1@example.com>"), nil); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if _, err := s.Prospects.Register(t.Context(), s.a, store.NewProspect{Profile: outreach.Profile{Email: "eve@example.com"}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if st := s.stateOf(t, made.Hash); len(st.Touches) != 1 {
		t.Errorf("%d touches", len(st.Touches))
	}
	if _, err := s.Prospects.Add(t.Context(), s.a, other.Hash, touchRow("<1@example.com>"), nil); library.AsError(err).Kind != library.KindConflict {
		t.Errorf("the id of another's touch: %v", err)
	}
	if s.prospect(t, outreach.Profile{Email: "eve@example.com"}).Created {
		t.Error("eve was registered by nobody")
	}
}

// TestProspects_RowsAreNeverChanged tries as the service and as the owner of the tables.
func TestProspects_RowsAreNeverChanged(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.prospect(t, outreach.Profile{Email: "ada@example.com"})
	owner := storetest.Owner(t, s.url)
	for _, sql := range []string{`UPDATE prospect_rows SET data = '{}'`, `DELETE FROM prospect_rows`, `TRUNCATE prospect_rows CASCADE`} {
		if _, err := owner.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "only ever added") {
			t.Errorf("the owner's %s: %v", sql, err)
		}
	}
	for _, right := range []string{"UPDATE", "DELETE", "TRUNCATE"} {
		var has bool
		if err := owner.QueryRow(t.Context(), `SELECT has_table_privilege('vitrine_app', 'prospect_rows', $1) OR has_table_privilege('vitrine_indexer', 'prospect_rows', $1)`, right).Scan(&has); err != nil || has {
			t.Errorf("%s: %v %v", right, has, err)
		}
	}
}

// everything returns all rows of all tables as text, by table.
func everything(t *testing.T, owner *pgx.Conn) map[string]string {
	t.Helper()
	rows, err := owner.Query(t.Context(), `SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace`)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range names {
		var text *string
		if err := owner.QueryRow(t.Context(), `SELECT string_agg(x::text, E'\n') FROM `+pgx.Identifier{name}.Sanitize()+` x`).Scan(&text); err != nil {
			t.Fatal(err)
		}
		if text != nil {
			out[name] = *text
		}
	}
	return out
}

// TestProspects_AnErasureLeavesNothingButAMark looks for what was said of a person in every
// row of every table: before, in the rows and keys alone, so neither in the journal nor in the
// audit trail nor in events; after, nowhere.
func TestProspects_AnErasureLeavesNothingButAMark(t *testing.T) {
	t.Parallel()
	erasureLeavesAMark(t, open(t))
}

// TestProspects_AnErasureAndPublicPagesNeedNoSuperuser is the case of a managed server, where row level security
// binds the owner of the functions too that run as the owner.
func TestProspects_AnErasureAndPublicPagesNeedNoSuperuser(t *testing.T) {
	t.Parallel()
	s := openAsOwner(t)
	erasureLeavesAMark(t, s)
	p, _, err := s.Shares.Create(t.Context(), s.a, shareOf("x", add(t, s, s.a, file("shared.png", "a")).Asset.Hash), false)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := s.Publications.Find(t.Context(), p.Segment, p.Slug); err != nil || found.ID != p.ID {
		t.Errorf("%+v %v", found, err)
	}
	made := s.prospect(t, outreach.Profile{Email: "cy@example.com"})
	if _, err := storetest.Owner(t, s.url).Exec(t.Context(), `DROP POLICY erase ON prospect_rows; DROP POLICY owner ON prospect_rows`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prospects.Erase(t.Context(), s.a, made.Hash); err == nil || s.stateOf(t, made.Hash) == nil {
		t.Errorf("an erasure that cannot see the rows: %v", err)
	}
}

func erasureLeavesAMark(t *testing.T, s bench) {
	t.Helper()
	const secret = "zyxsecret"
	made := s.prospect(t, outreach.Profile{Email: secret + "@example.com", Name: secret, Account: secret})
	s.prospect(t, outreach.Profile{LinkedInURL: "linkedin.com/in/" + secret})
	tied := s.prospect(t, outreach.Profile{LinkedInURL: "linkedin.com/in/" + secret, Email: secret + "@example.com"})
	owner := secret
	for _, b := range []outreach.Body{{Owner: &owner}, {Touch: &outreach.Touch{Channel: "email", Subject: secret, Body: secret}}, {Reply: &outreach.Reply{Classification: outreach.Positive, Text: secret}},
		{Contact: &outreach.Contact{Pipeline: "investor", FirmName: secret}}} {
		s.addProspectRow(t, made.Hash, store.NewProspectRow{Body: b, ExternalID: secret})
	}
	if r, err := s.Idempotency.Begin(t.Context(), s.a.Tenant, "key", "k", [32]byte{1}); !r.Claimed || err != nil {
		t.Fatal(err)
	}
	if err := s.Idempotency.Finish(t.Context(), s.a.Tenant, "key", "k", []byte(`{"prospect_h": "`+string(made.Hash)+`", "name": "`+secret+`"}`), ""); err != nil {
		t.Fatal(err)
	}
	kept := s.prospect(t, outreach.Profile{Email: "ben@example.com"})
	admin := storetest.Owner(t, s.url)
	for table, text := range everything(t, admin) {
		if has := strings.Contains(text, secret); has != slices.Contains([]string{"prospect_rows", "prospect_keys", "idempotency"}, table) {
			t.Errorf("before: %s has it: %v", table, has)
		}
	}
	if _, err := s.Prospects.Erase(t.Context(), s.b, made.Hash); library.AsError(err).Kind != library.KindNotFound {
		t.Errorf("another tenant erases: %v", err)
	}
	done, err := s.Prospects.Erase(t.Context(), s.a, made.Hash)
	if err != nil || len(done.Records) != 2 || done.Rows != 7 {
		t.Errorf("%+v %v", done, err)
	}
	for table, text := range everything(t, admin) {
		if strings.Contains(text, secret) {
			t.Errorf("after: %s still has it", table)
		}
	}
	if s.stateOf(t, made.Hash) != nil || s.stateOf(t, kept.Hash) == nil {
		t.Error("the wrong one was erased")
	}
	if undone, err := s.Operations.Undo(t.Context(), s.a, tied.OperationID, anyone); err != nil || undone.Counts[library.OutcomeGone] != 1 {
		t.Errorf("an undo of what was erased: %+v %v", undone, err)
	}
	again := s.prospect(t, outreach.Profile{Email: strings.ToUpper(secret) + "@example.com"})
	if x := again.Suppressed(time.Now()); !again.Created || x == nil || x.Until != "" || x.Reason != outreach.Erased {
		t.Errorf("registered again: %+v", again)
	}
	elsewhere, err := s.Prospects.Register(t.Context(), s.b, store.NewProspect{Profile: outreach.Profile{Email: secret + "@example.com"}})
	if err != nil || elsewhere.Suppressed(time.Now()) != nil {
		t.Errorf("in another tenant: %+v %v", elsewhere, err)
	}
}

// TestProspects_WhoIsWhoFollowsFromTheRowsHoweverTheyCame registers random profiles of few
// keys, takes some back and brings some of those back, and compares who is who with what
// outreach.Group finds in the live rows.
func TestProspects_WhoIsWhoFollowsFromTheRowsHoweverTheyCame(t *testing.T) {
	t.Parallel()
	s := open(t)
	admin := storetest.Owner(t, s.url)
	randtest.Run(t, func(t *testing.T, r *rand.Rand) {
		var last []string
		some := func(form string, n int) string {
			if k := r.IntN(2 * n); k < n {
				return fmt.Sprintf(form, k)
			}
			return ""
		}
		space := r.Uint32()
		for i := range randtest.Cases(t, 60) {
			if len(last) > 0 && r.IntN(4) == 0 {
				k := r.IntN(len(last))
				if undone, err := s.Operations.Undo(t.Context(), s.a, last[k], anyone); err != nil {
					t.Fatal(err)
				} else if last = slices.Delete(last, k, k+1); undone.OperationID != "" {
					last = append(last, undone.OperationID)
				}
			} else {
				p := outreach.Profile{Email: some("e%d@"+fmt.Sprint("m", space)+".example", 6), LinkedInURL: some("linkedin.com/in/l%d-"+fmt.Sprint(space), 6), Handle: some("h%d-"+fmt.Sprint(space), 3), Website: some("w%d.s"+fmt.Sprint(space)+".example", 3)}
				if keys, _ := p.Keys(); len(keys) == 0 {
					continue
				}
				last = append(last, s.prospect(t, p).OperationID)
			}
			if i%5 == 0 {
				compareGroups(t, admin)
			}
		}
		compareGroups(t, admin)
	})
}

// compareGroups compares the records of all prospects with what their rows say.
func compareGroups(t *testing.T, admin *pgx.Conn) {
	t.Helper()
	rows, err := admin.Query(t.Context(), `SELECT p.prospect_h, p.created_at, coalesce(p.merged_into, ''), p.deleted_at IS NOT NULL FROM prospects p ORDER BY 2, 1`)
	if err != nil {
		t.Fatal(err)
	}
	var members []outreach.Member
	is := map[string]string{}
	var h, into string
	var at time.Time
	var deleted bool
	if _, err := pgx.ForEachRow(rows, []any{&h, &at, &into, &deleted}, func() error {
		members = append(members, outreach.Member{Hash: h, CreatedAt: at})
		is[h] = fmt.Sprint(into, " ", deleted)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for i := range members {
		var recorded []outreach.Row
		rows, err := admin.Query(t.Context(), `SELECT row_id, kind, data FROM prospect_rows WHERE prospect_h = $1`, members[i].Hash)
		if err != nil {
			t.Fatal(err)
		}
		var r outreach.Row
		if _, err := pgx.ForEachRow(rows, []any{&r.ID, &r.Kind, &r.Body}, func() error { recorded = append(recorded, r); r = outreach.Row{}; return nil }); err != nil {
			t.Fatal(err)
		}
		members[i].Keys = outreach.Fold(recorded).Keys
	}
	for _, g := range outreach.Group(members) {
		for i, m := range g {
			want := fmt.Sprint("", " ", len(m.Keys) == 0)
			if i > 0 {
				want = g[0].Hash + " true"
			}
			if is[m.Hash] != want {
				t.Fatalf("the record %s is %q, and should be %q: %+v", m.Hash, is[m.Hash], want, g)
			}
		}
	}
}

// prospectChanges records rows of one kind, of three prospects. What there is of the noun are
// the rows that were not taken back; one of another noun's kind is recorded to make each prospect.
func (s bench) prospectChanges(t *testing.T, body outreach.Body) changes {
	kind := (&outreach.Row{Body: body}).Fields()
	made := sync.OnceValue(func() (list []library.ProspectHash) {
		for i := range 3 {
			list = append(list, s.prospect(t, outreach.Profile{Email: fmt.Sprintf("made%d@example.com", i)}).Hash)
		}
		return list
	})
	column := "profile"
	switch {
	case body.Owner != nil:
		column = "owner"
	case body.Touch != nil:
		column = "touch"
	case body.Reply != nil:
		column = "reply"
	case body.Suppression != nil:
		column = "suppression"
	case body.Contact != nil:
		column = "contact"
	}
	return changes{read: `SELECT r.prospect_h || '/' || r.row_id, jsonb_build_object('kind', r.kind) FROM prospect_rows r WHERE r.kind = '` + column + `' AND r.data::text NOT LIKE '%made%'
		AND 'retraction' IS DISTINCT FROM (SELECT x.kind FROM prospect_rows x WHERE x.data ->> 'of' = r.row_id::text ORDER BY x.row_id DESC LIMIT 1)`,
		random: func(r *rand.Rand, _ []string) string {
			if len(kind) == 0 {
				return s.prospect(t, outreach.Profile{Email: pick(r, "a", "b", "c") + "@example.com", Handle: pick(r, "", "x", "y")}).OperationID
			}
			return s.addProspectRow(t, made()[r.IntN(3)], store.NewProspectRow{Body: body}).OperationID
		}}
}
