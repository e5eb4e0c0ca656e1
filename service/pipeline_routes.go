package service

import (
	"net/http"

	"vitrine/api"
	"vitrine/library"
	"vitrine/pipelinecsv"
)

// pipelineRoutes move what runs found out as CSV.
func (s *Service) pipelineRoutes() []api.ExtraRoute {
	files := &pipelinecsv.Service{Store: s.Store}
	return []api.ExtraRoute{
		{Method: http.MethodGet, Path: "/api/v1/pipelines/runs/{run_id}/summary.csv", Name: "GetPipelineRunSummary", Tag: "pipelines", NeedsKey: true, Permission: library.PermAdmin, Produces: "text/csv",
			Summary: "Get the result of a summarize stage as a CSV file.",
			Doc: "The table of count, group_by, stats or histogram, with the names of its columns in the first line; missing values are empty. An apostrophe stands before what a spreadsheet would take for a formula. " +
				"The header " + pipelinecsv.OmittedHeader + " counts the rows that the stage left out: group_by lists as many as its top says.",
			Query: []api.QueryParameter{{Name: "stage", Doc: "The place of the stage, from 0, or its id. When left out: the last stage with a result."}}, Serve: files.Summary},
	}
}
