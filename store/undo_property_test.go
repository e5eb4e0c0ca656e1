package store_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"vitrine/internal/randtest"
	"vitrine/library"
	"vitrine/outreach"
	"vitrine/store"
	"vitrine/store/storetest"
)

// thing is what one thing of a noun is, field by field; things has all of a noun.
type (
	thing  map[string]string
	things map[string]thing
)

// changes is how one noun is changed and read in a test. Every noun has one: whoever
// adds a noun adds a case here, and the rest of the test is the same for all.
type changes struct {
	read    string                                      // SQL of key and state, an object, of all that there is
	random  func(r *rand.Rand, keys []string) string    // changes something and returns the operation
	trash   string                                      // the field that undoing a creation sets to true; empty: it deletes
	sets    string                                      // a field that is a set, whose members are put back one by one
	refused func(now things, key string, as thing) bool // a rule forbids the thing to be so
	depend  bool                                        // on each other: the store undoes what others need first
}

// TestUndo_OfRandomChangesInRandomOrderEqualsANaiveModel changes things of each noun and
// undoes operations, and undoes of undoes, in any order. What an operation did is seen
// from outside, as the difference of two readings; what undoing it must do follows from that.
func TestUndo_OfRandomChangesInRandomOrderEqualsANaiveModel(t *testing.T) {
	t.Parallel()
	for _, noun := range store.Nouns() {
		for _, seed := range slices.Concat([]uint64{7, 1795326549908841835}, randtest.Seeds(t)) {
			t.Run(fmt.Sprint(noun, " seed ", seed), func(t *testing.T) {
				t.Parallel()
				s := open(t)
				c, ok := s.changesOf(t)[noun]
				if !ok {
					t.Fatalf("no case for the noun %s", noun)
				}
				s.undoRandomly(t, c, rand.New(rand.NewPCG(seed, 1)))
			})
		}
	}
}

// executed is an operation and what it was seen to do.
type executed struct {
	id            string
	before, after things // the things that it changed; missing: not there
}

func (s bench) undoRandomly(t *testing.T, c changes, r *rand.Rand) {
	t.Helper()
	db := storetest.Owner(t, s.url)
	var open []executed
	now := readThings(t, db, c.read)
	undone, created := 0, 0
	for range 120 {
		var id string
		want := now
		var of executed
		if len(open) > 3 && r.IntN(2) == 0 {
			i := r.IntN(len(open))
			of = open[i]
			want = c.undo(now, of)
			result, err := s.Operations.Undo(t.Context(), s.a, of.id, anyone)
			if err != nil {
				t.Fatalf("undoing %+v: %v", of, err)
			}
			if id = result.OperationID; id != "" {
				open = slices.Delete(open, i, i+1)
				undone++
			}
			checkOutcomes(t, of, now, want, result)
		} else {
			id = c.random(r, slices.Sorted(maps.Keys(now)))
			want = nil
		}
		is := readThings(t, db, c.read)
		if want != nil {
			if diff := cmp.Diff(want, is); diff != "" {
				t.Fatalf("after undoing what turned %v into %v (-model +library)\n%s", of.before, of.after, diff)
			}
		}
		if e := difference(now, is); id != "" {
			e.id = id
			open = append(open, e)
			created += len(e.after)
		} else if len(e.before)+len(e.after) > 0 {
			t.Fatalf("a change without an operation: %+v", e)
		}
		now = is
	}
	checkAuditOfJournal(t, db)
	if undone < 10 || created < 20 {
		t.Errorf("only %d operations were undone and %d things changed", undone, created)
	}
}

// checkAuditOfJournal holds the audit trail against the journal: each change is in both,
// under the action that it was, with the same values; of annotations and of what is known of people,
// with the names of the changed fields alone.
func checkAuditOfJournal(t *testing.T, db *pgx.Conn) {
	t.Helper()
	var entries, differ int
	if err := db.QueryRow(t.Context(), `SELECT count(j.key), count(*) FILTER (WHERE a.audit_id IS NULL OR j.key IS NULL)
		FROM journal j FULL JOIN (SELECT * FROM audit WHERE operation_id IS NOT NULL AND action ~ '[.](created|updated|deleted)$') a
		ON a.tenant_id = j.tenant_id AND a.operation_id = j.operation_id AND a.subject = j.key
		  AND a.action = j.noun || CASE WHEN j.before IS NULL THEN '.created' WHEN j.after IS NULL THEN '.deleted' ELSE '.updated' END
		  AND a.detail = CASE WHEN j.noun IN ('annotation', 'publication', 'share', 'prospect', 'prospect_owner', 'prospect_touch', 'prospect_reply', 'prospect_suppression', 'contact', 'webhook') THEN jsonb_build_object('fields',
		    (SELECT jsonb_agg(name ORDER BY name) FROM jsonb_object_keys(coalesce(j.before, '{}') || coalesce(j.after, '{}')) name)) ELSE CASE WHEN j.before IS NULL THEN '{}' ELSE jsonb_build_object('before', j.before) END
		    || CASE WHEN j.after IS NULL THEN '{}' ELSE jsonb_build_object('after', j.after) END END`).Scan(&entries, &differ); err != nil {
		t.Fatal(err)
	}
	if entries < 20 || differ != 0 {
		t.Errorf("%d of %d changes differ in journal and audit trail", differ, entries)
	}
}

// undo is the model: what things must be after an operation is undone.
func (c changes) undo(now things, of executed) things {
	out := c.undoEach(now, now, of)
	for again := out; c.depend; out = again {
		if again = c.undoEach(now, out, of); maps.EqualFunc(out, again, maps.Equal) {
			break
		}
	}
	return out
}

