package assets

import (
	"context"
	"encoding/base64"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

type listTrashInput struct {
	op.TenantInput
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"200" default:"50" doc:"Assets per page."`
	Cursor string `json:"cursor,omitempty" id:"none" maxLength:"128" doc:"The next_cursor of the previous page."`

	after store.TrashPlace
}

// Validate implements op.Validator.
func (in *listTrashInput) Validate() []library.FieldError {
	if in.Cursor == "" {
		return nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(in.Cursor)
	at, hash, _ := strings.Cut(string(raw), " ")
	when, parseErr := time.Parse(time.RFC3339Nano, at)
	if err != nil || parseErr != nil || when.Year() < 1 || !library.AssetHash(hash).Valid() {
		return []library.FieldError{{Field: "cursor", Code: "format", Message: "Expected the next_cursor of a page of this list.", Hint: "Omit it to begin with the first page."}}
	}
	in.after = store.TrashPlace{At: when, Hash: library.AssetHash(hash)}
	return nil
}

type trashedOutput struct {
	AssetHash library.AssetHash `json:"asset_h"`
	Title     string            `json:"title"`
	Filename  string            `json:"filename"`
	MIMEType  string            `json:"mime_type"`
	Size      int64             `json:"size" doc:"In bytes. It counts as stored until the asset is purged."`
	TrashedAt time.Time         `json:"trashed_at"`
	PurgeAt   *time.Time        `json:"purge_at" doc:"When it is purged, or soon after; null: not by itself."`
}

type listTrashOutput struct {
	Data       []trashedOutput `json:"data" doc:"Those that were moved there first at the beginning."`
	NextCursor string          `json:"next_cursor,omitempty" doc:"Pass as cursor for the next page; absent on the last page."`
}

func (s *Service) listTrash() op.Operation {
	return op.Define(op.Meta{
		Name: "ListTrash", Title: "List the trash", Domain: op.Assets,
		Doc:    "Lists the assets in the trash, when they were moved there and when they are purged.",
		Method: "GET", Path: "/api/v1/trash", Permission: library.PermRead, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"limit": 10},
	}, func(ctx context.Context, actor library.Actor, in listTrashInput) (listTrashOutput, error) {
		out := listTrashOutput{Data: []trashedOutput{}}
		list, err := s.Store.Trash.List(ctx, actor, in.after, in.Limit+1)
		if err != nil {
			return out, err
		}
		if len(list) > in.Limit {
			list = list[:in.Limit]
			last := list[in.Limit-1]
			out.NextCursor = base64.RawURLEncoding.EncodeToString([]byte(last.TrashedAt.UTC().Format(time.RFC3339Nano) + " " + string(last.Hash)))
		}
		for _, a := range list {
			t := trashedOutput{AssetHash: a.Hash, Title: a.Title, Filename: a.Filename, MIMEType: a.MIMEType, Size: a.Size, TrashedAt: a.TrashedAt.UTC()}
			if s.TrashFor > 0 {
				at := t.TrashedAt.Add(s.TrashFor)
				t.PurgeAt = &at
			}
			out.Data = append(out.Data, t)
		}
		return out, nil
	})
}
