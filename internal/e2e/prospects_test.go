package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/service/servicetest"
)

const fair = "spring fair"

// sales is a tenant of its own with a client.
type sales struct {
	*servicetest.Env
	api *client.Client
	key string
}

func newSales(t *testing.T) sales {
	t.Helper()
	e := servicetest.Shared(t)
	key := e.NewKey(e.NewTenant(strings.ToLower(t.Name())), allPermissions...)
	return sales{e, e.Client(key), key}
}

func (s sales) register(p client.ProspectPerson) client.RegisterProspectOutput {
	s.T.Helper()
	out, err := s.api.RegisterProspect(s.T.Context(), client.RegisterProspectInput{Prospect: p, RecordSource: fair})
	if err != nil {
		s.T.Fatal(err)
	}
	return out
}

func (s sales) state(h string) client.GetProspectStateOutput {
	s.T.Helper()
	out, err := s.api.GetProspectState(s.T.Context(), client.GetProspectStateInput{ProspectH: h})
	if err != nil {
		s.T.Fatal(err)
	}
	return out
}

func (s sales) touch(h, id string) client.LogOutreachTouchOutput {
	s.T.Helper()
	out, err := s.api.LogOutreachTouch(s.T.Context(), client.LogOutreachTouchInput{ProspectH: h, Touch: client.ProspectTouchFields{Channel: "email", ExternalID: id}, RecordSource: fair})
	if err != nil {
		s.T.Fatal(err)
	}
	return out
}

func (s sales) reply(h string, r client.ProspectReplyFields) client.LogReplyOutput {
	s.T.Helper()
	out, err := s.api.LogReply(s.T.Context(), client.LogReplyInput{ProspectH: h, Reply: r, RecordSource: fair})
	if err != nil {
		s.T.Fatal(err)
	}
	return out
}

func (s sales) find(in client.SearchProspectsInput) (names []string) {
	s.T.Helper()
	var out client.SearchProspectsOutput
	servicetest.Eventually(s.T, "the index shows the write", func() (err error) {
		if out, err = s.api.SearchProspects(s.T.Context(), in); err == nil && slices.Contains(out.Degraded, "index_behind") {
			err = errors.New("the index is behind")
		}
		return err
	})
	for _, p := range out.Data {
		names = append(names, p.Name)
	}
	return names
}

// TestProspects_GoFromTheFirstTouchToAContact is one prospect's way, with what every step
// shows over REST and in searches.
func TestProspects_GoFromTheFirstTouchToAContact(t *testing.T) {
	t.Parallel()
	s := newSales(t)
	score := 80.0
	made := s.register(client.ProspectPerson{Email: "Ada@Example.com ", Name: "Ada", Account: "Example Studios", Campaign: "Spring", IcpScore: &score, Owner: "grace", Summary: "Paints harbours.", Pains: []string{"loses renders"}})
	if !made.Created || !made.ResearchRecorded || made.DealRecorded || made.State.Status != "not_started" {
		t.Errorf("registered: %+v", made)
	}
	h := made.ProspectH
	if again := s.register(client.ProspectPerson{Email: "ada@example.COM", Title: "Painter"}); again.Created || again.ProspectH != h {
		t.Errorf("the same email again: %+v", again)
	}
	first := s.touch(h, "<1@m>")
	if twice := s.touch(h, "<1@m>"); !twice.AlreadyLogged || twice.TouchID != first.TouchID || twice.State.Step != 1 {
		t.Errorf("the same touch again: %+v", twice)
	}
	st := s.state(h)
	if st.State.Status != "active" || st.State.Step != 1 || st.State.NextDueAt == nil || len(st.Touches) != 1 || st.Profile.Name != "Ada" || st.Profile.Title != "Painter" || *st.Owner != "grace" || st.Research.Pains[0] != "loses renders" {
		t.Errorf("after a touch: %+v", st)
	}
	said := s.reply(h, client.ProspectReplyFields{Classification: "positive", Pipeline: "investor"})
	if said.State.Status != "replied" || said.ContactLink == nil || said.ContactLink.Stage != "contacted" {
		t.Errorf("after a positive reply: %+v", said)
	}
	amount := 50000.0
	staged, err := s.api.SetContactStage(t.Context(), client.SetContactStageInput{ProspectH: h, Pipeline: "investor", Stage: "meeting", FirmName: "Example Ventures", InvestmentAmount: &amount, NextFollowUp: "2031-05-01", RecordSource: fair})
	if err != nil || staged.Contact.ContactH != said.ContactLink.ContactH {
		t.Fatalf("%+v %v", staged, err)
	}
	var found client.SearchContactsOutput
	servicetest.Eventually(t, "the contact is found", func() (err error) {
		found, err = s.api.SearchContacts(t.Context(), client.SearchContactsInput{Pipeline: "investor", Search: "AD", Stage: "Meeting", MinIndexToken: staged.IndexToken})
		if err == nil && (found.Total != 1 || len(found.Degraded) > 0) {
			err = fmt.Errorf("%+v", found)
		}
		return err
	})
	c := found.Data[0]
	if c.FirmName != "Example Ventures" || *c.InvestmentAmount != amount || *c.NextFollowUp != "2031-05-01" || c.LastContacted == nil || c.Profile.Email != "ada@example.COM" || c.Suppressed {
		t.Errorf("the contact is %+v", c)
	}
	if none, err := s.api.SearchContacts(t.Context(), client.SearchContactsInput{Pipeline: "community"}); err != nil || none.Total != 0 {
		t.Errorf("the other pipeline has %+v %v", none, err)
	}
}

