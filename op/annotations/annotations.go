// Package annotations holds the operations on annotations: notes on nodes of an asset's
// workflow, on the asset as a whole, and on runs of experiments. One file per operation.
package annotations

import (
	"strings"
	"time"

	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

// Service is what the operations of this package work with.
type Service struct{ Store *store.Store }

// Operations lists this package's operations.
func (s *Service) Operations() []op.Operation {
	return []op.Operation{s.createAnnotation(), s.getAnnotations(), s.updateAnnotation(), s.getAnnotation(), s.deleteAnnotation()}
}

// Events lists the events that this package's operations emit.
func (s *Service) Events() []op.EventType {
	return op.ChangeEvents("annotation", "An annotation", exampleNode+"/"+exampleAnnotation, []string{"content", "resolved"}, "created", "updated", "trashed", "restored")
}

// What stands for a node and an annotation in examples.
const (
	exampleNode       = "da39a3ee5e6b4b0d3255421c7d0f1d0a3b6b8a2f"
	exampleAnnotation = "5b1f0e2a7c9d4e6f8a0b1c2d3e4f5a6b7c8d9e0f"
)

// OnNode is embedded by inputs that name what is annotated.
type OnNode struct {
	Node string `json:"workflow_node_id" id:"workflow_node" doc:"From GetAssetDetails (detailed). An asset_h means the whole asset, a collection_item_h a run."`
}

func (in OnNode) target() string { return strings.ToLower(in.Node) }

// OneAnnotation is embedded by inputs that name an annotation.
type OneAnnotation struct {
	ID string `json:"annotation_id" id:"annotation"`
}

func (in OneAnnotation) id() string { return strings.ToLower(in.ID) }

// Annotation is an annotation as it is shown. Outputs embed it.
type Annotation struct {
	ID          string                 `json:"annotation_id"`
	Node        string                 `json:"workflow_node_id" doc:"What it is about: a node, an asset or a run."`
	AssetHash   library.AssetHash      `json:"asset_h"`
	NodeID      string                 `json:"node_id,omitempty" doc:"The node's id in the file."`
	Kind        library.AnnotationKind `json:"kind" enum:"note,evaluation"`
	Content     string                 `json:"content"`
	ContentType library.ContentType    `json:"content_type" enum:"text,markdown,json"`
	Visibility  library.Visibility     `json:"visibility" enum:"private,team,public"`
	Resolved    bool                   `json:"resolved"`
	Version     int                    `json:"version" doc:"1 for the first. Every change makes another."`
	Author      string                 `json:"author" doc:"Key id."`
	UpdatedBy   string                 `json:"updated_by" doc:"Key id of who made this version."`
	CreatedAt   time.Time              `json:"created_at"`
	UpdatedAt   time.Time              `json:"updated_at"`
}

// ResourceVersion implements op.Versioned.
func (a Annotation) ResourceVersion() int64 { return int64(a.Version) }

// Describe returns an annotation as it is shown.
func Describe(n library.Annotation) Annotation {
	return Annotation{ID: n.ID, Node: n.Target, AssetHash: n.Asset, NodeID: n.NodeID, Kind: n.Kind, Content: n.Content, ContentType: n.ContentType, Visibility: n.Visibility,
		Resolved: n.Resolved, Version: n.Version, Author: n.Author, UpdatedBy: n.UpdatedBy, CreatedAt: n.CreatedAt.UTC(), UpdatedAt: n.UpdatedAt.UTC()}
}

// Version is a state that an annotation was in.
type Version struct {
	Version     int                 `json:"version"`
	Content     string              `json:"content"`
	ContentType library.ContentType `json:"content_type" enum:"text,markdown,json"`
	Visibility  library.Visibility  `json:"visibility" enum:"private,team,public"`
	Resolved    bool                `json:"resolved"`
	Deleted     bool                `json:"deleted,omitempty"`
	Author      string              `json:"author" doc:"Key id of who made this version."`
	At          time.Time           `json:"at"`
}

func describeVersions(list []library.AnnotationVersion) []Version {
	out := make([]Version, len(list))
	for i, v := range list {
		out[i] = Version{v.Version, v.Content, v.ContentType, v.Visibility, v.Resolved, v.Deleted, v.Author, v.At.UTC()}
	}
	return out
}

// written is an annotation as a write left it.
type written struct {
	Annotation
	op.Undoable
	op.Indexed
}

func describeWrite(n library.Annotation, operation string, err error) (written, error) {
	if err != nil {
		return written{}, err
	}
	return written{Describe(n), op.Undoable{OperationID: operation}, op.Indexed{IndexToken: operation}}, nil
}

// blank is what is wrong with content that has no characters but blanks.
func blank(content string) []library.FieldError {
	if strings.TrimSpace(content) != "" {
		return nil
	}
	return []library.FieldError{{Field: "content", Code: "length", Message: "Expected 1 to 10,000 characters that are not all spaces."}}
}
