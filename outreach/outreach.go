// Package outreach is the domain of outreach and contacts without any storage: what a
// prospect's rows are, how the keys that name a person are normalized, which prospects are the
// same person, and what state the rows add up to. Rows are only ever added; everything else
// follows from them.
package outreach

import (
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// Kind is what a row says.
type Kind string

// The kinds of rows.
const (
	KindProfile     Kind = "profile"
	KindResearch    Kind = "research"
	KindDeal        Kind = "deal"
	KindOwner       Kind = "owner"
	KindTouch       Kind = "touch"
	KindReply       Kind = "reply"
	KindSuppression Kind = "suppression"
	KindContact     Kind = "contact"
	KindRetraction  Kind = "retraction" // takes another row back
	KindRestoration Kind = "restoration"
)

// Row is one thing that was recorded of a prospect.
type Row struct {
	ID         int64  // rises in the order of recording
	Prospect   string // the prospect_h that it was recorded under
	Kind       Kind
	At         time.Time // when it happened
	RecordedAt time.Time
	RecordedBy string
	Source     string // record_source
	ExternalID string
	Body
}

// Body is the content of a row: the member of its kind is set.
type Body struct {
	Profile     *Profile     `json:"profile,omitempty"`
	Research    *Research    `json:"research,omitempty"`
	Deal        *Deal        `json:"deal,omitempty"`
	Owner       *string      `json:"owner,omitempty"` // empty: nobody
	Touch       *Touch       `json:"touch,omitempty"`
	Reply       *Reply       `json:"reply,omitempty"`
	Suppression *Suppression `json:"suppression,omitempty"`
	Contact     *Contact     `json:"contact,omitempty"`
	Of          int64        `json:"of,omitempty"` // the row that is taken back or brought back
}

// Profile is what is known of a person. Of several, the latest value of each field counts.
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

// Research is what was found out about a prospect.
type Research struct {
	Summary string   `json:"summary,omitempty"`
	Pains   []string `json:"pains,omitempty"`
	Signals []string `json:"signals,omitempty"`
	Sources []string `json:"sources,omitempty"`
}

// Deal is what was agreed.
type Deal struct {
	TrialStartDate string   `json:"trial_start_date,omitempty"` // YYYY-MM-DD
	AgreedPrice    *float64 `json:"agreed_price,omitempty"`
	Currency       string   `json:"currency,omitempty"` // ISO 4217
}

// Channels are the ways to reach a prospect.
var Channels = []string{"email", "linkedin", "discord", "github", "contact_form", "other"}

// Inbound is the direction of a touch that the prospect made.
const Inbound = "inbound"

// Touch is one message of a sequence.
type Touch struct {
	Channel        string     `json:"channel"`
	Direction      string     `json:"direction,omitempty"` // outbound, unless Inbound
	Subject        string     `json:"subject,omitempty"`
	Body           string     `json:"body,omitempty"`
	TemplateID     string     `json:"template_id,omitempty"`
	Step           int        `json:"step,omitempty"`            // 0: the one after the last
	SequenceLength int        `json:"sequence_length,omitempty"` // 0: as the touch before
	NextDueAt      *time.Time `json:"next_due_at,omitempty"`
}

// Classification is what a reply says.
type Classification string

// The classifications of replies.
const (
	Positive      Classification = "positive"
	NotNow        Classification = "not_now"
	WrongPerson   Classification = "wrong_person"
	Unsubscribe   Classification = "unsubscribe"
	NotInterested Classification = "not_interested"
	Bounced       Classification = "bounced"
	OutOfOffice   Classification = "ooo"
)

// Refuses reports whether a person says no: only then can the refusal be coded.
func (c Classification) Refuses() bool {
	return slices.Contains([]Classification{NotNow, WrongPerson, Unsubscribe, NotInterested}, c)
}

// Reply is an answer of a prospect.
type Reply struct {
	Classification  Classification `json:"classification"`
	Text            string         `json:"text,omitempty"`
	Channel         string         `json:"channel,omitempty"`
	RefusalClass    string         `json:"refusal_class,omitempty"`    // T: timing, P: problem
	SuppressedUntil string         `json:"suppressed_until,omitempty"` // YYYY-MM-DD
}

// Erased is the reason of a suppression that stays of somebody whose data was erased.
const Erased = "erased"

// Suppression keeps outreach from a prospect.
type Suppression struct {
	Reason string `json:"reason"`
	Until  string `json:"until,omitempty"` // the first day without it, YYYY-MM-DD UTC; empty: for good
}

// Contact is where a prospect stands in a pipeline. Of several of one pipeline the latest
// value of each field counts.
type Contact struct {
	ContactH         string   `json:"contact_h,omitempty"`
	Pipeline         string   `json:"pipeline"`
	Stage            string   `json:"stage,omitempty"`
	NextFollowUp     string   `json:"next_follow_up,omitempty"` // YYYY-MM-DD
	FirmName         string   `json:"firm_name,omitempty"`
	InvestorType     string   `json:"investor_type,omitempty"`
	InvestmentAmount *float64 `json:"investment_amount,omitempty"`
	Round            string   `json:"round,omitempty"`
	SEISEISStatus    string   `json:"seis_eis_status,omitempty"`
}

// Pipelines are the pipelines of contacts, with the stages that they have by default.
var Pipelines = []Pipeline{
	{"community", []string{"lead", "member", "contributor", "champion"}},
	{"enterprise", []string{"lead", "qualified", "demo", "proposal", "negotiation", "won", "lost"}},
	{"investor", []string{"identified", "contacted", "meeting", "diligence", "term_sheet", "closed", "passed"}},
}

// Pipeline is a pipeline of contacts.
type Pipeline struct {
	Name   string
	Stages []string
}

// DefaultPipeline is where a positive reply leads that names no pipeline.
const DefaultPipeline = "enterprise"

// FirstStage returns the stage at which a positive reply enters a pipeline: an investor has
// been contacted by then.
func FirstStage(pipeline string) string {
	for _, p := range Pipelines {
		switch {
		case p.Name == pipeline && pipeline == "investor":
			return p.Stages[1]
		case p.Name == pipeline:
			return p.Stages[0]
		}
	}
	return ""
}

// Fields returns the names of the fields that a row sets, in order: what may be recorded of
// it where values may not.
func (r *Row) Fields() []string {
	raw, err := json.Marshal(r.Body)
	if err != nil {
		return nil
	}
	var body map[string]json.RawMessage
	if json.Unmarshal(raw, &body) != nil {
		return nil
	}
	var names []string
	for kind, content := range body {
		var fields map[string]json.RawMessage
		if json.Unmarshal(content, &fields) != nil {
			fields = map[string]json.RawMessage{kind: nil}
		}
		names = slices.AppendSeq(names, maps.Keys(fields))
	}
	slices.Sort(names)
	return names
}
