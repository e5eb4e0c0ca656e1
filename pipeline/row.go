package pipeline

import (
	"encoding/json"
	"slices"
	"strings"

	"vitrine/library"
	"vitrine/pipeline/expr"
	"vitrine/store"
)

// Row is an asset as a stage sees it: its row in the library with, in a dry run, what earlier
// stages would have changed.
type Row struct {
	library.Asset
	Facts *store.AssetFacts
}

// Field implements expr.Env.
func (r *Row) Field(name string) expr.Value {
	if f := lookupField(name); f != nil {
		return f.get(r)
	}
	if key, ok := strings.CutPrefix(name, metadataPrefix); ok {
		return expr.OfJSON(metadataAt(r.Metadata, key))
	}
	return expr.Missing
}

// simulated is what a dry run keeps of an asset that it changed.
type simulated struct {
	Title       string             `json:"title"`
	Description string             `json:"description"`
	Status      library.Status     `json:"status"`
	Tags        []string           `json:"tags"`
	Owner       string             `json:"owner"`
	Visibility  library.Visibility `json:"visibility"`
	Metadata    map[string]any     `json:"metadata"`
	Rating      int                `json:"rating"`
	Favorite    bool               `json:"favorite"`
	Collections []store.Membership `json:"collections"`
	// Joined is set where Collections are those that the asset would have.
	Joined bool `json:"joined"`
}

func (r *Row) state() simulated {
	return simulated{Title: r.Title, Description: r.Description, Status: r.Status, Tags: r.Tags, Owner: r.Owner, Visibility: r.Visibility,
		Metadata: r.Metadata, Rating: r.Rating, Favorite: r.Favorite, Collections: r.Facts.Collections, Joined: r.Facts.Collections != nil}
}

// simulate makes a row what a dry run made of it.
func (r *Row) simulate(raw json.RawMessage) error {
	var s simulated
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if err := d.Decode(&s); err != nil {
		return err
	}
	r.Title, r.Description, r.Status, r.Tags, r.Owner, r.Visibility = s.Title, s.Description, s.Status, s.Tags, s.Owner, s.Visibility
	r.Metadata, r.Rating, r.Favorite = s.Metadata, s.Rating, s.Favorite
	if s.Joined {
		r.Facts.Collections = s.Collections
	}
	return nil
}

// metadataAt returns the value at a path of metadata: the key itself, or else members of
// objects with dots between them.
func metadataAt(m map[string]any, path string) any {
	if v, ok := m[path]; ok {
		return v
	}
	head, rest, nested := strings.Cut(path, ".")
	inner, ok := m[head].(map[string]any)
	if !nested || !ok {
		return nil
	}
	return metadataAt(inner, rest)
}

// setMetadata returns metadata with a value at a path; nil takes the key away. What is there
// is not changed.
func setMetadata(m map[string]any, path string, v any) map[string]any {
	out := make(map[string]any, len(m)+1)
	for k, x := range m {
		out[k] = x
	}
	head, rest, nested := strings.Cut(path, ".")
	if inner, ok := m[head].(map[string]any); nested && ok {
		if _, plain := m[path]; !plain {
			out[head] = setMetadata(inner, rest, v)
			return out
		}
	}
	if v == nil {
		delete(out, path)
	} else {
		out[path] = v
	}
	return out
}

// memberOf returns how a row is in a collection, and whether it is.
func (r *Row) memberOf(path string) (store.Membership, bool) {
	i := slices.IndexFunc(r.Facts.Collections, func(m store.Membership) bool { return m.Path == path })
	if i < 0 {
		return store.Membership{}, false
	}
	return r.Facts.Collections[i], true
}
