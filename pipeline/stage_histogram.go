package pipeline

import (
	"math"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/store"
)

// histogram counts the numbers of a field in ranges.
type histogram struct {
	Field    string  `json:"field" minLength:"1" maxLength:"210" doc:"A field with numbers or dates."`
	Bins     int     `json:"bins,omitempty" minimum:"1" maximum:"200" doc:"How many ranges of the same width. Default: 10."`
	Interval float64 `json:"interval,omitempty" exclusiveMinimum:"0" doc:"The width of the ranges instead; of dates, in days."`
}

var kindHistogram = newKind[histogram](Kind{Type: "histogram", Category: Summarize, Doc: "Counts the numbers of a field in ranges of the same width.", Args: []string{"field"}, Example: map[string]any{"field": "steps", "bins": 5}})

func (s *histogram) check(c *checking) []library.FieldError {
	if s.Bins > 0 && s.Interval > 0 {
		return []library.FieldError{{Field: c.at + ".interval", Code: "conflict", Message: "bins and interval exclude each other."}}
	}
	return checkNumeric(c.at+".field", s.Field)
}

// maxRanges is how many ranges an interval may make.
const maxRanges = 1000

func (s *histogram) run(x *exec) error {
	return x.withNumbers(s.Field, func(t *store.Tx) error {
		result := &library.StageResult{Columns: []string{"from", "to", "count"}, Rows: [][]any{}, Total: x.inputCount()}
		x.trace().Result = result
		var low, high *float64
		err := t.KeysQuery(x.ctx, `SELECT min(value), max(value) FROM pipeline_keys`, nil, func(rows pgx.Rows) error { return rows.Scan(&low, &high) })
		if err != nil || low == nil {
			return err
		}
		from, width, n := s.ranges(*low, *high)
		if n > maxRanges {
			return library.NewError(library.KindUnprocessable, CodeStageFailed, "An interval of %v makes %d ranges; at most %d are listed. Choose a larger one.", s.Interval, n, maxRanges)
		}
		counts := make([]int64, n)
		err = t.KeysQuery(x.ctx, `SELECT least(floor((value - $1::float8) / $2::float8), $3::float8 - 1)::int, count(*) FROM pipeline_keys GROUP BY 1`, []any{from, width, float64(n)}, func(rows pgx.Rows) error {
			var i int
			var in int64
			if err := rows.Scan(&i, &in); err != nil {
				return err
			}
			counts[max(i, 0)] += in
			return nil
		})
		for i, in := range counts {
			a, b := from+float64(i)*width, from+float64(i+1)*width
			result.Rows = append(result.Rows, []any{shown(s.Field, &a), shown(s.Field, &b), in})
		}
		return err
	})
}

// ranges returns where the ranges begin, how wide they are and how many there are. The last one
// includes its end where their number was chosen.
func (s *histogram) ranges(low, high float64) (from, width float64, n int) {
	if width = s.Interval; width > 0 {
		if f := lookupField(s.Field); f != nil && f.Type == "date" {
			width *= 24 * 60 * 60 * 1000
		}
		from = math.Floor(low/width) * width
		return from, width, int(min(math.Floor((high-from)/width), maxRanges*10)) + 1
	}
	bins := s.Bins
	if bins == 0 {
		bins = 10
	}
	if low == high {
		return low, 1, 1
	}
	return low, (high - low) / float64(bins), bins
}
