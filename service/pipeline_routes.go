package service

import (
	"context"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"vitrine/api"
	"vitrine/library"
	"vitrine/op/pipelines"
	"vitrine/pipelinecsv"
)

// pipelineRoutes are those beside the operations: what runs found as CSV, and how far they are as a stream.
func (s *Service) pipelineRoutes() []api.ExtraRoute {
	files := &pipelinecsv.Service{Store: s.Store}
	return []api.ExtraRoute{
		{Method: http.MethodGet, Path: "/api/v1/pipelines/runs/{run_id}/summary.csv", Name: "GetPipelineRunSummary", Tag: "pipelines", NeedsKey: true, Permission: library.PermAdmin, Produces: "text/csv",
			Summary: "Get the result of a summarize stage as a CSV file.",
			Doc: "The table of count, group_by, stats or histogram, with the names of its columns in the first line; missing values are empty. An apostrophe stands before what a spreadsheet would take for a formula. " +
				"The header " + pipelinecsv.OmittedHeader + " counts the rows that the stage left out: group_by lists as many as its top says.",
			Query: []api.QueryParameter{{Name: "stage", Doc: "The place of the stage, from 0, or its id. When left out: the last stage with a result."}}, Serve: files.Summary},
		{Method: http.MethodGet, Path: "/api/v1/pipelines/runs/{run_id}/events", Name: "StreamPipelineRun", Tag: "pipelines", NeedsKey: true, Permission: library.PermRead, Produces: "text/event-stream",
			Summary: "Stream the progress of a run as server-sent events.",
			Doc: "Each message is the trace of the run as GetPipelineRun returns it, the first at once, then whenever it changed. The last one has a final state; then the stream ends. " +
				"A client that connects again with the Last-Event-ID of that one is answered with 204, so that browsers stop.", Serve: s.followRun},
	}
}

// followRun streams the trace of a run until it has ended.
func (s *Service) followRun(w http.ResponseWriter, r *http.Request, actor library.Actor) error {
	id := chi.URLParam(r, "run_id")
	if strings.Trim(id, "0123456789abcdef-") != "" { // not the id of a run, and perhaps no text that a database takes
		return library.NotFound("pipeline run")
	}
	runs := &pipelines.Service{Store: s.Store}
	return s.Streams.Follow(w, r, actor, func(ctx context.Context, actor library.Actor) (any, bool, error) {
		t, err := runs.Trace(ctx, actor, id)
		ended := library.RunState(t.State).Ended()
		if !ended {
			t.DurationMS = 0 // it would be another message at every look
		}
		return t, ended, err
	})
}
