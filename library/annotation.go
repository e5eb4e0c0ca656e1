package library

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"time"
)

// AnnotationKind is how an annotation came to be.
type AnnotationKind string

// The kinds of annotations.
const (
	AnnotationNote       AnnotationKind = "note"       // somebody wrote it
	AnnotationEvaluation AnnotationKind = "evaluation" // the scores of a run of an experiment
)

// ContentType is how the content of an annotation is written.
type ContentType string

// The content types of annotations.
const (
	ContentText     ContentType = "text"
	ContentMarkdown ContentType = "markdown"
	ContentJSON     ContentType = "json"
)

// MaxAnnotation is how many characters an annotation has at most.
const MaxAnnotation = 10_000

// Annotation is a note on a node of an asset's workflow, on the asset as a whole, or on a
// run of an experiment.
type Annotation struct {
	ID          string
	Target      string // a WorkflowNodeID, an asset's hash, or the identity of a run
	Asset       AssetHash
	NodeID      string // as the file has it; empty: it is not about a node
	Kind        AnnotationKind
	Content     string
	ContentType ContentType
	Visibility  Visibility
	Resolved    bool
	Version     int    // 1 for the first; every change makes another
	Author      string // the id of the actor who wrote it
	UpdatedBy   string // the id of the actor who made this version
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// AnnotationVersion is one state of an annotation.
type AnnotationVersion struct {
	Version     int
	Content     string
	ContentType ContentType
	Visibility  Visibility
	Resolved    bool
	Deleted     bool
	Author      string // the id of the actor who made it
	At          time.Time
}

// workflowNodePrefix is how many digits of the asset's hash a WorkflowNodeID begins with.
const workflowNodePrefix = 20

// WorkflowNodeID returns the identity of a node of an asset's workflow: the first 20 digits
// of the asset's hash, then the first 20 of the SHA-1 of the hash, a zero byte and the
// node's id in the file. It follows from the file's bytes and the graph alone, so reading
// the file again with a later parser leaves it as it is.
func WorkflowNodeID(asset AssetHash, nodeID string) string {
	sum := sha1.Sum([]byte(string(asset) + "\x00" + nodeID))
	return string(asset[:workflowNodePrefix]) + hex.EncodeToString(sum[:])[:40-workflowNodePrefix]
}

// AssetsOfNode returns the bounds of the hashes of the assets that a WorkflowNodeID can be
// a node of: from the first, up to the second without it.
func AssetsOfNode(id string) (from, to string) {
	return id[:workflowNodePrefix], id[:workflowNodePrefix] + "g"
}

// CheckContent returns what is wrong with the content of an annotation, or nothing.
func (t ContentType) CheckContent(content string) []FieldError {
	if t == ContentJSON && !json.Valid([]byte(content)) {
		return []FieldError{{Field: "content", Code: "format", Message: "The content is not valid JSON, which content_type json needs.", Hint: "Send JSON as a string, or use content_type text."}}
	}
	return nil
}
