// Package pipelinecsv serves what the summarize stages of runs found as CSV.
package pipelinecsv

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"vitrine/internal/spreadsheet"
	"vitrine/library"
	"vitrine/store"
)

// Service serves the route of summaries.
type Service struct{ Store *store.Store }

// OmittedHeader is the header of the answer with the number of rows that the stage left out, as
// group_by does beyond its top.
const OmittedHeader = "Vitrine-Rows-Omitted"

// Summary writes the result of a stage of a run as CSV: of the one that stage names, by its
// place from 0 or by its id, or of the last one that has a result. Results may be of private
// assets, so the route needs a key that sees every asset.
func (s *Service) Summary(w http.ResponseWriter, r *http.Request, actor library.Actor) error {
	id := chi.URLParam(r, "run_id")
	if strings.Trim(id, "0123456789abcdef-") != "" { // not the id of a run, and perhaps no text that a database takes
		return library.NotFound("pipeline run")
	}
	run, err := s.Store.PipelineRuns.Get(r.Context(), actor.Tenant, id)
	if err != nil {
		return err
	}
	stage, err := find(run, r.URL.Query().Get("stage"))
	if err != nil {
		return err
	}
	var b bytes.Buffer // at most some thousand rows
	if err := spreadsheet.Write(&b, stage.Result.Columns, stage.Result.Rows); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
	h.Set("Content-Disposition", `attachment; filename="`+stage.Type+`.csv"`)
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	h.Set("Cache-Control", "no-store")
	h.Set(OmittedHeader, strconv.FormatInt(stage.Result.More, 10))
	_, err = w.Write(b.Bytes())
	return err
}

// find returns the stage of a run whose result is asked for.
func find(run library.PipelineRun, name string) (found library.StageTrace, err error) {
	known := name == ""
	for i, t := range run.Progress.Stages {
		asked := name == "" || name == strconv.Itoa(i) || t.ID != "" && t.ID == name
		known = known || asked
		if asked && t.Result != nil && (t.State == library.StageOK || run.State.Ended()) {
			found = t
		}
	}
	switch {
	case found.Result != nil:
		return found, nil
	case !known:
		return found, library.Invalid(library.FieldError{Field: "stage", Code: "unknown", Message: "The run has no such stage.", Hint: "Send its place, from 0, or its id; GetPipelineRun lists the stages."})
	case !run.State.Ended():
		return found, library.NewError(library.KindConflict, library.CodeConflict, "The run has not come to this result yet. Follow it with GetPipelineRun.")
	}
	return found, library.NewError(library.KindNotFound, library.CodeNotFound, "This stage has no result. The stages count, group_by, stats and histogram have one, if the run came so far.")
}
