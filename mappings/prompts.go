package mappings

import (
	"sync"
	"time"

	"vitrine/library"
)

// PromptIndex is the index of prompts.
var PromptIndex = sync.OnceValue(func() *Index {
	return NewIndex("prompts", 1, "prompt_h", map[string]Mapping{
		"name": prose(), "description": prose(), "texts": prose(), "category": folded(), "target_model": folded(), "tags": folded(), "labels": exact(),
		"updated": date(), "index_error": Mapping{Type: "keyword", IgnoreAbove: MaxKeyword},
	})
})

// PromptDocument is one prompt as its index holds it, without its vector. A tombstone has only the
// first four.
type PromptDocument struct {
	TenantID   library.TenantID   `json:"tenant_id"`
	PromptH    library.PromptHash `json:"prompt_h"`
	DocVersion int64              `json:"doc_version"`
	Deleted    bool               `json:"deleted"`

	Name        string     `json:"name,omitempty"`
	Description string     `json:"description,omitempty"`
	Texts       []string   `json:"texts,omitempty"` // of its versions, the newest first
	Category    string     `json:"category,omitempty"`
	TargetModel string     `json:"target_model,omitempty"`
	Tags        []string   `json:"tags,omitempty"`
	Labels      []string   `json:"labels,omitempty"`
	Updated     *time.Time `json:"updated,omitempty"`
	IndexError  string     `json:"index_error,omitempty"`
}
