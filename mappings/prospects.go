package mappings

import (
	"sync"
	"time"

	"vitrine/library"
)

// ProspectIndex is the index of prospects.
var ProspectIndex = sync.OnceValue(func() *Index {
	name := func() Mapping { return folded().parts().analyzed().into("text") }
	unsearched := Mapping{Type: "keyword", Index: new(bool), DocValues: new(bool)}
	return NewIndex("prospects", 1, "prospect_h", map[string]Mapping{
		"name": name(), "account": name(), "linkedin_url": folded().parts().into("text"),
		"title": folded().into("text"), "vertical": folded().into("text"), "campaign": folded().into("text"),
		"email": folded().into("text"), "profile_url": folded().into("text"), "handle": folded().into("text"), "website": folded().into("text"), "text": prose(),
		"owner": exact(), "icp_score": number("float"), "sequence": exact(), "step": number("integer"), "sequence_length": number("integer"),
		"suppressed_until": date(), "suppressed_for_good": flag(), "suppression_reason": exact(),
		"last_touch_at": date(), "last_reply_at": date(), "next_due_at": date(), "created": date(), "updated": date(),
		"community_stage": folded(), "enterprise_stage": folded(), "investor_stage": folded(), "contacts": unsearched,
		"index_error": {Type: "keyword", IgnoreAbove: MaxKeyword},
	}, Sort{"tenant_id", "asc"}, Sort{"updated", "desc"})
})

// into copies a value into a field of text.
func (m Mapping) into(field string) Mapping {
	m.CopyTo = field
	return m
}

// ProspectDocument is one person as the index of prospects holds it. A tombstone has only the
// first four.
type ProspectDocument struct {
	TenantID   library.TenantID     `json:"tenant_id"`
	ProspectH  library.ProspectHash `json:"prospect_h"`
	DocVersion int64                `json:"doc_version"`
	Deleted    bool                 `json:"deleted"`

	Name        string   `json:"name,omitempty"`
	Account     string   `json:"account,omitempty"`
	LinkedInURL string   `json:"linkedin_url,omitempty"`
	Title       string   `json:"title,omitempty"`
	Vertical    string   `json:"vertical,omitempty"`
	Campaign    string   `json:"campaign,omitempty"`
	Email       string   `json:"email,omitempty"`
	ProfileURL  string   `json:"profile_url,omitempty"`
	Handle      string   `json:"handle,omitempty"`
	Website     string   `json:"website,omitempty"`
	Text        []string `json:"text,omitempty"` // what else words are found in: the research
	Owner       string   `json:"owner,omitempty"`
	ICPScore    *float64 `json:"icp_score,omitempty"`

	// The sequence without suppression, which depends on the day of reading.
	Sequence          string     `json:"sequence,omitempty"`
	Step              int        `json:"step,omitempty"`
	SequenceLength    int        `json:"sequence_length,omitempty"`
	SuppressedUntil   string     `json:"suppressed_until,omitempty"` // the first day without it
	SuppressedForGood bool       `json:"suppressed_for_good,omitempty"`
	SuppressionReason string     `json:"suppression_reason,omitempty"`
	LastTouchAt       *time.Time `json:"last_touch_at,omitempty"`
	LastReplyAt       *time.Time `json:"last_reply_at,omitempty"`
	NextDueAt         *time.Time `json:"next_due_at,omitempty"`
	Created           *time.Time `json:"created,omitempty"`
	Updated           *time.Time `json:"updated,omitempty"`

	CommunityStage  string `json:"community_stage,omitempty"`
	EnterpriseStage string `json:"enterprise_stage,omitempty"`
	InvestorStage   string `json:"investor_stage,omitempty"`
	Contacts        string `json:"contacts,omitempty"` // JSON of []outreach.ContactState

	IndexError string `json:"index_error,omitempty"`
}
