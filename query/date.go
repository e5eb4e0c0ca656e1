package query

import (
	"strings"
	"time"
)

const dateForms = "write YYYY, YYYY-MM or YYYY-MM-DD, a range a..b or a comparison such as >=a"

// date reads a day, a month or a year in the reader's time zone.
func (r *reader) date(v string) (*Scalar, string) {
	start, end, ok := dateUnit(v, r.zone)
	if !ok {
		return nil, dateForms
	}
	return &Scalar{Text: v, Start: start, End: end}, ""
}

// dateUnit gives the first and the last millisecond of a day, month or year, in UTC.
// Years run from 1000 to 9999, the ones the index can hold.
func dateUnit(v string, zone *time.Location) (start, end time.Time, ok bool) {
	var layout string
	years, months, days := 0, 0, 0
	switch len(v) {
	case len("2006"):
		layout, years = "2006", 1
	case len("2006-01"):
		layout, months = "2006-01", 1
	case len("2006-01-02"):
		layout, days = "2006-01-02", 1
	default:
		return start, end, false
	}
	start, err := time.ParseInLocation(layout, v, zone)
	if err != nil || start.Year() < 1000 || strings.ContainsAny(v, "+") {
		return start, end, false
	}
	end = start.AddDate(years, months, days).Add(-time.Millisecond).UTC()
	if end.Year() > 9999 {
		end = time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)
	}
	return start.UTC(), end, true
}
