package query

import (
	"strings"
	"time"

	"vitrine/library"
)

// tenantFilter is what surrounds every compiled query: the tenant, what the caller may
// see, and the structured filters. It is built from the request alone and put on
// last, so no query text can move it.
type tenantFilter struct {
	filter  []clause
	mustNot []clause
	own     int // of filter, what is not of the request's structured filters
	clauses int // as the index counts them
}

// Clauses that stand in almost every tenant filter.
var (
	isDeleted = term("deleted", true)
	isTrashed = term("trashed", true)
	isPrivate = term("visibility", "private")
)

func newTenantFilter(req Request) (*tenantFilter, error) {
	if !req.Tenant.Valid() {
		return nil, library.Invalid(library.FieldError{Field: "tenant_id", Code: "required", Message: "A search needs a tenant, a UUID in lower case."})
	}
	w := &tenantFilter{
		filter:  []clause{term("tenant_id", string(req.Tenant))},
		mustNot: []clause{isDeleted},
	}
	if req.Trashed {
		w.filter = append(w.filter, isTrashed)
	} else {
		w.mustNot = append(w.mustNot, isTrashed)
	}
	if !req.SeesPrivate {
		hidden := isPrivate
		if req.Viewer != "" {
			hidden = clause{"bool": clause{"filter": []clause{hidden}, "must_not": []clause{term("owner", req.Viewer)}}}
		}
		w.mustNot = append(w.mustNot, hidden)
	}
	w.own = len(w.filter)
	filters, err := req.Filters.compile(req.Zone)
	w.filter = append(w.filter, filters...)
	w.clauses = len(w.filter) + len(req.Filters.MIMEType) + len(w.mustNot) + 2
	return w, err
}

// wrap puts the filter around a compiled tree; nil matches all that the filter lets through.
func (w *tenantFilter) wrap(inner clause, scored bool) clause {
	b := clause{"filter": w.filter, "must_not": w.mustNot}
	switch {
	case inner == nil:
	case scored:
		b["must"] = []clause{inner}
	default:
		b["filter"] = append(w.filter[:len(w.filter):len(w.filter)], inner)
	}
	return clause{"bool": b}
}

// visible puts around a clause the part of the filter that a request's structured
// filters are not of: what the caller may see at all.
func (w *tenantFilter) visible(inner clause) clause {
	f := w.filter[:w.own:w.own]
	if inner != nil {
		f = append(f, inner)
	}
	return clause{"bool": clause{"filter": f, "must_not": w.mustNot}}
}

// scored puts the tenant filter around what an asset must fulfil and what its score is.
func (w *tenantFilter) scored(inner, score clause) clause {
	return clause{"bool": clause{"filter": append(w.filter[:len(w.filter):len(w.filter)], inner), "must_not": w.mustNot, "must": []clause{score}}}
}

// maxFilterValues caps each list of a request's filters and selections.
const maxFilterValues = 100

func (f Filters) compile(zone *time.Location) ([]clause, error) {
	var out []clause
	var errs []library.FieldError
	for _, list := range []struct {
		name   string
		values []string
	}{{"tags", f.Tags}, {"status", f.Status}, {"mime_type", f.MIMEType}} {
		if len(list.values) > maxFilterValues {
			errs = append(errs, library.FieldError{Field: "filters." + list.name, Code: "length", Message: "At most 100 values are allowed."})
		}
	}
	if len(errs) > 0 {
		return nil, library.Invalid(errs...)
	}
	tag, mime := LookupField("tag"), LookupField("mime_type")
	c := &compiler{}
	for _, t := range f.Tags {
		out = append(out, c.equal(tag, fold(t), nil))
	}
	out, errs = f.status(out, errs)
	if len(f.MIMEType) > 0 {
		var any []clause
		for _, m := range f.MIMEType {
			parts := strings.Split(fold(m), "*")
			if len(parts) == 1 {
				any = append(any, c.equal(mime, parts[0], nil))
			} else {
				any = append(any, mime.like(parts))
			}
		}
		out = append(out, shouldMatch(any...))
	}
	r := clause{}
	for _, d := range []struct{ name, op, value string }{{"created_after", "gte", f.CreatedAfter}, {"created_before", "lt", f.CreatedBefore}} {
		if d.value == "" {
			continue
		}
		start, ok := instantOrDate(d.value, zone)
		if !ok {
			errs = append(errs, library.FieldError{Field: "filters." + d.name, Code: "format", Message: "Write YYYY-MM-DD, YYYY-MM, YYYY or an RFC 3339 time."})
			continue
		}
		r[d.op] = instant(start)
	}
	if len(r) > 0 {
		out = append(out, clause{"range": clause{"created": r}})
	}
	if len(errs) > 0 {
		return nil, library.Invalid(errs...)
	}
	return out, nil
}

func (f Filters) status(out []clause, errs []library.FieldError) ([]clause, []library.FieldError) {
	if len(f.Status) == 0 {
		return out, errs
	}
	var values []any
	for _, s := range f.Status {
		status, ok := library.ParseStatus(s)
		if !ok {
			return out, append(errs, library.FieldError{Field: "filters.status", Code: "enum", Message: "Allowed are " + strings.Join(LookupField("status").Values, ", ") + "."})
		}
		values = append(values, string(status))
	}
	return append(out, anyOf("status", values)), errs
}

// instantOrDate reads the beginning of a date, or an RFC 3339 time.
func instantOrDate(v string, zone *time.Location) (time.Time, bool) {
	if start, _, ok := dateUnit(v, zone); ok {
		return start, true
	}
	t, err := time.Parse(time.RFC3339, v)
	return t, err == nil && t.UTC().Year() >= 1000 && t.UTC().Year() <= 9999
}