// undoEach undoes what can be undone in things that are out by now.
func (c changes) undoEach(now, out things, of executed) things {
	out = maps.Clone(out)
	for key := range union(of.before, of.after) {
		before, after := of.before[key], of.after[key]
		is, there := now[key]
		var want thing
		switch {
		case after == nil && there, after != nil && !there:
			continue
		case after == nil:
			want = before
		case before == nil && c.trash == "" && maps.Equal(is, after):
			delete(out, key)
			continue
		case before == nil && c.trash == "":
			continue
		case before == nil:
			want = maps.Clone(is)
			if maps.Equal(is, after) || c.sets != "" && is[c.trash] == "false" { // an asset goes to the trash however it was changed
				want[c.trash] = "true"
			}
		default:
			want = c.revert(is, before, after)
		}
		if c.refused == nil || !c.refused(out, key, want) {
			out[key] = want
		}
	}
	return out
}

func (c changes) revert(is, before, after thing) thing {
	want := maps.Clone(is)
	for field := range after {
		switch {
		case before[field] == after[field]:
		case field == c.sets:
			want[field] = putBack(is[field], before[field], after[field])
		case is[field] == after[field]:
			want[field] = before[field]
		}
	}
	return want
}

// putBack removes the members that came and adds those that went.
func putBack(is, before, after string) string {
	members := func(s string) map[string]bool {
		set := map[string]bool{}
		for _, m := range strings.Fields(s) {
			set[m] = true
		}
		return set
	}
	set, was, became := members(is), members(before), members(after)
	for m := range became {
		if !was[m] {
			delete(set, m)
		}
	}
	for m := range was {
		if !became[m] {
			set[m] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(set)), " ")
}

// checkOutcomes holds what an undo reports against what the model says.
func checkOutcomes(t *testing.T, of executed, now, want things, got store.UndoResult) {
	t.Helper()
	var sum int64
	for _, n := range got.Counts {
		sum += n
	}
	if keys := union(of.before, of.after); int(sum) != len(keys) || len(got.Outcomes) != len(keys) {
		t.Errorf("%d outcomes, counted %v, for %d things", len(got.Outcomes), got.Counts, len(keys))
	}
	for _, o := range got.Outcomes {
		moved := !maps.Equal(now[o.Key], want[o.Key])
		if says := o.Outcome == library.OutcomeReverted || o.Outcome == library.OutcomePartial; moved && !says {
			t.Errorf("%+v, yet it changed from %v to %v", o, now[o.Key], want[o.Key])
		}
		if o.Outcome != library.OutcomeReverted && o.Reason == "" {
			t.Errorf("no reason: %+v", o)
		}
		if now[o.Key] == nil && of.after[o.Key] != nil && o.Outcome != library.OutcomeGone {
			t.Errorf("it was gone: %+v", o)
		}
	}
}

func union(a, b things) things {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

func difference(before, after things) executed {
	e := executed{before: things{}, after: things{}}
	for key := range union(before, after) {
		if was, is := before[key], after[key]; !maps.Equal(was, is) || (was == nil) != (is == nil) {
			if was != nil {
				e.before[key] = was
			}
			if is != nil {
				e.after[key] = is
			}
		}
	}
	return e
}

func readThings(t *testing.T, db *pgx.Conn, sql string) things {
	t.Helper()
	rows, err := db.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	all := things{}
	var key string
	var state map[string]json.RawMessage
	if _, err := pgx.ForEachRow(rows, []any{&key, &state}, func() error {
		all[key] = thing{}
		for field, value := range state {
			all[key][field] = strings.Trim(string(value), `"`)
		}
		state = nil
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// changesOf has the cases. All of them work in the tenant a of a fresh library.
func (s bench) changesOf(t *testing.T) map[string]changes {
	return map[string]changes{"asset": s.assetChanges(t), "model_link": s.linkChanges(t), "model_version": s.versionChanges(t), "saved_search": s.savedSearchChanges(t),
		"collection": s.collectionChanges(t), "collection_item": s.collectionItemChanges(t), "annotation": s.annotationChanges(t),
		"prompt": s.promptChanges(t), "prompt_version": s.promptVersionChanges(t), "prompt_label": s.promptLabelChanges(t), "prompt_evaluation": s.promptEvaluationChanges(t),
		"experiment": s.experimentChanges(t), "experiment_run": s.runChanges(t), "run_score": s.scoreChanges(t), "run_comparison": s.comparisonChanges(t),
		"unlinked_duplicate": s.unlinkChanges(t), "pipeline": s.pipelineChanges(t), "rule": s.ruleChanges(t), "webhook": s.webhookChanges(t), "publication": s.publicationChanges(t), "share": s.shareChanges(t),
		"prospect": s.prospectChanges(t, outreach.Body{Profile: &outreach.Profile{}}), "prospect_owner": s.prospectChanges(t, outreach.Body{Owner: new("grace")}),
		"prospect_touch": s.prospectChanges(t, outreach.Body{Touch: &outreach.Touch{Channel: "email"}}), "prospect_reply": s.prospectChanges(t, outreach.Body{Reply: &outreach.Reply{Classification: outreach.NotNow}}),
		"prospect_suppression": s.prospectChanges(t, outreach.Body{Suppression: &outreach.Suppression{Reason: "not_now"}}), "contact": s.prospectChanges(t, outreach.Body{Contact: &outreach.Contact{Pipeline: "investor", Stage: "meeting"}})}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil && library.AsError(err).Code != library.CodeNameTaken {
			t.Fatal(err)
		}
		return v
	}
}

func pick(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }
