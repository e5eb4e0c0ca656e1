package pipeline

import (
	"errors"

	"vitrine/library"
)

// limit keeps the first assets.
type limit struct {
	Count  int64 `json:"count" minimum:"0" maximum:"100000000" doc:"How many assets to keep."`
	Offset int64 `json:"offset,omitempty" minimum:"0" maximum:"100000000" doc:"How many to leave out before."`
}

var kindLimit = newKind[limit](Kind{Type: "limit", Category: Filter, Doc: "Keeps the first assets of the set.", Args: []string{"count"}, Example: map[string]any{"count": 50}})

func (s *limit) check(*checking) []library.FieldError { return nil }

// errEnough ends a loop over the parts of a set.
var errEnough = errors.New("enough")

func (s *limit) run(x *exec) error {
	at, left := int64(0), s.Count
	err := x.parts(func(assets []library.AssetHash) error {
		n := int64(len(assets))
		from := min(max(s.Offset-at, 0), n)
		to := min(from+left, n)
		at, left = at+n, left-(to-from)
		if err := x.emit(assets[from:to]...); err != nil {
			return err
		}
		if left <= 0 {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}
