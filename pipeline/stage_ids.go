package pipeline

import (
	"fmt"
	"strings"

	"vitrine/library"
)

// ids selects assets by their hashes.
type ids struct {
	AssetIDs []string `json:"asset_ids,omitempty" maxItems:"10000" doc:"Hashes of assets, in the order of the set."`
	AssetHs  []string `json:"asset_hs,omitempty" maxItems:"10000" doc:"The same as asset_ids."`
}

var kindIDs = newKind[ids](Kind{Type: "ids", Category: Select, Doc: "Selects assets by their hashes, at most 10,000.", Args: []string{"asset_ids"},
	Example: map[string]any{"asset_ids": []any{"da39a3ee5e6b4b0d3255bfef95601890afd80709"}}})

func (s *ids) check(c *checking) (errs []library.FieldError) {
	name := "asset_ids"
	if len(s.AssetIDs) == 0 {
		name, s.AssetIDs = "asset_hs", s.AssetHs
	} else if len(s.AssetHs) > 0 {
		errs = append(errs, library.FieldError{Field: c.at + ".asset_hs", Code: "conflict", Message: "asset_ids and asset_hs are the same; send one of them."})
	}
	if len(s.AssetIDs) == 0 {
		errs = append(errs, library.FieldError{Field: c.at + ".asset_ids", Code: "required", Message: "It is required: the hashes of 1 to 10,000 assets."})
	}
	for i, h := range s.AssetIDs {
		if s.AssetIDs[i] = strings.ToLower(h); !library.AssetHash(s.AssetIDs[i]).Valid() && len(errs) < 5 {
			errs = append(errs, library.FieldError{Field: fmt.Sprintf("%s.%s[%d]", c.at, name, i), Code: "pattern", Message: "Expected a SHA-1 of 40 hex digits."})
		}
	}
	return errs
}

func (s *ids) run(x *exec) error {
	seen := make(map[library.AssetHash]bool, len(s.AssetIDs))
	list := make([]library.AssetHash, 0, len(s.AssetIDs))
	for _, h := range s.AssetIDs {
		if h := library.AssetHash(h); !seen[h] {
			seen[h] = true
			list = append(list, h)
		}
	}
	before := x.trace().Output
	for at := 0; at < len(list); at += 1000 {
		if err := x.emitExisting(list[at:min(at+1000, len(list))]); err != nil {
			return err
		}
	}
	if err := x.flush(); err != nil {
		return err
	}
	if there := x.trace().Output - before; x.set == x.index && there < int64(len(list)) {
		x.warn(fmt.Sprintf("%d of the assets are not in the library", int64(len(list))-there))
	}
	return nil
}
