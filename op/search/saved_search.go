package search

import (
	"encoding/json"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/op"
	"vitrine/query"
)

// SavedSearchInput is embedded by inputs that speak of one saved search.
type SavedSearchInput struct {
	ID string `json:"saved_search_id" id:"saved_search" minLength:"1" maxLength:"64" doc:"The saved search."`
}

// exampleSavedSearchID stands in examples where a caller puts an identifier of their own.
const exampleSavedSearchID = "0198c5a0-0000-7000-8000-000000000000"

// SavedSearch is a saved search as it is shown. Outputs embed it.
type SavedSearch struct {
	ID             string         `json:"saved_search_id"`
	Name           string         `json:"name"`
	Description    string         `json:"description"`
	Query          string         `json:"query"`
	SearchMode     string         `json:"search_mode"`
	Filters        *filtersInput  `json:"filters,omitempty"`
	OrderBy        string         `json:"order_by"`
	Order          string         `json:"order,omitempty" doc:"Absent: the default direction of order_by."`
	CreatedAt      time.Time      `json:"created_at"`
	CreatedBy      string         `json:"created_by"`
	UpdatedAt      time.Time      `json:"updated_at"`
	Interpretation interpretation `json:"interpretation" doc:"How the query is parsed."`
	Strict         bool           `json:"strict" doc:"Whether it is also valid in strict syntax, as pipelines and the mode boolean require."`
}

// ResourceVersion implements op.Versioned.
func (s SavedSearch) ResourceVersion() int64 { return s.UpdatedAt.UnixMicro() }

// changedSavedOutput is a saved search as a write left it.
type changedSavedOutput struct {
	SavedSearch
	op.Undoable
}

// validateSaved reads and compiles what is about to be saved: a search that cannot
// be run is not kept.
func (s *Service) validateSaved(actor library.Actor, saved library.SavedSearch) error {
	filters, err := decodeFilters(saved)
	if err != nil {
		return err
	}
	if errs := filters.validate(); len(errs) > 0 {
		return library.Invalid(errs...)
	}
	_, _, err = read(actor, saved.Query, query.Request{Mode: query.Mode(saved.Mode), Filters: filters.compile(), Sort: sortOrder(saved.OrderBy, saved.Direction), Limit: 1})
	return err
}

func (s *Service) describeSaved(actor library.Actor, saved library.SavedSearch) (SavedSearch, error) {
	out := SavedSearch{ID: saved.ID, Name: saved.Name, Description: saved.Description, Query: saved.Query, SearchMode: saved.Mode,
		OrderBy: saved.OrderBy, Order: saved.Direction, CreatedAt: saved.CreatedAt.UTC(), CreatedBy: saved.CreatedBy, UpdatedAt: saved.UpdatedAt.UTC()}
	var err error
	if out.Filters, err = decodeFilters(saved); err != nil {
		return out, err
	}
	out.Interpretation.Warnings = []query.Warning{}
	q, compiled, err := read(actor, saved.Query, query.Request{Mode: query.Mode(saved.Mode), Limit: 1})
	if err != nil {
		return out, nil //nolint:nilerr // kept under other rules than today's: it is shown, and running it says what is wrong
	}
	_, strict := query.Parse(saved.Query, query.Options{Strict: true})
	out.Interpretation, out.Strict = interpret(q, compiled), strict == nil
	return out, nil
}

func decodeFilters(saved library.SavedSearch) (*filtersInput, error) {
	if saved.Filters == nil {
		return nil, nil
	}
	f := &filtersInput{}
	return f, json.Unmarshal(saved.Filters, f)
}

// encodeFilters is the form in which filters are kept; none are nil.
func encodeFilters(f *filtersInput) (json.RawMessage, error) {
	if f == nil {
		return nil, nil
	}
	raw, err := json.Marshal(f)
	if string(raw) == "{}" {
		return nil, err
	}
	return raw, err
}

// checkName refuses a name of blanks.
func checkName(name *string) []library.FieldError {
	if name == nil {
		return nil
	}
	if *name = strings.TrimSpace(*name); *name == "" {
		return []library.FieldError{{Field: "name", Code: "length", Message: "Expected 1 to 200 characters that are not all spaces."}}
	}
	return nil
}
