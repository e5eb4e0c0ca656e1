package pipeline

import (
	"slices"

	"vitrine/library"
	"vitrine/store"
)

// enrich works out anew what is known of assets from their files.
type enrich struct {
	Operations []string `json:"operations" minItems:"1" maxItems:"5" enum:"phash,dominant_color,embedding,re_extract,caption" doc:"phash: by which near duplicates are found. dominant_color. embedding: for searches by meaning. re_extract: reads the generation data again. caption needs a model that is not part of this version: it is answered as a stub."`
}

var kindEnrich = newKind[enrich](Kind{Type: "enrich", Category: Transform, Doc: "Works out anew what is known of assets from their files.", Args: []string{"operations"}, Example: map[string]any{"operations": []any{"phash"}}})

func (s *enrich) check(c *checking) []library.FieldError {
	return []library.FieldError{{Field: c.at, Code: "unavailable", Message: "This installation cannot run the stage enrich yet (" + CodeStageUnavailable + ").", Hint: "Perceptual hashes and embeddings are made when a file is stored."}}
}

func (s *enrich) kinds() store.FactKinds { return store.FactKinds{} }
func (s *enrich) begin(*exec) error      { return nil }

func (s *enrich) simulate(*exec, []*Row, *tally) error { return nil }

func (s *enrich) apply(*exec, *store.Tx, []library.AssetHash, *tally) error {
	_ = slices.Contains(s.Operations, "caption")
	return nil
}
