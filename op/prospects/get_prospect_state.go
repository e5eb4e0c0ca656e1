package prospects

import (
	"context"
	"time"

	"vitrine/library"
	"vitrine/op"
	"vitrine/outreach"
	"vitrine/store"
)

type stateInput struct {
	op.TenantInput
	OfProspect
}

// Profile is what is known of a person, the latest value of each field.
type Profile struct {
	Email       string   `json:"email,omitempty"`
	LinkedInURL string   `json:"linkedin_url,omitempty"`
	ProfileURL  string   `json:"profile_url,omitempty"`
	Handle      string   `json:"handle,omitempty"`
	Website     string   `json:"website,omitempty"`
	Name        string   `json:"name,omitempty"`
	Title       string   `json:"title,omitempty"`
	Account     string   `json:"account,omitempty"`
	Vertical    string   `json:"vertical,omitempty"`
	Campaign    string   `json:"campaign,omitempty"`
	ICPScore    *float64 `json:"icp_score,omitempty" doc:"0 to 100."`
}

// Research is what was found out.
type Research struct {
	Summary string   `json:"summary"`
	Pains   []string `json:"pains"`
	Signals []string `json:"signals"`
	Sources []string `json:"sources"`
}

// Deal is what was agreed.
type Deal struct {
	TrialStartDate string   `json:"trial_start_date,omitempty"`
	AgreedPrice    *float64 `json:"agreed_price,omitempty"`
	Currency       string   `json:"currency,omitempty"`
}

// Row is embedded by what was recorded.
type Row struct {
	RecordSource string    `json:"record_source"`
	RecordedAt   time.Time `json:"recorded_at"`
	RecordedBy   string    `json:"recorded_by"`
	ExternalID   string    `json:"external_id,omitempty"`
}

func describeRow(r *outreach.Row) Row {
	return Row{r.Source, r.RecordedAt.UTC(), r.RecordedBy, r.ExternalID}
}

// Touch is a message of the log.
type Touch struct {
	TouchID        int64      `json:"touch_id"`
	SentAt         time.Time  `json:"sent_at"`
	Channel        string     `json:"channel"`
	Direction      string     `json:"direction"`
	Subject        string     `json:"subject,omitempty"`
	Body           string     `json:"body,omitempty"`
	TemplateID     string     `json:"template_id,omitempty"`
	Step           int        `json:"step,omitempty" doc:"If it was given."`
	SequenceLength int        `json:"sequence_length,omitempty" doc:"If it was given."`
	NextDueAt      *time.Time `json:"next_due_at,omitempty" doc:"If it was given."`
	Row
}

// Reply is a reply of the log.
type Reply struct {
	ReplyID         int64     `json:"reply_id"`
	ReceivedAt      time.Time `json:"received_at"`
	Classification  string    `json:"classification"`
	Text            string    `json:"text,omitempty"`
	Channel         string    `json:"channel,omitempty"`
	RefusalClass    string    `json:"refusal_class,omitempty" doc:"T: timing, P: problem."`
	SuppressedUntil string    `json:"suppressed_until,omitempty"`
	Row
}

// ContactLink is the contact that a prospect became.
type ContactLink struct {
	ContactH string    `json:"contact_h"`
	Pipeline string    `json:"pipeline"`
	Stage    string    `json:"stage"`
	LinkedAt time.Time `json:"linked_at"`
}

