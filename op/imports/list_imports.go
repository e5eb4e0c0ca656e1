package imports

import (
	"context"
	"encoding/base64"
	"time"

	"vitrine/library"
	"vitrine/op"
)

type listInput struct {
	op.TenantInput
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"200" default:"50" doc:"Imports per page."`
	Cursor string `json:"cursor,omitempty" id:"none" maxLength:"64" doc:"The next_cursor of the previous page."`
}

type listOutput struct {
	Data       []importOutput `json:"data" doc:"The newest first."`
	NextCursor string         `json:"next_cursor,omitempty" doc:"Pass as cursor for the next page; absent on the last page."`
}

func (s *Service) listImports() op.Operation {
	return op.Define(op.Meta{
		Name: "ListImports", Title: "List imports", Domain: op.Assets,
		Doc:    "Lists the imports of folders in place, with their reports.",
		Method: "GET", Path: "/api/v1/imports", Permission: library.PermRead, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"limit": 10},
	}, func(ctx context.Context, actor library.Actor, in listInput) (listOutput, error) {
		out := listOutput{Data: []importOutput{}}
		list, err := s.Store.Imports.List(ctx, actor, in.Cursor, in.Limit+1)
		if err != nil {
			return out, err
		}
		if len(list) > in.Limit {
			list = list[:in.Limit]
			out.NextCursor = list[in.Limit-1].ID
		}
		for _, i := range list {
			out.Data = append(out.Data, outputOf(i))
		}
		return out, nil
	})
}

type filesInput struct {
	op.TenantInput
	ImportID string `json:"import_id" id:"import" minLength:"1" maxLength:"64"`
	Result   string `json:"result,omitempty" enum:"failed,skipped,paired,moved,already_stored,trashed,purged,missing,changed,restored" doc:"Only files of this result."`
	Limit    int    `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"100" doc:"Files per page."`
	Cursor   string `json:"cursor,omitempty" id:"none" maxLength:"4096" doc:"The next_cursor of the previous page."`

	after string
}

// Validate implements op.Validator.
func (in *filesInput) Validate() []library.FieldError {
	raw, err := base64.RawURLEncoding.DecodeString(in.Cursor)
	if err != nil {
		return []library.FieldError{{Field: "cursor", Code: "format", Message: "Expected the next_cursor of a page of this list.", Hint: "Omit it to begin with the first page."}}
	}
	in.after = string(raw)
	return nil
}

type fileOutput struct {
	Path   string            `json:"path" doc:"Below the root."`
	Result string            `json:"result" enum:"failed,skipped,paired,moved,already_stored,trashed,purged,missing,changed,restored"`
	Reason string            `json:"reason,omitempty"`
	Asset  library.AssetHash `json:"asset_h,omitempty"`
	At     time.Time         `json:"at"`
}

type filesOutput struct {
	Data       []fileOutput `json:"data" doc:"In the order of their paths."`
	NextCursor string       `json:"next_cursor,omitempty" doc:"Pass as cursor for the next page; absent on the last page."`
}

func (s *Service) listImportFiles() op.Operation {
	return op.Define(op.Meta{
		Name: "ListImportFiles", Title: "List the files of an import", Domain: op.Assets,
		Doc:    "Lists what became of the files of an import, with the reason: those that failed, were skipped, belong to another file, were moved, changed or are missing. Files that were stored, or had not changed, are counted only.",
		Method: "GET", Path: "/api/v1/imports/{import_id}/files", Permission: library.PermRead, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"import_id": "0190a1b2-0000-7000-8000-000000000000", "result": "failed"},
	}, func(ctx context.Context, actor library.Actor, in filesInput) (filesOutput, error) {
		out := filesOutput{Data: []fileOutput{}}
		if _, err := s.Store.Imports.Get(ctx, actor, in.ImportID); err != nil {
			return out, err
		}
		list, err := s.Store.Imports.Files(ctx, actor, in.ImportID, in.Result, in.after, in.Limit+1)
		if err != nil {
			return out, err
		}
		if len(list) > in.Limit {
			list = list[:in.Limit]
			out.NextCursor = base64.RawURLEncoding.EncodeToString([]byte(list[in.Limit-1].Path))
		}
		for _, f := range list {
			out.Data = append(out.Data, fileOutput{library.VisibleText(f.Path), f.Result, library.VisibleText(f.Reason), f.Asset, f.At.UTC()})
		}
		return out, nil
	})
}
