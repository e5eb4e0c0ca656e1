package service

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/api"
	"vitrine/library"
	"vitrine/prospectcsv"
)

// prospectRoutes move prospects in and out as CSV.
func (s *Service) prospectRoutes() []api.ExtraRoute {
	files := &prospectcsv.Service{Store: s.Store, Caller: s.Caller}
	flag := &huma.Schema{Type: huma.TypeBoolean}
	return []api.ExtraRoute{
		{Method: http.MethodPost, Path: "/api/v1/prospects/import", Name: "ImportProspects", Tag: "outreach", NeedsKey: true, Permission: library.PermWrite, Consumes: "text/csv", Produces: "application/json",
			Summary: "Register the prospects of a CSV file.",
			Doc: "The first line names the columns: email, linkedin_url, name, company and so on, in any order; separators are commas, semicolons or tabs. Each line is registered for itself: what is wrong with one is reported and keeps no other back. " +
				"Lines that say nothing new are not recorded again, so a file can be sent twice. Texts in a list are separated by line breaks.",
			Query: []api.QueryParameter{{Name: "record_source", Required: true, Doc: "Where the file comes from.", Schema: &huma.Schema{Type: huma.TypeString, MinLength: new(1), MaxLength: new(200)}},
				{Name: "dry_run", Doc: "true: only report what is wrong with the file.", Schema: flag}}, Serve: files.Import},
		{Method: http.MethodGet, Path: "/api/v1/prospects/export", Name: "ExportProspects", Tag: "outreach", NeedsKey: true, Permission: library.PermExport, Produces: "text/csv",
			Summary: "Get the prospects as a CSV file.",
			Doc:     "With their state. Suppressed ones are left out unless they are asked for. An apostrophe stands before what a spreadsheet would take for a formula; ImportProspects takes it away.",
			Query:   []api.QueryParameter{{Name: "campaign", Doc: "Only those of this campaign."}, {Name: "include_suppressed", Doc: "true: suppressed ones too.", Schema: flag}}, Serve: files.Export},
	}
}
