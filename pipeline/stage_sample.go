package pipeline

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"strconv"

	"vitrine/library"
	"vitrine/store"
)

// sample keeps some assets by chance, the same ones for the same seed.
type sample struct {
	Count      int64   `json:"count,omitempty" minimum:"1" maximum:"100000000" doc:"How many to keep. With stratify_by, spread evenly over its values."`
	Percent    float64 `json:"percent,omitempty" exclusiveMinimum:"0" maximum:"100" doc:"Which share to keep, rounded. With stratify_by, of each of its values."`
	Seed       int64   `json:"seed,omitempty" default:"1" doc:"Another seed picks others."`
	StratifyBy string  `json:"stratify_by,omitempty" maxLength:"210" doc:"A field."`
}

var kindSample = newKind[sample](Kind{Type: "sample", Category: Filter, Doc: "Keeps some assets by chance, always the same for the same seed, in the order of the set.", Args: []string{"count"},
	Example: map[string]any{"count": 20, "stratify_by": "tool"}})

func (s *sample) check(c *checking) (errs []library.FieldError) {
	if (s.Count == 0) == (s.Percent == 0) {
		errs = append(errs, library.FieldError{Field: c.at + ".count", Code: "required", Message: "Send either count or percent."})
	}
	if s.StratifyBy != "" {
		errs = append(errs, checkField(c.at+".stratify_by", s.StratifyBy, false)...)
	}
	return errs
}

// draw is the place of an asset in the drawing, from 0 to 1.
func (s *sample) draw(h library.AssetHash) float64 {
	sum := sha256.Sum256([]byte(strconv.FormatInt(s.Seed, 10) + " " + string(h)))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / math.MaxInt64 * 1024
}

func (s *sample) run(x *exec) error {
	return x.withKeys(fieldKinds(s.StratifyBy), func(r *Row) ([]store.SortKey, error) {
		k := store.SortKey{Value: s.draw(r.Hash), Key: []byte{}}
		if s.StratifyBy != "" {
			k.Key = appendKey(nil, r.Field(s.StratifyBy), false)
		}
		return []store.SortKey{k}, nil
	}, func(t *store.Tx) error {
		// In each group the assets are numbered as they are drawn; n is how many it has.
		const drawn = `SELECT *, row_number() OVER (PARTITION BY key ORDER BY value, asset_h) AS turn, count(*) OVER (PARTITION BY key) AS n FROM pipeline_keys`
		if s.Percent > 0 {
			return x.pick(t, `SELECT asset_h, row_number() OVER (ORDER BY place) - 1 AS place FROM (`+drawn+`) d WHERE turn <= round(n * $5::numeric / 100)`, s.Percent)
		}
		return x.pick(t, `SELECT asset_h, row_number() OVER (ORDER BY place) - 1 AS place FROM (
			SELECT * FROM (`+drawn+`) d ORDER BY turn, value, asset_h LIMIT $5::bigint) d`, s.Count)
	})
}
