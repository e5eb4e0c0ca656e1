package library

import (
	"crypto/sha1"
	"encoding/hex"
	"time"
)

// PromptHash is a prompt's identity inside its tenant, and that of all its versions
// together: 40 lower-case hex digits, derived from the first text by NewPromptHash.
type PromptHash string

// PromptVersionHash is the identity of one version of a prompt: 40 lower-case hex digits.
type PromptVersionHash string

// The limits of the prompt library.
const (
	MaxPrompts        = 20_000 // per tenant
	MaxPromptVersions = 1_000  // per prompt, deleted ones included
	MaxPromptLabels   = 50     // per prompt
	MaxPromptLabel    = 50     // characters
)

// Prompt is a template with versions.
type Prompt struct {
	Hash        PromptHash
	Name        string
	Description string
	Category    string
	TargetModel string // what it is written for, in people's words
	Tags        []string
	CreatedAt   time.Time
	CreatedBy   string
	UpdatedAt   time.Time
	Revision    int64 // rises with every change of the prompt, of its versions and of its labels
}

// NewPromptHash derives the identity of a prompt from its first text.
func NewPromptHash(text string) PromptHash { return PromptHash(hashOf("prompt", text)) }

// NewPromptVersionHash derives the identity of a version from its prompt and its text.
func NewPromptVersionHash(prompt PromptHash, text string) PromptVersionHash {
	return PromptVersionHash(hashOf("prompt version", string(prompt), text))
}

// NewRenderHash derives the identity of a render from the version and the text that was
// rendered: the same values give the same render.
func NewRenderHash(version PromptVersionHash, text string) string {
	return hashOf("prompt render", string(version), text)
}

// hashOf returns the SHA-1 of texts, none of which but the last has U+0000 in it.
func hashOf(parts ...string) string {
	h := sha1.New()
	for i, p := range parts {
		if i > 0 {
			h.Write([]byte{0})
		}
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// PromptEvaluation is what somebody, or a program, thinks of a version.
type PromptEvaluation struct {
	ID        string
	Version   PromptVersionHash
	Scores    map[string]float64 // per dimension
	Evaluator string             // human, vlm_assisted or embedding_similarity
	Comments  string
	CreatedBy string
}

// PromptVersion is one version of a prompt.
type PromptVersion struct {
	Hash      PromptVersionHash
	Prompt    PromptHash
	Number    int // from 1
	Text      string
	Message   string // what its author says about it
	CreatedAt time.Time
	CreatedBy string
	Labels    []string
	Linked    bool // the images of the library were compared with it
}
