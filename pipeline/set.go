package pipeline

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"vitrine/library"
	"vitrine/pipeline/expr"
)

// errAsset is why a stage cannot change one asset; others go on where on_error is skip.
type errAsset struct{ reason string }

func (e *errAsset) Error() string { return e.reason }

func cannot(format string, args ...any) error { return &errAsset{fmt.Sprintf(format, args...)} }

// setValue sets a field of a row. A missing value empties it.
func setValue(r *Row, name string, v expr.Value) error {
	if key, ok := strings.CutPrefix(name, metadataPrefix); ok && lookupField(name) == nil {
		return setMetadataValue(r, key, v)
	}
	return lookupField(name).set(r, v)
}

func setText(name string, most int, at func(*Row) *string) func(*Row, expr.Value) error {
	return func(r *Row, v expr.Value) error {
		s := v.String()
		if utf8.RuneCountInString(s) > most {
			return cannot("the %s would have more than %d characters", name, most)
		}
		*at(r) = s
		return nil
	}
}

func setStatus(r *Row, v expr.Value) error {
	s, ok := library.ParseStatus(v.String())
	if !ok {
		return cannot("the status would be none of Draft, PendingApproval, Approved, Rejected and Archived")
	}
	r.Status = s
	return nil
}

func setTags(r *Row, v expr.Value) error {
	tags := library.MergeTags(nil, v.Texts())
	if err := checkTags(tags); err != nil {
		return err
	}
	r.Tags = tags
	return nil
}

func checkTags(tags []string) error {
	if len(tags) > library.MaxTags {
		return cannot("it would have more than %d tags", library.MaxTags)
	}
	for _, t := range tags {
		if utf8.RuneCountInString(t) > library.MaxTag {
			return cannot("a tag would have more than %d characters", library.MaxTag)
		}
	}
	return nil
}

func setRating(r *Row, v expr.Value) error {
	n, ok := v.As(expr.Number).Float()
	switch {
	case v.IsMissing():
		r.Rating = 0
	case !ok || n != float64(int(n)) || n < 0 || n > library.MaxRating:
		return cannot("the rating would be no whole number from 0 to %d", library.MaxRating)
	default:
		r.Rating = int(n)
	}
	return nil
}

func setFavorite(r *Row, v expr.Value) error {
	b := v.As(expr.Bool)
	if b.IsMissing() && !v.IsMissing() {
		return cannot("favorite would be neither true nor false")
	}
	r.Favorite = b.IsTrue()
	return nil
}

// maxMetadata is how many bytes the metadata of one asset may have as JSON.
const maxMetadata = 64 << 10

func setMetadataValue(r *Row, key string, v expr.Value) error {
	m := setMetadata(r.Metadata, key, v.JSON())
	raw, err := json.Marshal(m)
	if err != nil || len(raw) > maxMetadata {
		return cannot("its metadata would have more than %d KiB", maxMetadata>>10)
	}
	r.Metadata = m
	return nil
}
