package prospects

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"vitrine/library"
	"vitrine/mappings"
	"vitrine/op"
	"vitrine/outreach"
	"vitrine/query/run"
)

type contactsInput struct {
	op.TenantInput
	Pipeline      string `json:"pipeline" enum:"community,enterprise,investor"`
	Stage         string `json:"stage,omitempty" maxLength:"100"`
	Search        string `json:"search,omitempty" id:"query" maxLength:"200" doc:"Any part of the name or linkedin_url."`
	Limit         int    `json:"limit,omitempty" minimum:"1" maximum:"200" default:"50"`
	Offset        int    `json:"offset,omitempty" minimum:"0" maximum:"9800" default:"0"`
	MinIndexToken string `json:"min_index_token,omitempty" id:"index_token" maxLength:"64" tool:"-" doc:"index_token of a write to wait for."`
}

// Contact is where a prospect stands in a pipeline, as it is shown.
type Contact struct {
	ContactH         string   `json:"contact_h"`
	Pipeline         string   `json:"pipeline"`
	Stage            string   `json:"stage"`
	NextFollowUp     *string  `json:"next_follow_up" required:"true" nullable:"true" doc:"YYYY-MM-DD."`
	FirmName         string   `json:"firm_name,omitempty" doc:"Of investors, as the four that follow."`
	InvestorType     string   `json:"investor_type,omitempty"`
	InvestmentAmount *float64 `json:"investment_amount,omitempty"`
	Round            string   `json:"round,omitempty"`
	SEISEISStatus    string   `json:"seis_eis_status,omitempty"`
}

func describeContact(c outreach.Contact) Contact {
	out := Contact{ContactH: c.ContactH, Pipeline: c.Pipeline, Stage: c.Stage, FirmName: c.FirmName, InvestorType: c.InvestorType, InvestmentAmount: c.InvestmentAmount, Round: c.Round, SEISEISStatus: c.SEISEISStatus}
	if c.NextFollowUp != "" {
		out.NextFollowUp = &c.NextFollowUp
	}
	return out
}

// foundContact is a contact in a list.
type foundContact struct {
	Contact
	ProspectH     library.ProspectHash `json:"prospect_h"`
	Profile       outreach.Profile     `json:"profile" doc:"The latest value of each field."`
	Owner         *string              `json:"owner" required:"true" nullable:"true"`
	LastContacted *time.Time           `json:"last_contacted" required:"true" nullable:"true"`
	Suppressed    bool                 `json:"suppressed" doc:"true: do not write to this person."`
}

type contactsOutput struct {
	Data       []foundContact `json:"data" doc:"The latest change first."`
	Total      int64          `json:"total"`
	Limit      int            `json:"limit"`
	Offset     int            `json:"offset"`
	NextOffset *int           `json:"next_offset,omitempty"`
	Degraded   []string       `json:"degraded" doc:"index_behind: the write of min_index_token is not included yet."`
}

func (s *Service) searchContacts() op.Operation {
	return op.Define(op.Meta{
		Name: "SearchContacts", Title: "Search contacts", Domain: op.Outreach,
		Doc:    "Finds contacts of a pipeline: prospects who replied positively. Returns profile, stage, last_contacted and next_follow_up, and of investors firm, type, amount, round and SEIS/EIS status.",
		More:   "Stages are free text. The usual ones are, of community: lead, member, contributor, champion; of enterprise: lead, qualified, demo, proposal, negotiation, won, lost; of investor: identified, contacted, meeting, diligence, term_sheet, closed, passed.",
		Method: "GET", Path: "/api/v1/contacts", Permission: library.PermSearch, Rate: op.RateSearch, ReadOnly: true, Idempotent: true, Chained: true,
		Example: map[string]any{"pipeline": "enterprise", "stage": "lead", "limit": 10},
	}, func(ctx context.Context, actor library.Actor, in contactsInput) (contactsOutput, error) {
		out := contactsOutput{Data: []foundContact{}, Limit: in.Limit, Offset: in.Offset, Degraded: []string{}}
		behind, err := s.awaitWrite(ctx, actor, in.MinIndexToken)
		if err != nil {
			return out, err
		}
		if behind {
			out.Degraded = append(out.Degraded, "index_behind")
		}
		clean(&in.Search, &in.Stage)
		q := run.ProspectSearch{Pipeline: in.Pipeline, Stage: in.Stage, Part: in.Search, Suppressed: run.WithSuppressed, Today: time.Now().UTC().Format(outreach.DateForm), From: in.Offset, Size: in.Limit}
		page, err := s.Searcher.SearchProspects(ctx, actor.Tenant, q)
		if err != nil {
			return out, err
		}
		out.Total = page.Total
		for i := range page.Data {
			out.Data = append(out.Data, describeFoundContact(&page.Data[i], in.Pipeline, q.Today))
		}
		if next := in.Offset + len(page.Data); int64(next) < page.Total && len(page.Data) > 0 && next <= 9800 {
			out.NextOffset = &next
		}
		return out, nil
	})
}

func describeFoundContact(d *mappings.ProspectDocument, pipeline, today string) foundContact {
	var contacts []outreach.ContactState
	out := foundContact{ProspectH: d.ProspectH, LastContacted: utc(d.LastTouchAt), Profile: outreach.Profile{Email: d.Email, LinkedInURL: d.LinkedInURL, ProfileURL: d.ProfileURL, Handle: d.Handle, Website: d.Website,
		Name: d.Name, Title: d.Title, Account: d.Account, Vertical: d.Vertical, Campaign: d.Campaign, ICPScore: d.ICPScore}}
	if json.Unmarshal([]byte(d.Contacts), &contacts) == nil {
		if i := slices.IndexFunc(contacts, func(c outreach.ContactState) bool { return c.Pipeline == pipeline }); i >= 0 {
			out.Contact = describeContact(contacts[i].Contact)
		}
	}
	if d.Owner != "" {
		out.Owner = &d.Owner
	}
	status, _ := statusOf(d, today)
	out.Suppressed = status == string(outreach.Suppressed)
	return out
}
