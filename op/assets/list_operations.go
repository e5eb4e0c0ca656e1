package assets

import (
	"context"
	"slices"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

type listOperationsInput struct {
	op.TenantInput
	Actor  string     `json:"actor,omitempty" maxLength:"200" doc:"Only operations of this actor, a key_id; me for this credential."`
	Tool   string     `json:"tool,omitempty" maxLength:"100" doc:"Only calls of this operation, for example UpdateAsset."`
	Noun   string     `json:"noun,omitempty" maxLength:"100" doc:"Only operations that changed things of this kind, one of those that the description lists."`
	Key    string     `json:"key,omitempty" id:"query" maxLength:"500" doc:"Only operations that changed this thing, for example an asset's hash."`
	After  *time.Time `json:"after,omitempty" doc:"At or after this time."`
	Before *time.Time `json:"before,omitempty" doc:"Before this time."`
	Undone *bool      `json:"undone,omitempty" doc:"true: only undone operations; false: only those that stand."`
	Limit  int        `json:"limit,omitempty" minimum:"1" maximum:"200" default:"50" doc:"Operations per page."`
	Cursor string     `json:"cursor,omitempty" id:"none" maxLength:"64" doc:"The next_cursor of the previous page."`
}

// Validate implements op.Validator.
func (in *listOperationsInput) Validate() []library.FieldError {
	if in.Noun == "" || slices.Contains(store.Nouns(), in.Noun) {
		return nil
	}
	return []library.FieldError{{Field: "noun", Code: "enum", Message: "Expected one of: " + strings.Join(store.Nouns(), ", ") + "."}}
}

type listOperationsOutput struct {
	Data       []operationOutput `json:"data" doc:"The newest first."`
	NextCursor string            `json:"next_cursor,omitempty" doc:"Pass as cursor for the next page; absent on the last page."`
}

type operationOutput struct {
	OperationID string             `json:"operation_id" doc:"Pass to UndoOperation to revert it."`
	Tool        string             `json:"tool"`
	At          time.Time          `json:"at"`
	ActorKind   library.ActorKind  `json:"actor_kind"`
	Actor       string             `json:"actor" doc:"The key_id of a key."`
	Permission  library.Permission `json:"permission" doc:"What undoing it needs."`
	Changes     map[string]int64   `json:"changes" doc:"How many things of each kind it changed."`
	UndoneBy    string             `json:"undone_by,omitempty" doc:"The operation that undid it."`
	Undoes      string             `json:"undoes,omitempty" doc:"The operation that it undid."`
	RequestID   string             `json:"request_id,omitempty"`
}

func (s *Service) listOperations() op.Operation {
	return op.Define(op.Meta{
		Name: "ListOperations", Title: "List operations", Domain: op.Assets,
		Doc: "Lists the writes of the last 90 days, the newest first: who called what and when, how many things of each kind changed, and whether it was undone. " +
			"Filters by actor, operation, kind of thing (" + strings.Join(store.Nouns(), ", ") + "), one thing, time, and whether it was undone.",
		Method: "GET", Path: "/api/v1/operations", Permission: library.PermRead, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"tool": "UpdateAsset", "undone": false, "limit": 10},
	}, func(ctx context.Context, actor library.Actor, in listOperationsInput) (listOperationsOutput, error) {
		f := store.OperationFilter{ActorID: in.Actor, Tool: in.Tool, Noun: in.Noun, Key: in.Key, Undone: in.Undone}
		if in.Actor == "me" {
			f.ActorID = actor.ID
		}
		if in.After != nil {
			f.After = *in.After
		}
		if in.Before != nil {
			f.Before = *in.Before
		}
		out := listOperationsOutput{Data: []operationOutput{}}
		list, err := s.Store.Operations.List(ctx, actor, f, in.Cursor, in.Limit+1)
		if err != nil {
			return out, err
		}
		if len(list) > in.Limit {
			list = list[:in.Limit]
			out.NextCursor = list[in.Limit-1].ID
		}
		for _, o := range list {
			out.Data = append(out.Data, operationOutput{OperationID: o.ID, Tool: o.Tool, At: o.At.UTC(), ActorKind: o.ActorKind, Actor: o.ActorID,
				Permission: o.Permission, Changes: o.Changes, UndoneBy: o.UndoneBy, Undoes: o.Undoes, RequestID: o.RequestID})
		}
		return out, nil
	})
}
