package imports

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type startInput struct {
	op.TenantInput
	Folder        string   `json:"folder" id:"none" minLength:"1" maxLength:"4000" doc:"A folder on the machine of the service: its absolute path, or root/folder. It must lie below a root of ListImportRoots."`
	Watch         bool     `json:"watch,omitempty" doc:"true goes on with what changes in the folder until the import is canceled."`
	Tags          []string `json:"tags,omitempty" maxItems:"500" maxLength:"100" doc:"For every file that is stored."`
	Collection    string   `json:"collection_h,omitempty" id:"collection" maxLength:"600" doc:"A collection that gets every file; its path is taken too."`
	Restore       bool     `json:"restore,omitempty" doc:"true brings back files whose assets are in the trash or were purged; otherwise they are left out."`
	Preset        string   `json:"preset,omitempty" enum:"comfyui,a1111,invokeai,swarmui,other" doc:"Whose output folder it is, which decides what is left out. Default: what it looks like."`
	AcceptMissing bool     `json:"accept_missing,omitempty" doc:"true marks files as missing although none of their disk is there. Otherwise that is taken for a disk that is not mounted."`
}

// Validate implements op.Validator.
func (in *startInput) Validate() (errs []library.FieldError) {
	for i, t := range in.Tags {
		if in.Tags[i] = library.CleanTag(t); in.Tags[i] == "" {
			errs = append(errs, library.FieldError{Field: "tags", Code: "length", Message: "Tags have 1 to 100 characters."})
		}
	}
	return errs
}

func (s *Service) startImport() op.Operation {
	return op.Define(op.Meta{
		Name: "StartImport", Title: "Import a folder in place", Domain: op.Assets,
		Doc: "Imports a folder on the machine of the service without copying its files: they stay where they are and are served from there as long as they are what was imported.",
		More: "The service reads them itself; the answer comes at once, and GetImport shows the progress. Files that are known and have not changed are not read again, so the same call again goes on where an import was interrupted. " +
			"A folder that is being imported already is not begun twice: the import that runs is returned. Only folders below the roots that the operator allows (VITRINE_IMPORT_ROOTS) are taken.",
		Method: "POST", Path: "/api/v1/imports", Permission: library.PermAdmin, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"folder": "samples"},
	}, func(ctx context.Context, actor library.Actor, in startInput) (importOutput, error) {
		root, folder, err := s.Roots.Find(ctx, actor.Tenant, in.Folder)
		if err != nil {
			return importOutput{}, err
		}
		if in.Collection != "" {
			if err := s.Store.Collections.CheckEditable(ctx, actor, in.Collection); err != nil {
				return importOutput{}, err
			}
		}
		i, err := s.Store.Imports.Start(ctx, actor, root.Name, folder, library.ImportOptions{Tags: in.Tags, Collection: in.Collection, Restore: in.Restore, Watch: in.Watch, Preset: in.Preset, AcceptMissing: in.AcceptMissing})
		if err != nil {
			return importOutput{}, err
		}
		return outputOf(i), nil
	})
}

func (s *Service) cancelImport() op.Operation {
	return op.Define(op.Meta{
		Name: "CancelImport", Title: "Cancel an import", Domain: op.Assets,
		Doc:    "Ends an import of a folder, one that watches too. What it has stored stays. One that has ended already is unchanged.",
		Method: "POST", Path: "/api/v1/imports/{import_id}/cancel", Permission: library.PermAdmin, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"import_id": "0190a1b2-0000-7000-8000-000000000000"},
	}, func(ctx context.Context, actor library.Actor, in importInput) (importOutput, error) {
		i, err := s.Store.Imports.Cancel(ctx, actor, in.ImportID)
		if err != nil {
			return importOutput{}, err
		}
		return outputOf(i), nil
	})
}

type rootsInput struct{ op.TenantInput }

type rootOutput struct {
	Name string `json:"name" doc:"Takes the place of its path in StartImport: name or name/folder."`
	Path string `json:"path" doc:"On the machine of the service."`
}

type rootsOutput struct {
	Data []rootOutput `json:"data"`
}

func (s *Service) listImportRoots() op.Operation {
	return op.Define(op.Meta{
		Name: "ListImportRoots", Title: "List the folders that may be imported in place", Domain: op.Assets,
		Doc:    "Lists the folders on the machine of the service that the operator allows to be imported without copying (VITRINE_IMPORT_ROOTS).",
		Method: "GET", Path: "/api/v1/import-roots", Permission: library.PermAdmin, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{},
	}, func(ctx context.Context, actor library.Actor, _ rootsInput) (rootsOutput, error) {
		out := rootsOutput{Data: []rootOutput{}}
		list, err := s.Roots.Of(ctx, actor.Tenant)
		for _, r := range list {
			out.Data = append(out.Data, rootOutput{r.Name, library.VisibleText(r.Dir)})
		}
		return out, err
	})
}
