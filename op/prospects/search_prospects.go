package prospects

import (
	"context"
	"slices"
	"time"

	"vitrine/library"
	"vitrine/mappings"
	"vitrine/op"
	"vitrine/op/indextoken"
	"vitrine/outreach"
	"vitrine/query/run"
	"vitrine/store"
)

type prospectFilters struct {
	Campaign          string   `json:"campaign,omitempty" maxLength:"100"`
	Status            string   `json:"status,omitempty" enum:"not_started,active,replied,exhausted,suppressed"`
	MinICPScore       *float64 `json:"min_icp_score,omitempty" minimum:"0" maximum:"100"`
	Vertical          string   `json:"vertical,omitempty" maxLength:"100"`
	Account           string   `json:"account,omitempty" maxLength:"200" doc:"Any part of it."`
	Owner             string   `json:"owner,omitempty" id:"none" maxLength:"200" doc:"As it was set."`
	DueBefore         string   `json:"due_before,omitempty" maxLength:"10" doc:"YYYY-MM-DD: the next step is due before."`
	IncludeSuppressed bool     `json:"include_suppressed,omitempty"`
}

type searchInput struct {
	op.TenantInput
	Query         string           `json:"query,omitempty" id:"query" maxLength:"500" doc:"Words in the profile and research."`
	Filters       *prospectFilters `json:"filters,omitempty" tool:"open" doc:"campaign, status (not_started, active, replied, exhausted, suppressed), min_icp_score, vertical, account, owner, due_before, include_suppressed."`
	OrderBy       string           `json:"order_by,omitempty" enum:"relevance,updated,icp_score,next_due_at,last_touch_at,name" default:"relevance" tool:"plain" doc:"relevance: the latest change first if there is no query."`
	Facets        []string         `json:"facets,omitempty" maxItems:"5" enum:"campaign,vertical,account,owner,status" tool:"-" doc:"Counts of the values of these fields."`
	Limit         int              `json:"limit,omitempty" minimum:"1" maximum:"200" default:"50"`
	Offset        int              `json:"offset,omitempty" minimum:"0" maximum:"9800" default:"0"`
	MinIndexToken string           `json:"min_index_token,omitempty" id:"index_token" maxLength:"64" tool:"plain" doc:"index_token of a write to wait for."`
}

// Validate implements op.Validator.
func (in *searchInput) Validate() []library.FieldError {
	clean(&in.Query)
	if in.Filters == nil {
		return nil
	}
	clean(&in.Filters.Account, &in.Filters.Campaign, &in.Filters.Vertical, &in.Filters.Owner)
	return checkDate("filters.due_before", in.Filters.DueBefore)
}

// foundProspect is a prospect in a list.
type foundProspect struct {
	ProspectH       library.ProspectHash `json:"prospect_h"`
	Name            string               `json:"name,omitempty"`
	Title           string               `json:"title,omitempty"`
	Account         string               `json:"account,omitempty"`
	Vertical        string               `json:"vertical,omitempty"`
	Campaign        string               `json:"campaign,omitempty"`
	Email           string               `json:"email,omitempty"`
	LinkedInURL     string               `json:"linkedin_url,omitempty"`
	ProfileURL      string               `json:"profile_url,omitempty"`
	Handle          string               `json:"handle,omitempty"`
	Website         string               `json:"website,omitempty"`
	ICPScore        *float64             `json:"icp_score,omitempty"`
	Owner           *string              `json:"owner" required:"true" nullable:"true"`
	Status          string               `json:"status" enum:"not_started,active,replied,exhausted,suppressed"`
	Step            int                  `json:"step"`
	SuppressedUntil string               `json:"suppressed_until,omitempty" doc:"Of one that is suppressed, unless for good."`
	LastTouchAt     *time.Time           `json:"last_touch_at,omitempty"`
	NextDueAt       *time.Time           `json:"next_due_at,omitempty"`
}

// valueCount is how many prospects have a value.
type valueCount struct {
	Value string `json:"value"`
	Count int64  `json:"count"`
}

type searchOutput struct {
	Data       []foundProspect         `json:"data"`
	Total      int64                   `json:"total"`
	Limit      int                     `json:"limit"`
	Offset     int                     `json:"offset"`
	NextOffset *int                    `json:"next_offset,omitempty"`
	Facets     map[string][]valueCount `json:"facets,omitempty" doc:"The most frequent values, in lower case but for owners."`
	Degraded   []string                `json:"degraded" doc:"index_behind: the write of min_index_token is not included yet."`
	TookMS     int64                   `json:"took_ms" doc:"Milliseconds spent in OpenSearch."`
}

