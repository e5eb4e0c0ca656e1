package formats

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

func toFloat(v any) *float64 {
	switch v := v.(type) {
	case json.Number:
		return parseFloat(v.String())
	case string:
		return parseFloat(v)
	}
	return nil
}

func toInt(v any) *int {
	f := toFloat(v)
	if f == nil || math.Abs(*f) > math.MaxInt32 {
		return nil
	}
	n := int(*f)
	return &n
}

// parseFloat reads a finite number.
func parseFloat(s string) *float64 {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

// parseCount reads a whole number from 0 to 2^31-1; "20.0" is 20.
func parseCount(s string) *int {
	f := parseFloat(s)
	if f == nil || *f < 0 || *f > math.MaxInt32 || *f != math.Trunc(*f) {
		return nil
	}
	n := int(*f)
	return &n
}

// parsePositive reads a whole number from 1.
func parsePositive(s string) *int {
	if n := parseCount(s); n != nil && *n > 0 {
		return n
	}
	return nil
}

// parseSeed reads an unsigned 64-bit seed exactly; a seed written as a float is
// taken when the float holds it exactly.
func parseSeed(s string) *uint64 {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseUint(s, 10, 64); err == nil {
		return &n
	}
	f := parseFloat(s)
	if f == nil || *f < 0 || *f > 1<<53 || *f != math.Trunc(*f) {
		return nil
	}
	n := uint64(*f)
	return &n
}

// parseSize reads "1024x768", "1024 x 768", "(1024, 768)", "1024×768".
func parseSize(s string) (w, h *int) {
	parts := strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if len(parts) < 2 || len(parts[0]) > 6 || len(parts[1]) > 6 {
		return nil, nil
	}
	w, h = parseCount(parts[0]), parseCount(parts[1])
	if *w == 0 || *h == 0 {
		return nil, nil
	}
	return w, h
}

func nonEmpty(s string) *string {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	return &s
}