// TestProspects_AreFoundByWordsAndFiltersUnlessSuppressed looks for prospects in each state.
func TestProspects_AreFoundByWordsAndFiltersUnlessSuppressed(t *testing.T) {
	t.Parallel()
	s := newSales(t)
	high, low := 90.0, 10.0
	ada := s.register(client.ProspectPerson{Email: "ada@one.example", Name: "Ada", Account: "Harbour Studios", Vertical: "games", Campaign: "spring", IcpScore: &high, Owner: "grace", Summary: "paints lighthouses"})
	ben := s.register(client.ProspectPerson{Handle: "discord:ben", Name: "Ben", Account: "harbourmasters", Campaign: "autumn", IcpScore: &low})
	s.find(client.SearchProspectsInput{MinIndexToken: s.touch(ada.ProspectH, "a").IndexToken})
	no := s.reply(ben.ProspectH, client.ProspectReplyFields{Classification: "not_now", RefusalClass: "T"})
	if no.State.Status != "suppressed" || no.State.Suppression == nil || no.State.Suppression.SuppressedUntil == nil || no.Warnings[0].Code != "PROSPECT_SUPPRESSED" {
		t.Errorf("after not_now: %+v", no)
	}
	token := no.IndexToken
	for _, c := range []struct {
		in   client.SearchProspectsInput
		want string
	}{
		{client.SearchProspectsInput{}, "Ada"},
		{client.SearchProspectsInput{Query: "light"}, "Ada"}, // the beginning of a word
		{client.SearchProspectsInput{Query: "harbour"}, "Ada"},
		{client.SearchProspectsInput{Filters: &client.ProspectFilters{IncludeSuppressed: true}, OrderBy: "name"}, "Ada Ben"},
		{client.SearchProspectsInput{Filters: &client.ProspectFilters{Status: "suppressed"}}, "Ben"},
		{client.SearchProspectsInput{Filters: &client.ProspectFilters{Status: "active"}}, "Ada"},
		{client.SearchProspectsInput{Filters: &client.ProspectFilters{Status: "not_started"}}, ""},
		{client.SearchProspectsInput{Filters: &client.ProspectFilters{Account: "BOUR", IncludeSuppressed: true}, OrderBy: "name"}, "Ada Ben"},
		{client.SearchProspectsInput{Filters: &client.ProspectFilters{Account: "b*r"}}, ""},
		{client.SearchProspectsInput{Filters: &client.ProspectFilters{Campaign: "SPRING", MinIcpScore: &high, Vertical: "Games", Owner: "grace"}}, "Ada"},
		{client.SearchProspectsInput{Filters: &client.ProspectFilters{Owner: "Grace"}}, ""},
		{client.SearchProspectsInput{Filters: &client.ProspectFilters{DueBefore: time.Now().AddDate(0, 0, 10).Format(time.DateOnly)}}, "Ada"},
		{client.SearchProspectsInput{Filters: &client.ProspectFilters{DueBefore: time.Now().AddDate(0, 0, 1).Format(time.DateOnly)}}, ""},
	} {
		c.in.MinIndexToken = token
		if got := strings.Join(s.find(c.in), " "); got != c.want {
			t.Errorf("%+v finds %q instead of %q", c.in, got, c.want)
		}
	}
	counted, err := s.api.SearchProspects(t.Context(), client.SearchProspectsInput{Filters: &client.ProspectFilters{IncludeSuppressed: true}, Facets: []string{"status", "campaign"}})
	if err != nil || len(counted.Facets["status"]) != 2 || len(counted.Facets["campaign"]) != 2 || counted.Facets["campaign"][0].Count != 1 {
		t.Errorf("facets: %+v %v", counted.Facets, err)
	}
}
