package outreach_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"vitrine/internal/randtest"
	"vitrine/outreach"
)

var year2025 = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// naive is the machine as a person would follow it with a calendar: one state of five, what
// it goes back to, and a look at the date before each event.
type naive struct {
	state, below outreach.Sequence
	until        string
	step, length int
}

func (n *naive) today(at time.Time) {
	if n.state == outreach.Suppressed && n.until != "" && n.until <= at.UTC().Format(time.DateOnly) {
		n.state = n.below
	}
}

// set puts a state where it belongs: below a suppression, or in sight.
func (n *naive) set(s outreach.Sequence) {
	if n.below = s; n.state != outreach.Suppressed {
		n.state = s
	}
}

func (n *naive) suppress(until string, at time.Time) {
	if n.state == outreach.Suppressed && (n.until == "" || until != "" && until <= n.until) {
		return
	}
	n.state, n.until = outreach.Suppressed, until
	n.today(at)
}

func (n *naive) follow(r outreach.Row) {
	n.today(r.At)
	switch {
	case r.Touch != nil && r.Touch.Direction != outreach.Inbound:
		n.step++
		if r.Touch.Step > 0 {
			n.step = r.Touch.Step
		}
		if r.Touch.SequenceLength > 0 {
			n.length = r.Touch.SequenceLength
		}
		switch {
		case n.below == outreach.Replied:
		case n.step >= n.length:
			n.set(outreach.Exhausted)
		default:
			n.set(outreach.Active)
		}
	case r.Suppression != nil:
		n.suppress(r.Suppression.Until, r.At)
	case r.Reply != nil:
		switch c := r.Reply.Classification; c {
		case outreach.Positive:
			if n.state == outreach.Suppressed && n.until != "" {
				n.state = n.below
			}
			n.set(outreach.Replied)
		case outreach.OutOfOffice:
		case outreach.NotNow:
			until := r.Reply.SuppressedUntil
			if until == "" {
				until = r.At.UTC().Add(90 * 24 * time.Hour).Format(time.DateOnly)
			}
			n.suppress(until, r.At)
		default:
			n.suppress(r.Reply.SuppressedUntil, r.At)
		}
	}
}

