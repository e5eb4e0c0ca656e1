// Package prospectcsv moves prospects in and out as CSV, row by row: neither direction keeps
// more than some hundred rows in memory.
package prospectcsv

import (
	"strings"

	"vitrine/internal/spreadsheet"
	"vitrine/op"
	"vitrine/op/prospects"
	"vitrine/store"
)

// Service serves the routes of the import and the export.
type Service struct {
	Store *store.Store
	// Caller knows which tenants have outreach.
	Caller *op.Caller
}

// field is a column that both directions have.
type field struct {
	name  string
	text  func(*prospects.Person) *string
	list  func(*prospects.Person) *[]string
	float func(*prospects.Person) **float64
	other []string // further names of the column in files that are imported
}

// fields are the columns in the order of an export.
var fields = []field{
	{name: "email", text: func(p *prospects.Person) *string { return &p.Email }, other: []string{"e_mail", "email_address", "mail"}},
	{name: "linkedin_url", text: func(p *prospects.Person) *string { return &p.LinkedInURL }, other: []string{"linkedin", "linkedin_profile", "person_linkedin_url"}},
	{name: "profile_url", text: func(p *prospects.Person) *string { return &p.ProfileURL }, other: []string{"profile"}},
	{name: "handle", text: func(p *prospects.Person) *string { return &p.Handle }},
	{name: "website", text: func(p *prospects.Person) *string { return &p.Website }, other: []string{"url", "company_website"}},
	{name: "name", text: func(p *prospects.Person) *string { return &p.Name }, other: []string{"full_name"}},
	{name: "title", text: func(p *prospects.Person) *string { return &p.Title }, other: []string{"job_title", "position"}},
	{name: "account", text: func(p *prospects.Person) *string { return &p.Account }, other: []string{"company", "company_name", "organization"}},
	{name: "vertical", text: func(p *prospects.Person) *string { return &p.Vertical }, other: []string{"industry"}},
	{name: "campaign", text: func(p *prospects.Person) *string { return &p.Campaign }},
	{name: "icp_score", float: func(p *prospects.Person) **float64 { return &p.ICPScore }},
	{name: "owner", text: func(p *prospects.Person) *string { return &p.Owner }},
	{name: "summary", text: func(p *prospects.Person) *string { return &p.Summary }},
	{name: "pains", list: func(p *prospects.Person) *[]string { return &p.Pains }},
	{name: "signals", list: func(p *prospects.Person) *[]string { return &p.Signals }},
	{name: "sources", list: func(p *prospects.Person) *[]string { return &p.Sources }},
	{name: "trial_start_date", text: func(p *prospects.Person) *string { return &p.TrialStartDate }},
	{name: "agreed_price", float: func(p *prospects.Person) **float64 { return &p.AgreedPrice }},
	{name: "currency", text: func(p *prospects.Person) *string { return &p.Currency }},
}

// state are the columns that an export adds; an import passes them over.
var state = []string{"prospect_h", "status", "step", "last_touch_at", "last_reply_at", "next_due_at", "suppression_reason", "suppressed_until", "community_stage", "enterprise_stage", "investor_stage"}

// columnNamed finds the field that a header names, in any case and with blanks or hyphens.
func columnNamed(header string) *field {
	name := strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(header)))
	for i := range fields {
		if f := &fields[i]; f.name == name || contains(f.other, name) {
			return f
		}
	}
	return nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// cell returns a text as an export writes it: quoted, and with an apostrophe before what a spreadsheet
// would take for a formula.
func cell(s string) string {
	return `"` + strings.ReplaceAll(spreadsheet.Text(s), `"`, `""`) + `"`
}

// text returns what a cell says: without the apostrophe that an export, or a spreadsheet, sets
// before what is no formula.
func text(s string) string {
	s = strings.TrimSpace(s)
	if rest, marked := strings.CutPrefix(s, "'"); marked && spreadsheet.IsFormula(rest) {
		return rest
	}
	return s
}
