package prospects

import (
	"cmp"
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

// Research is what was found out.
type Research struct {
	Summary string   `json:"summary"`
	Pains   []string `json:"pains"`
	Signals []string `json:"signals"`
	Sources []string `json:"sources"`
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
	Profile      outreach.Profile       `json:"profile" doc:"The latest value of each field."`
	Research     *Research              `json:"research" required:"true" nullable:"true"`
	Deal         *outreach.Deal         `json:"deal" required:"true" nullable:"true"`
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
	return stateOutput{
		ProspectH: st.Hash, Merged: append([]library.ProspectHash{}, st.Merged...),
		Profile: st.Profile, Research: describeResearch(st.Research), Deal: st.Deal, Owner: ownerOf(&st.State),
		State:        describeSequence(&st.State, time.Now()),
		Suppressions: each(st.Suppressions, describeRecordedSuppression),
		Touches:      each(st.Touches, describeTouch),
		Replies:      each(st.Replies, describeReply),
		ContactLink:  linkOf(&st.State), Contacts: each(st.Contacts, describeLink),
		CreatedAt: st.CreatedAt.UTC(), UpdatedAt: st.UpdatedAt.UTC(),
	}
}

// each returns what f makes of each item; an empty list of none.
func each[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for i, item := range list {
		out[i] = f(item)
	}
	return out
}

func describeResearch(r *outreach.Research) *Research {
	if r == nil {
		return nil
	}
	texts := func(list []string) []string { return append([]string{}, list...) }
	return &Research{r.Summary, texts(r.Pains), texts(r.Signals), texts(r.Sources)}
}

func describeRecordedSuppression(r outreach.Row) Suppression {
	s := *describeSuppression(r.Suppression)
	s.RecordedAt = r.RecordedAt.UTC().Format(time.RFC3339)
	return s
}

func describeTouch(r outreach.Row) Touch {
	t := r.Touch
	return Touch{TouchID: r.ID, SentAt: r.At.UTC(), Channel: t.Channel, Direction: cmp.Or(t.Direction, "outbound"), Subject: t.Subject, Body: t.Body, TemplateID: t.TemplateID,
		Step: t.Step, SequenceLength: t.SequenceLength, NextDueAt: utc(t.NextDueAt), Row: describeRow(&r)}
}

func describeReply(r outreach.Row) Reply {
	p := r.Reply
	return Reply{ReplyID: r.ID, ReceivedAt: r.At.UTC(), Classification: string(p.Classification), Text: p.Text, Channel: p.Channel, RefusalClass: p.RefusalClass,
		SuppressedUntil: p.SuppressedUntil, Row: describeRow(&r)}
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
