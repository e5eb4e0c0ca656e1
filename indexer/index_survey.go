package indexer

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"vitrine/internal/opensearch"
	"vitrine/mappings"
	"vitrine/store/indexstate"
)

// survey is what OpenSearch has under the names of this deployment.
type survey struct {
	names   mappings.IndexNames
	indices map[string]surveyedIndex // by name: those that are named as ours are
	holders map[string]holder        // by index: what the alias points at, whoever made it
	taken   bool                     // an index, and no alias, has the name of the alias
}

// surveyedIndex is one index.
type surveyedIndex struct {
	uuid          string
	closed        bool
	writer        bool   // it has its writer alias
	mismatch      string // why it is no index of ours, or ""
	missingFields map[string]json.RawMessage
	vectors       []string
	meta          mappings.Meta
	readOnly      bool // a block keeps it from being written
}

// isBefore reports whether the index was made in an earlier epoch of the database.
func (i surveyedIndex) isBefore(e indexstate.Epoch) bool {
	return i.meta.Epoch != "" && i.meta.Epoch != e.ID
}

// holder is how the alias points at an index.
type holder struct {
	plain bool // without a filter or a routing
}

// declaredIndex is an index as GET /<name> shows it, as far as it is asked for.
type declaredIndex struct {
	Aliases map[string]struct {
		Filter  json.RawMessage `json:"filter"`
		Index   string          `json:"index_routing"`
		Search  string          `json:"search_routing"`
		Routing string          `json:"routing"`
	} `json:"aliases"`
	Mappings mappings.IndexMapping `json:"mappings"`
	Settings struct {
		Index struct {
			UUID   string                     `json:"uuid"`
			Closed string                     `json:"verified_before_close"`
			Blocks map[string]json.RawMessage `json:"blocks"`
		} `json:"index"`
	} `json:"settings"`
}

const surveyFilter = "ignore_unavailable=true&allow_no_indices=true&expand_wildcards=all&filter_path=" +
	"*.aliases,*.mappings.dynamic,*.mappings._meta,*.mappings.properties,*.settings.index.uuid,*.settings.index.verified_before_close,*.settings.index.blocks"

// survey asks OpenSearch for every index of this prefix and for what the alias's
// name means.
func (x *Indexer) survey(ctx context.Context) (survey, error) {
	var found map[string]declaredIndex
	alias := x.names.Alias()
	if err := opensearch.Call(ctx, x.search, http.MethodGet, "/"+x.names.Pattern()+","+alias+"?"+surveyFilter, nil, &found); err != nil {
		return survey{}, fmt.Errorf("listing the indices: %w", err)
	}
	v := survey{names: x.names, indices: map[string]surveyedIndex{}, holders: map[string]holder{}}
	for name, d := range found {
		if a, held := d.Aliases[alias]; held {
			v.holders[name] = holder{plain: a.Filter == nil && a.Index+a.Search+a.Routing == ""}
		}
		if name == alias {
			v.taken = true
		}
		if _, _, ours := x.names.Parse(name); !ours {
			continue
		}
		_, writer := d.Aliases[mappings.Writer(name)]
		lacks := x.def.Index.MissingFields(d.Mappings)
		if version, _, _ := x.names.Parse(name); version != x.def.Index.Version { // a rebuild replaces it; until then it has to take documents
			delete(lacks, mappings.WordsField) // its analyzer is not there
		}
		v.indices[name] = surveyedIndex{uuid: d.Settings.Index.UUID, closed: d.Settings.Index.Closed == "true", writer: writer,
			mismatch: x.def.Index.Mismatch(d.Mappings), missingFields: lacks, vectors: d.Mappings.Vectors(), meta: d.Mappings.Meta.Vitrine,
			readOnly: blocked(d.Settings.Index.Blocks)}
	}
	return v, nil
}

// blocked reports whether one of an index's blocks keeps it from being written.
func blocked(blocks map[string]json.RawMessage) bool {
	for _, b := range blocks {
		if string(b) == `"true"` || string(b) == "true" {
			return true
		}
	}
	return false
}

// aliased lists the indices of ours, each with whether the alias points at it.
func (v survey) aliased() map[string]bool {
	out := make(map[string]bool, len(v.indices))
	for name := range v.indices {
		_, out[name] = v.holders[name]
	}
	return out
}

// searched names the one index of ours that the alias points at as it should, or
// returns "".
func (v survey) searched() string {
	if len(v.holders) != 1 || v.taken {
		return ""
	}
	for name, h := range v.holders {
		if i, ours := v.indices[name]; ours && h.plain && i.mismatch == "" {
			return name
		}
	}
	return ""
}

// problem returns what EnsureIndex has to repair, or "".
func (v survey) problem(generations []indexstate.Generation) string {
	live := nameOf(generations, indexstate.GenerationLive)
	i, present := v.indices[live]
	searched := v.searched()
	switch {
	case live == "":
		return "there is no index yet"
	case !present:
		return "the index " + live + " is gone"
	case i.mismatch != "":
		return "the index " + live + " is not the one that was made: " + i.mismatch
	case !i.writer:
		return "the index " + live + " has lost the alias that it is written by"
	case len(i.missingFields) > 0:
		return fmt.Sprintf("the index %s lacks the fields %v", live, slices.Sorted(maps.Keys(i.missingFields)))
	case v.taken:
		return "another index has the name of the alias " + v.names.Alias()
	case searched == "" || searched != live && searched != nameOf(generations, indexstate.GenerationBuilding):
		return "the alias " + v.names.Alias() + " does not point at the index " + live
	}
	return ""
}

// nameOf names the generation of a state, of which there is at most one, or returns "".
func nameOf(generations []indexstate.Generation, state indexstate.GenerationState) string {
	for _, g := range generations {
		if g.State == state {
			return g.Name
		}
	}
	return ""
}