func (s *Service) searchProspects() op.Operation {
	return op.Define(op.Meta{
		Name: "SearchProspects", Title: "Search prospects", Domain: op.Outreach,
		Doc:    "Finds prospects by words and filters, with their current owner. Suppressed ones are left out unless filters.include_suppressed is true.",
		Method: "POST", Path: "/api/v1/prospects/search", Permission: library.PermSearch, Rate: op.RateSearch, ReadOnly: true, Idempotent: true, Chained: true,
		Example: map[string]any{"query": "studio", "filters": map[string]any{"campaign": "spring", "min_icp_score": 50}, "limit": 10},
	}, s.search)
}

func (s *Service) search(ctx context.Context, actor library.Actor, in searchInput) (searchOutput, error) {
	out := searchOutput{Data: []foundProspect{}, Limit: in.Limit, Offset: in.Offset, Degraded: []string{}}
	behind, err := s.awaitWrite(ctx, actor, in.MinIndexToken)
	if err != nil {
		return out, err
	}
	if behind {
		out.Degraded = append(out.Degraded, "index_behind")
	}
	q := in.compile(time.Now())
	page, err := s.Searcher.SearchProspects(ctx, actor.Tenant, q)
	if err != nil {
		return out, err
	}
	out.Total, out.TookMS = page.Total, page.TookMS
	for i := range page.Data {
		out.Data = append(out.Data, describeFound(&page.Data[i], q.Today))
	}
	if next := in.Offset + len(page.Data); int64(next) < page.Total && len(page.Data) > 0 && next <= 9800 {
		out.NextOffset = &next
	}
	for field, counts := range page.Facets {
		if out.Facets == nil {
			out.Facets = map[string][]valueCount{}
		}
		out.Facets[field] = []valueCount{}
		for _, c := range counts {
			out.Facets[field] = append(out.Facets[field], valueCount(c))
		}
	}
	return out, nil
}

// facetValues is how many values of a field are counted.
const facetValues = 50

func (in *searchInput) compile(now time.Time) run.ProspectSearch {
	q := run.ProspectSearch{Words: in.Query, Today: now.UTC().Format(outreach.DateForm), From: in.Offset, Size: in.Limit, Facets: in.Facets, FacetValues: facetValues}
	if in.OrderBy != "relevance" {
		q.OrderBy = in.OrderBy
		q.Descending = slices.Contains([]string{"updated", "icp_score", "last_touch_at"}, in.OrderBy)
	}
	f := in.Filters
	if f == nil {
		return q
	}
	q.Campaign, q.Vertical, q.Account, q.Owner, q.MinICP = f.Campaign, f.Vertical, f.Account, f.Owner, f.MinICPScore
	if due, err := time.Parse(outreach.DateForm, f.DueBefore); err == nil {
		before := due.Add(-time.Millisecond)
		q.DueBy = &before
	}
	switch {
	case f.Status == string(outreach.Suppressed):
		q.Suppressed = run.OnlySuppressed
	case f.Status != "":
		q.Sequence = f.Status
	case f.IncludeSuppressed:
		q.Suppressed = run.WithSuppressed
	}
	return q
}

// statusOf returns the status of a document on a day.
func statusOf(d *mappings.ProspectDocument, today string) (status, until string) {
	if d.SuppressedForGood || d.SuppressedUntil > today {
		return string(outreach.Suppressed), d.SuppressedUntil
	}
	return d.Sequence, ""
}

func describeFound(d *mappings.ProspectDocument, today string) foundProspect {
	out := foundProspect{ProspectH: d.ProspectH, Name: d.Name, Title: d.Title, Account: d.Account, Vertical: d.Vertical, Campaign: d.Campaign, Email: d.Email, LinkedInURL: d.LinkedInURL,
		ProfileURL: d.ProfileURL, Handle: d.Handle, Website: d.Website, ICPScore: d.ICPScore, Step: d.Step, LastTouchAt: utc(d.LastTouchAt), NextDueAt: utc(d.NextDueAt)}
	if d.Owner != "" {
		out.Owner = &d.Owner
	}
	out.Status, out.SuppressedUntil = statusOf(d, today)
	return out
}

// awaitWrite makes a search see the write that returned the token.
func (s *Service) awaitWrite(ctx context.Context, actor library.Actor, token string) (behind bool, err error) {
	return indextoken.Await(ctx, s.Store, store.ProspectIndex, s.Await, actor.Tenant, token)
}
