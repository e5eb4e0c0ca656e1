package mappings

import (
	"slices"
	"strings"
	"time"

	"vitrine/library"
)

// Meta is what an index says of itself, in the _meta of its mapping. An index of an
// earlier release says nothing, which counts as complete.
type Meta struct {
	// Incomplete: the index is known to lack documents, or to hold wrong ones; it is
	// being filled, or compared with the library.
	Incomplete bool `json:"incomplete"`
	// Own, of the index that tenants share: those whose assets are to be searched in an
	// index of their own instead.
	Own []library.TenantID `json:"own,omitempty"`
	// Epoch is the epoch of the database that the index was made in; "" when it does
	// not say.
	Epoch string `json:"epoch,omitempty"`
	// WAL is how far the database server had written when the index said so: a server
	// that has written less was set back.
	WAL int64 `json:"wal,omitempty"`
}

// MetaTTL is how long a searcher believes what it last read of the index behind
// the alias. Whoever puts another index there in an emergency lets this time pass
// between the loss of the old one and the use of the new one, so that no searcher
// takes an empty index for a complete one.
const MetaTTL = time.Second

// OwnTTL is how long a searcher goes by the tenants that it last read to have an
// index of their own. The shared index is written for a tenant that moved, and keeps
// its documents, until no searcher can take it for the one to search.
const OwnTTL = 3 * time.Second

// metaKey is the name under which Meta stands in _meta.
const metaKey = "vitrine"

// MetaBody returns the body of a request that puts m into the mapping of an index.
func MetaBody(m Meta) map[string]any {
	return map[string]any{"_meta": map[string]any{metaKey: m}}
}

// IndexMapping is the mapping of an index as OpenSearch shows it.
type IndexMapping struct {
	Dynamic string `json:"dynamic"`
	Meta    struct {
		Vitrine Meta `json:"vitrine"`
	} `json:"_meta"`
	Properties map[string]Property `json:"properties"`
}

// Property is one field of a mapping.
type Property struct {
	Type   string              `json:"type"`
	Fields map[string]Property `json:"fields"`
}

// Vectors returns the embedding configurations that the mapping has a field for.
func (d IndexMapping) Vectors() []string {
	var list []string
	for name, p := range d.Properties {
		if config, ok := strings.CutPrefix(name, vectorPrefix); ok && p.Type == "knn_vector" {
			list = append(list, config)
		}
	}
	slices.Sort(list)
	return list
}
