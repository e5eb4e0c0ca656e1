package naive

import (
	"strconv"
	"strings"
	"time"

	"vitrine/mappings"
	"vitrine/query"
)

// metadata compares the values of all keys, or of one, as they are written.
func metadata(p *query.Pred, d *mappings.Document) bool {
	values := d.MetadataValues
	if p.Field.Key != "" {
		if p.Op == query.Exists {
			return hasKey(d, p.Field.Key)
		}
		values = nil
		for _, pair := range d.Metadata {
			if key, v, _ := strings.Cut(pair, "="); key == p.Field.Key {
				values = append(values, v)
			}
		}
	}
	for _, v := range values {
		switch {
		case p.Op == query.Exists, p.Op == query.Equal && Fold(v) == strings.TrimSuffix(Fold(p.Value), ".0"), p.Op == query.Like && glob(p.Pattern, Fold(v)):
			return true
		case p.Lo == nil && p.Hi == nil:
		case inMetadataRange(p, v):
			return true
		}
	}
	return false
}

// hasKey reports whether a key has a value, or a key below it.
func hasKey(d *mappings.Document, key string) bool {
	for _, pair := range d.Metadata {
		if have, _, _ := strings.Cut(pair, "="); have == key || strings.HasPrefix(have, key+".") {
			return true
		}
	}
	return false
}

// inMetadataRange compares numbers with numbers and dates with dates.
func inMetadataRange(p *query.Pred, v string) bool {
	end := p.Lo
	if end == nil {
		end = p.Hi
	}
	if !end.Start.IsZero() {
		at, err := time.Parse(time.DateOnly, v)
		return err == nil && dated(p, &at)
	}
	n, err := strconv.ParseFloat(v, 64)
	return err == nil && numeric(p, []float64{n})
}
