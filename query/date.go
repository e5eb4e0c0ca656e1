package query

import (
	"strconv"
	"strings"
	"time"
)

const dateForms = "write YYYY, YYYY-MM or YYYY-MM-DD, today, yesterday, 7d (or w, m, y) for so long ago, a range a..b or a comparison such as >=a"

// date reads a day, a month or a year in the reader's time zone, or a day by how
// long ago it is.
func (r *reader) date(v string) (*Scalar, string) {
	start, end, ok := dateUnit(v, r.zone)
	if !ok {
		v = strings.ToLower(v)
		if day := r.ago(v); day != "" {
			start, end, ok = dateUnit(day, r.zone)
		}
	}
	if !ok {
		return nil, dateForms
	}
	return &Scalar{Text: v, Start: start, End: end}, ""
}

// ago returns the day that is meant by today, yesterday or an age such as 7d, 2w, 3m
// or 1y; nothing for what is none.
func (r *reader) ago(v string) string {
	now := r.now.In(r.zone)
	switch v {
	case "today":
		return now.Format(time.DateOnly)
	case "yesterday":
		return now.AddDate(0, 0, -1).Format(time.DateOnly)
	}
	n, unit, ok := age(v)
	if !ok {
		return ""
	}
	switch unit {
	case 'd':
		now = now.AddDate(0, 0, -n)
	case 'w':
		now = now.AddDate(0, 0, -7*n)
	case 'm':
		now = now.AddDate(0, -n, 0)
	default:
		now = now.AddDate(-n, 0, 0)
	}
	if now.Year() < 1000 {
		return ""
	}
	return now.Format(time.DateOnly)
}

// age reads up to four digits and d, w, m or y.
func age(v string) (n int, unit byte, ok bool) {
	last := len(v) - 1
	if last < 1 || last > 4 || strings.Trim(v[:last], "0123456789") != "" || !strings.ContainsRune("dwmy", rune(v[last])) {
		return 0, 0, false
	}
	n, err := strconv.Atoi(v[:last])
	return n, v[last], err == nil
}

// dateUnit returns the first and the last millisecond of a day, month or year, in UTC.
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
