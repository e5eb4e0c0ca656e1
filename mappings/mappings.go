// Package mappings says what an asset looks like in the search index.
//
// It holds the index settings (index.settings.json), the table of the fields, the
// names of the indices and of the alias, and Document, the Go form of one indexed
// asset. The mapping, the JSON of documents and the fields of the search language
// are made from the table, so they cannot drift apart: the indexer fills a Document,
// the search reads one back out of a hit.
//
// It never talks to a server and never decides what an asset is: the truth about
// assets is in PostgreSQL, and an index built from these mappings can be thrown
// away and built again.
package mappings

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Version counts incompatible changes of the mapping of assets. It is part of every index
// name, so two versions can stand side by side while one replaces the other.
const Version = 5

// Windows and caps that the settings and the callers must agree on.
const (
	MaxResultWindow = 10100 // offset + limit of one request; beyond it one pages with a cursor
	MaxKeyword      = 512   // characters of a keyword value; longer ones are stored and shown but not searchable whole
	MaxNodeProps    = 512   // entries of gt_node_props per document
	MaxNodeValue    = 128   // bytes of one node input value kept in gt_node_props
)

// Assets returns a fresh copy of the body for creating an assets index: settings
// and mapping, without any vector field.
func Assets() []byte { return AssetIndex().Body() }

// Vector describes one vector field: one embedding configuration.
type Vector struct {
	Config string // identifier of the embedding configuration, [a-z0-9_]{1,64}
	Dims   int    // 1 to 16000
}

// EmbeddedField holds what became of a document's text: one of the values below.
// A document without it waits to be embedded. Only an index with a vector field
// has it.
const EmbeddedField = "embedded"

// The values of EmbeddedField.
const (
	EmbeddedReady   = "ready"   // the document has its vector
	EmbeddedNothing = "nothing" // there is no text to embed
	EmbeddedRefused = "refused" // the provider does not take the text
)

// WithVectors returns the body for creating an assets index that has a field
// vec_<config> per given configuration: Lucene HNSW with m 16 and
// ef_construction 100 over cosine similarity. It fails on a name or a dimension
// out of range and on the same name twice. Without configurations it is Assets.
func WithVectors(vectors ...Vector) ([]byte, error) { return Create("", Meta{}, vectors...) }

// Create returns the body of WithVectors for an index that is called name, says m of
// itself and has its Writer alias. Without a name there is no alias.
func Create(name string, m Meta, vectors ...Vector) ([]byte, error) {
	return AssetIndex().Create(name, m, vectors...)
}

// WithVector is WithVectors for one configuration.
func WithVector(config string, dims int) ([]byte, error) {
	return WithVectors(Vector{Config: config, Dims: dims})
}

// VectorProperty returns the mapping of one vector field, for adding it to an
// index that exists.
func VectorProperty(v Vector) (json.RawMessage, error) {
	if !validConfig(v.Config) {
		return nil, fmt.Errorf("an embedding configuration is named with 1 to 64 of a-z, 0-9 and _")
	}
	if v.Dims < 1 || v.Dims > 16000 {
		return nil, fmt.Errorf("embedding configuration %q: %d dimensions, allowed are 1 to 16000", v.Config, v.Dims)
	}
	return json.Marshal(map[string]any{
		"type":      "knn_vector",
		"dimension": v.Dims,
		"method": map[string]any{
			"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil",
			"parameters": map[string]any{"m": 16, "ef_construction": 100},
		},
	})
}

// VectorField names the vector field of an embedding configuration.
func VectorField(config string) string { return vectorPrefix + config }

const vectorPrefix = "vec_"

func validConfig(s string) bool {
	return len(s) >= 1 && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}