// naiveFold follows rows that were not taken back, in the order in which they happened.
func naiveFold(rows []outreach.Row, now time.Time) *naive {
	n := &naive{state: outreach.NotStarted, below: outreach.NotStarted, length: outreach.DefaultLength}
	var live []outreach.Row
	for _, r := range rows {
		var said outreach.Row
		for _, x := range rows {
			if x.Of == r.ID && x.ID > said.ID {
				said = x
			}
		}
		if r.Of == 0 && said.Kind != outreach.KindRetraction {
			live = append(live, r)
		}
	}
	slices.SortFunc(live, func(a, b outreach.Row) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	for _, r := range live {
		n.follow(r)
	}
	n.today(now)
	return n
}

// randomRows returns two years of rows, recorded in another order than they happened in.
func randomRows(r *rand.Rand) []outreach.Row {
	var rows []outreach.Row
	for id := range int64(1 + r.IntN(60)) {
		row := outreach.Row{ID: id + 1, At: year2025.Add(time.Duration(r.IntN(730*24)) * time.Hour)}
		date := ""
		if r.IntN(2) == 0 {
			date = row.At.AddDate(0, 0, r.IntN(200)-3).Format(time.DateOnly)
		}
		switch k := r.IntN(12); {
		case k < 5:
			row.Kind, row.Touch = outreach.KindTouch, &outreach.Touch{Channel: "email"}
			switch r.IntN(6) {
			case 0:
				row.Touch.Direction = outreach.Inbound
			case 1:
				row.Touch.Step = 1 + r.IntN(8)
			case 2:
				row.Touch.SequenceLength = 1 + r.IntN(9)
			}
		case k < 8:
			classes := []outreach.Classification{outreach.Positive, outreach.NotNow, outreach.NotNow, outreach.NotInterested, outreach.OutOfOffice, outreach.Bounced, outreach.Unsubscribe, outreach.WrongPerson}
			c := classes[r.IntN(len(classes)-r.IntN(2)*3)]
			if c != outreach.NotNow && c != outreach.NotInterested {
				date = ""
			}
			row.Kind, row.Reply = outreach.KindReply, &outreach.Reply{Classification: c, SuppressedUntil: date}
		case k < 10:
			if r.IntN(8) > 0 && date == "" {
				date = row.At.AddDate(0, 1, 0).Format(time.DateOnly)
			}
			row.Kind, row.Suppression = outreach.KindSuppression, &outreach.Suppression{Reason: "not_now", Until: date}
		default:
			if id == 0 {
				continue
			}
			row.Kind, row.Of = outreach.KindRetraction, 1+r.Int64N(id)
			if r.IntN(3) == 0 {
				row.Kind = outreach.KindRestoration
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// TestFold_TwoYearsOfRandomEventsEqualTheNaiveFold compares the fold with the naive machine at
// many times, each with the rows until then, and in any order of the rows.
func TestFold_TwoYearsOfRandomEventsEqualTheNaiveFold(t *testing.T) {
	t.Parallel()
	seen := map[outreach.Sequence]int{}
	for _, seed := range randtest.Seeds(t) {
		r := randtest.NewRand(seed, 17)
		for range randtest.Cases(t, 2000) {
			rows := randomRows(r)
			for range 4 {
				now := year2025.Add(time.Duration(r.IntN(800*24)) * time.Hour)
				until := slices.DeleteFunc(slices.Clone(rows), func(x outreach.Row) bool { return x.Of == 0 && x.At.After(now) })
				want := naiveFold(until, now)
				r.Shuffle(len(until), func(i, j int) { until[i], until[j] = until[j], until[i] })
				got := outreach.Fold(until)
				if got.Status(now) != want.state || got.Sequence != want.below || got.Step != want.step || got.Length != want.length {
					t.Fatalf("seed %d at %s: the fold is %s above %s at step %d of %d, the naive one %s above %s at step %d of %d\n%s", seed, now, got.Status(now), got.Sequence, got.Step, got.Length, want.state, want.below, want.step, want.length, describe(until))
				}
				if x := got.Suppressed(now); (x != nil) != (want.state == outreach.Suppressed) || x != nil && x.Until != want.until {
					t.Fatalf("seed %d at %s: suppressed by %+v instead of until %q\n%s", seed, now, x, want.until, describe(until))
				}
				if due := got.NextDue(); due != nil && got.Suppressed(*due) != nil {
					t.Fatalf("seed %d: the next step is due at %s, while %+v\n%s", seed, due, got.Suppressed(*due), describe(until))
				}
				seen[got.Status(now)]++
			}
		}
	}
	for _, s := range outreach.States {
		if seen[s] < 100 {
			t.Errorf("only %d cases are %s", seen[s], s)
		}
	}
}

func describe(rows []outreach.Row) (out string) {
	for _, r := range rows {
		out += fmt.Sprintf("%d %s %s touch %+v reply %+v suppression %+v of %d\n", r.ID, r.At.Format(time.DateTime), r.Kind, r.Touch, r.Reply, r.Suppression, r.Of)
	}
	return out
}

// TestFold_TheLatestValueOfEachFieldCounts folds profiles, research, deals and owners.
func TestFold_TheLatestValueOfEachFieldCounts(t *testing.T) {
	t.Parallel()
	price, nobody := 12.5, ""
	grace := "grace"
	s := outreach.Fold([]outreach.Row{
		{ID: 1, Kind: outreach.KindProfile, Body: outreach.Body{Profile: &outreach.Profile{Email: "a@example.com", Name: "Ada", Account: "One"}}},
		{ID: 2, Kind: outreach.KindOwner, Body: outreach.Body{Owner: &grace}},
		{ID: 3, Kind: outreach.KindProfile, Body: outreach.Body{Profile: &outreach.Profile{Handle: "@ada", Account: "Two"}}},
		{ID: 4, Kind: outreach.KindDeal, Body: outreach.Body{Deal: &outreach.Deal{AgreedPrice: &price}}},
		{ID: 5, Kind: outreach.KindDeal, Body: outreach.Body{Deal: &outreach.Deal{Currency: "EUR"}}},
		{ID: 6, Kind: outreach.KindProfile, Body: outreach.Body{Profile: &outreach.Profile{Name: "Wrong"}}},
		{ID: 7, Kind: outreach.KindRetraction, Body: outreach.Body{Of: 6}},
	})
	if s.Profile.Name != "Ada" || s.Profile.Account != "Two" || s.Profile.Email != "a@example.com" || len(s.Keys) != 2 || s.Owner != "grace" || *s.Deal.AgreedPrice != 12.5 || s.Deal.Currency != "EUR" {
		t.Errorf("%+v", s)
	}
	if s := outreach.Fold([]outreach.Row{{ID: 1, Kind: outreach.KindOwner, Body: outreach.Body{Owner: &grace}}, {ID: 2, Kind: outreach.KindOwner, Body: outreach.Body{Owner: &nobody}}}); s.Owner != "" {
		t.Errorf("the owner is %q", s.Owner)
	}
}

// TestRow_FieldsNamesWhatIsSetWithoutValues reads the names of fields.
func TestRow_FieldsNamesWhatIsSetWithoutValues(t *testing.T) {
	t.Parallel()
	owner := "grace"
	for _, c := range []struct {
		body outreach.Body
		want []string
	}{
		{outreach.Body{Profile: &outreach.Profile{Email: "secret@example.com", Name: "Secret"}}, []string{"email", "name"}},
		{outreach.Body{Owner: &owner}, []string{"owner"}},
		{outreach.Body{Touch: &outreach.Touch{Channel: "email", Body: "secret"}}, []string{"body", "channel"}},
	} {
		if got := (&outreach.Row{Body: c.body}).Fields(); !slices.Equal(got, c.want) {
			t.Errorf("%v instead of %v", got, c.want)
		}
	}
}

// TestGroup_ARecordThatTiesTwoMakesThemOne has keys that tie and keys that do not.
func TestGroup_ARecordThatTiesTwoMakesThemOne(t *testing.T) {
	t.Parallel()
	member := func(n int, keys ...outreach.Key) outreach.Member {
		return outreach.Member{Hash: fmt.Sprint(n), CreatedAt: year2025.Add(time.Duration(n) * time.Hour), Keys: keys}
	}
	email := func(v string) outreach.Key { return outreach.Key{Kind: outreach.KeyEmail, Value: v} }
	linked := func(v string) outreach.Key {
		return outreach.Key{Kind: outreach.KeyLinkedIn, Value: "linkedin.com/" + v}
	}
	site := outreach.Key{Kind: outreach.KeyWebsite, Value: "example.com"}
	handle := outreach.Key{Kind: outreach.KeyHandle, Value: "ada"}
	for name, c := range map[string]struct {
		members []outreach.Member
		want    string
	}{
		"two emails of one address on LinkedIn": {[]outreach.Member{member(1, email("a"), linked("in/ada")), member(2, email("b"), linked("in/ada"))}, "[1 2]"},
		"a later record ties two":               {[]outreach.Member{member(2, email("a")), member(1, linked("in/ada")), member(3, email("a"), linked("in/ada"))}, "[1 2 3]"},
		"colleagues share a website":            {[]outreach.Member{member(1, email("a"), site), member(2, email("b"), site)}, "[1][2]"},
		"colleagues share a company's page":     {[]outreach.Member{member(1, email("a"), linked("company/x")), member(2, email("b"), linked("company/x"))}, "[1][2]"},
		"a website that gets an email":          {[]outreach.Member{member(1, site), member(2, email("a"), site)}, "[1 2]"},
		"the first email takes the website":     {[]outreach.Member{member(1, site), member(2, email("a"), site), member(3, email("b"), site)}, "[1 2][3]"},
		"a handle of two people":                {[]outreach.Member{member(1, email("a"), handle), member(2, email("b"), handle)}, "[1][2]"},
		"a handle and no other key":             {[]outreach.Member{member(1, email("a"), handle), member(2, handle, site)}, "[1 2]"},
		"nobody has no keys in common":          {[]outreach.Member{member(1), member(2)}, "[1][2]"},
	} {
		for n := range uint64(5) {
			randtest.NewRand(n).Shuffle(len(c.members), func(i, j int) { c.members[i], c.members[j] = c.members[j], c.members[i] })
			got := ""
			for _, g := range outreach.Group(c.members) {
				var hashes []string
				for _, m := range g {
					hashes = append(hashes, m.Hash)
				}
				got += fmt.Sprint(hashes)
			}
			if got != c.want {
				t.Fatalf("%s: %s instead of %s", name, got, c.want)
			}
		}
	}
}
