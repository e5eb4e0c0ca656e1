package outreach

import (
	"cmp"
	"slices"
	"time"
)

// DateForm is how dates are written.
const DateForm = time.DateOnly

// State is what the rows of a prospect add up to. Nothing in it depends on the time of
// reading; see Status and Suppressed.
type State struct {
	Profile   Profile
	Keys      []Key // of all live rows, the strongest first
	Research  *Research
	Deal      *Deal
	Owner     string
	Sequence  Sequence
	Step      int // of the last outbound touch
	Length    int // steps of the sequence
	LastTouch *time.Time
	LastReply *time.Time

	suppressions []Suppression
	dueAfter     *time.Time // when the next step is due, suppression aside

	Touches      []Row // in the order in which they happened
	Replies      []Row
	Suppressions []Row // what SuppressProspect recorded
	Contacts     []ContactState
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// ContactState is a prospect in a pipeline.
type ContactState struct {
	Contact
	LinkedAt time.Time
}

// Live returns the rows that were not taken back, without those that take back.
func Live(rows []Row) []Row {
	last := map[int64]*Row{} // what was last said of a row
	for i := range rows {
		if r := &rows[i]; r.Of != 0 && (last[r.Of] == nil || last[r.Of].ID < r.ID) {
			last[r.Of] = r
		}
	}
	live := make([]Row, 0, len(rows))
	for _, r := range rows {
		if said := last[r.ID]; r.Of == 0 && (said == nil || said.Kind == KindRestoration) {
			live = append(live, r)
		}
	}
	return live
}

// Fold returns the state that rows add up to, in whatever order they come. What is known of a person
// is what was recorded last; what happened counts in the order in which it happened, however
// late it was recorded.
func Fold(rows []Row) State {
	live := Live(rows)
	s := State{Sequence: NotStarted, Length: DefaultLength}
	slices.SortFunc(live, func(a, b Row) int { return cmp.Compare(a.ID, b.ID) })
	for i := range live {
		s.learn(&live[i])
	}
	slices.SortFunc(s.Keys, compareKeys)
	s.Keys = slices.Compact(s.Keys)
	slices.SortStableFunc(live, func(a, b Row) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	for i := range live {
		s.happen(live[i])
	}
	return s
}

// learn takes what a row says of the person.
func (s *State) learn(r *Row) {
	if s.CreatedAt.IsZero() {
		s.CreatedAt = r.RecordedAt
	}
	s.UpdatedAt = r.RecordedAt
	switch {
	case r.Profile != nil:
		s.Profile.overlay(r.Profile)
		keys, _ := r.Profile.Keys()
		s.Keys = append(s.Keys, keys...)
	case r.Research != nil:
		if s.Research == nil {
			s.Research = &Research{}
		}
		s.Research.overlay(r.Research)
	case r.Deal != nil:
		if s.Deal == nil {
			s.Deal = &Deal{}
		}
		s.Deal.overlay(r.Deal)
	case r.Body.Owner != nil:
		s.Owner = *r.Body.Owner
	case r.Contact != nil:
		s.contact(r)
	}
}

func (s *State) contact(r *Row) {
	i := slices.IndexFunc(s.Contacts, func(c ContactState) bool { return c.Pipeline == r.Contact.Pipeline })
	if i < 0 {
		s.Contacts = append(s.Contacts, ContactState{*r.Contact, r.RecordedAt})
		return
	}
	c, n := &s.Contacts[i].Contact, r.Contact
	set(&c.Stage, n.Stage)
	set(&c.NextFollowUp, n.NextFollowUp)
	set(&c.FirmName, n.FirmName)
	set(&c.InvestorType, n.InvestorType)
	set(&c.Round, n.Round)
	set(&c.SEISEISStatus, n.SEISEISStatus)
	if n.InvestmentAmount != nil {
		c.InvestmentAmount = n.InvestmentAmount
	}
}

func set(old *string, now string) {
	if now != "" {
		*old = now
	}
}

func (p *Profile) overlay(n *Profile) {
	for _, f := range []struct {
		old *string
		now string
	}{{&p.Email, n.Email}, {&p.LinkedInURL, n.LinkedInURL}, {&p.ProfileURL, n.ProfileURL}, {&p.Handle, n.Handle}, {&p.Website, n.Website},
		{&p.Name, n.Name}, {&p.Title, n.Title}, {&p.Account, n.Account}, {&p.Vertical, n.Vertical}, {&p.Campaign, n.Campaign}} {
		set(f.old, f.now)
	}
	if n.ICPScore != nil {
		p.ICPScore = n.ICPScore
	}
}

func (r *Research) overlay(n *Research) {
	set(&r.Summary, n.Summary)
	for _, f := range []struct{ old, now *[]string }{{&r.Pains, &n.Pains}, {&r.Signals, &n.Signals}, {&r.Sources, &n.Sources}} {
		if len(*f.now) > 0 {
			*f.old = *f.now
		}
	}
}

func (d *Deal) overlay(n *Deal) {
	set(&d.TrialStartDate, n.TrialStartDate)
	set(&d.Currency, n.Currency)
	if n.AgreedPrice != nil {
		d.AgreedPrice = n.AgreedPrice
	}
}

// happen takes what a row moves.
func (s *State) happen(r Row) {
	switch {
	case r.Touch != nil:
		s.Touches = append(s.Touches, r)
		s.touch(&r)
	case r.Reply != nil:
		s.Replies = append(s.Replies, r)
		s.LastReply = &r.At
		s.move(replied(r.Reply.Classification), Refusal(*r.Reply, r.At))
	case r.Suppression != nil:
		s.Suppressions = append(s.Suppressions, r)
		s.move(Withdrawn, *r.Suppression)
	}
}

func (s *State) touch(r *Row) {
	s.LastTouch = &r.At
	if r.Touch.Direction == Inbound {
		s.move(Received, Suppression{})
		return
	}
	if s.Step++; r.Touch.Step > 0 {
		s.Step = r.Touch.Step
	}
	if r.Touch.SequenceLength > 0 {
		s.Length = r.Touch.SequenceLength
	}
	due := r.At.AddDate(0, 0, waits[min(max(s.Step, 1), len(waits))-1])
	if r.Touch.NextDueAt != nil {
		due = *r.Touch.NextDueAt
	}
	s.dueAfter = &due
	trigger := Sent
	if s.Step >= s.Length {
		trigger = SentLast
	}
	s.move(trigger, Suppression{})
}

// replied returns the trigger that a reply is.
func replied(c Classification) Trigger {
	switch c {
	case Positive:
		return Agreed
	case OutOfOffice:
		return Away
	}
	return Declined
}

// Refusal returns the suppression that a reply makes, if it makes one.
func Refusal(r Reply, at time.Time) Suppression {
	until := r.SuppressedUntil
	if until == "" && r.Classification == NotNow {
		until = at.UTC().AddDate(0, 0, NotNowDays).Format(DateForm)
	}
	return Suppression{string(r.Classification), until}
}

func (s *State) move(t Trigger, with Suppression) {
	to := transitions[s.Sequence][t]
	s.Sequence = to.Next
	switch to.Effect {
	case Suppress:
		s.suppressions = append(s.suppressions, with)
	case Lift:
		s.suppressions = slices.DeleteFunc(s.suppressions, func(x Suppression) bool { return x.Until != "" })
	}
}

// Strictest returns the suppression that lasts longest, whether or not it has lapsed; nil
// where there is none.
func (s *State) Strictest() *Suppression {
	var most *Suppression
	for i, x := range s.suppressions {
		if most == nil || most.Until != "" && (x.Until == "" || x.Until > most.Until) {
			most = &s.suppressions[i]
		}
	}
	return most
}

// Suppressed returns the suppression in force at a time, or nil. One with a date lapses at
// the beginning of that day, UTC.
func (s *State) Suppressed(now time.Time) *Suppression {
	x := s.Strictest()
	if x == nil || x.Until != "" && x.Until <= now.UTC().Format(DateForm) {
		return nil
	}
	return x
}

// Status returns the state that is shown at a time.
func (s *State) Status(now time.Time) Sequence {
	if s.Suppressed(now) != nil {
		return Suppressed
	}
	return s.Sequence
}

// NextDue returns when the next step is due, or nil where none is: the sequence is not active,
// or the prospect is suppressed for good. It is never before the end of a suppression.
func (s *State) NextDue() *time.Time {
	x := s.Strictest()
	if s.Sequence != Active || s.dueAfter == nil || x != nil && x.Until == "" {
		return nil
	}
	due := *s.dueAfter
	if x != nil {
		if end, err := time.Parse(DateForm, x.Until); err == nil && end.After(due) {
			due = end
		}
	}
	return &due
}

// ContactIn returns where the prospect stands in a pipeline, or nil.
func (s *State) ContactIn(pipeline string) *ContactState {
	if i := slices.IndexFunc(s.Contacts, func(c ContactState) bool { return c.Pipeline == pipeline }); i >= 0 {
		return &s.Contacts[i]
	}
	return nil
}