type stateOutput struct {
	ProspectH    library.ProspectHash   `json:"prospect_h"`
	Merged       []library.ProspectHash `json:"merged_prospect_hs" doc:"Later records of the same person."`
	Profile      Profile                `json:"profile" doc:"The latest value of each field."`
	Research     *Research              `json:"research" required:"true" nullable:"true"`
	Deal         *Deal                  `json:"deal" required:"true" nullable:"true"`
	Owner        *string                `json:"owner" required:"true" nullable:"true"`
	State        Sequence               `json:"state"`
	Suppressions []Suppression          `json:"suppressions" doc:"What SuppressProspect recorded, lapsed ones included."`
	Touches      []Touch                `json:"touches" doc:"The oldest first."`
	Replies      []Reply                `json:"replies" doc:"The oldest first."`
	ContactLink  *ContactLink           `json:"contact_link" required:"true" nullable:"true" doc:"The first contact after a hand-off."`
	Contacts     []ContactLink          `json:"contacts" doc:"One per pipeline."`
	CreatedAt    time.Time              `json:"created_at"`
	UpdatedAt    time.Time              `json:"updated_at"`
}

func (s *Service) getProspectState() op.Operation {
	return op.Define(op.Meta{
		Name: "GetProspectState", Title: "Get a prospect", Domain: op.Outreach,
		Doc:    "Returns a prospect's latest profile, research, deal and owner, the state of its sequence, suppression, all touches and replies, and contact_link after a hand-off.",
		More:   "A suppression with a date lapses at the beginning of that day, UTC, without any write. Any record that was merged names the prospect.",
		Method: "GET", Path: "/api/v1/prospects/{prospect_h}", Permission: library.PermRead, ReadOnly: true, Idempotent: true,
		Example: map[string]any{"prospect_h": exampleProspect},
	}, func(ctx context.Context, actor library.Actor, in stateInput) (stateOutput, error) {
		st, err := s.Store.Prospects.State(ctx, actor, in.hash())
		if err != nil {
			return stateOutput{}, err
		}
		return describeState(st), nil
	})
}

func describeState(st store.ProspectState) stateOutput {
	out := stateOutput{ProspectH: st.Hash, Merged: append([]library.ProspectHash{}, st.Merged...), Profile: Profile(st.Profile), Owner: ownerOf(&st.State),
		State: describeSequence(&st.State, time.Now()), Suppressions: []Suppression{}, Touches: []Touch{}, Replies: []Reply{}, Contacts: []ContactLink{},
		ContactLink: linkOf(&st.State), CreatedAt: st.CreatedAt.UTC(), UpdatedAt: st.UpdatedAt.UTC()}
	if r := st.Research; r != nil {
		out.Research = &Research{r.Summary, append([]string{}, r.Pains...), append([]string{}, r.Signals...), append([]string{}, r.Sources...)}
	}
	if d := st.Deal; d != nil {
		out.Deal = (*Deal)(d)
	}
	for _, r := range st.Suppressions {
		x := describeSuppression(r.Suppression)
		x.RecordedAt = r.RecordedAt.UTC().Format(time.RFC3339)
		out.Suppressions = append(out.Suppressions, *x)
	}
	for _, r := range st.Touches {
		t, direction := r.Touch, r.Touch.Direction
		if direction == "" {
			direction = "outbound"
		}
		out.Touches = append(out.Touches, Touch{r.ID, r.At.UTC(), t.Channel, direction, t.Subject, t.Body, t.TemplateID, t.Step, t.SequenceLength, utc(t.NextDueAt), describeRow(&r)})
	}
	for _, r := range st.Replies {
		p := r.Reply
		out.Replies = append(out.Replies, Reply{r.ID, r.At.UTC(), string(p.Classification), p.Text, p.Channel, p.RefusalClass, p.SuppressedUntil, describeRow(&r)})
	}
	for _, c := range st.Contacts {
		out.Contacts = append(out.Contacts, describeLink(c))
	}
	return out
}

func describeLink(c outreach.ContactState) ContactLink {
	return ContactLink{c.ContactH, c.Pipeline, c.Stage, c.LinkedAt.UTC()}
}

// linkOf returns the first contact of a prospect, or nil.
func linkOf(s *outreach.State) *ContactLink {
	if len(s.Contacts) == 0 {
		return nil
	}
	link := describeLink(s.Contacts[0])
	return &link
}
