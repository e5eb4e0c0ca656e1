// Package imports holds the operations on imports of folders that the service reads itself,
// without copying their files. One file per operation.
package imports

import (
	"context"
	"math"
	"time"

	"vitrine/inplace"
	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

// Service is what the operations of this package work with.
type Service struct {
	Store *store.Store
	Roots *inplace.Roots
}

// Operations lists this package's operations.
func (s *Service) Operations() []op.Operation {
	return []op.Operation{s.startImport(), s.listImports(), s.getImport(), s.listImportFiles(), s.cancelImport(), s.listImportRoots()}
}

// importOutput is an import with its report.
type importOutput struct {
	ImportID string              `json:"import_id"`
	Root     string              `json:"root"`
	Folder   string              `json:"folder" doc:"Below the root; empty: all of it."`
	State    library.ImportState `json:"state" enum:"queued,running,watching,completed,failed,cancelled"`
	Watch    bool                `json:"watch" doc:"true: it goes on with what changes until it is canceled."`
	Preset   string              `json:"preset" doc:"What the folder looks like: comfyui, a1111, invokeai, swarmui or other."`
	Tags     []string            `json:"tags"`
	Path     string              `json:"collection_path,omitempty"`

	Found     int   `json:"found" doc:"Media files seen so far."`
	Done      int   `json:"done" doc:"Of those, processed, whatever came of them."`
	Searching bool  `json:"searching" doc:"true while the folder is still being looked through: found will grow."`
	Stored    int   `json:"stored"`
	Already   int   `json:"already_stored" doc:"Files whose bytes the library had."`
	Unchanged int   `json:"unchanged" doc:"Known at this place and not changed; not read again."`
	Moved     int   `json:"moved" doc:"Found at another place than before; the same assets."`
	Changed   int   `json:"changed" doc:"Places of originals that have other bytes now."`
	Missing   int   `json:"missing" doc:"Originals that are not there any more."`
	Back      int   `json:"restored" doc:"Originals that are there again."`
	Away      int   `json:"away" doc:"Originals that were not looked for, because their disk seems not to be mounted."`
	Absent    int   `json:"absent" doc:"Left out: their assets are in the trash or were purged."`
	Paired    int   `json:"paired" doc:"Sidecars and first frames, which belong to another file."`
	Skipped   int   `json:"skipped"`
	Failed    int   `json:"failed"`
	Waiting   int   `json:"waiting" doc:"Files that are being written; they are looked at again."`
	Bytes     int64 `json:"bytes" doc:"Of the stored files."`
	BytesRead int64 `json:"bytes_read"`
	Listed    int   `json:"listed" doc:"Files of any kind."`

	Seconds    float64        `json:"seconds"`
	Rate       float64        `json:"files_per_second"`
	ETA        *float64       `json:"eta_seconds,omitempty" doc:"How long it is likely to take; known once the folder has been looked through."`
	NoLineage  map[string]int `json:"no_lineage" doc:"Why stored files tell nothing of how they were made, counted by reason."`
	Warnings   []string       `json:"warnings"`
	Error      string         `json:"error,omitempty" doc:"Why it failed."`
	CreatedAt  time.Time      `json:"created_at"`
	StartedAt  *time.Time     `json:"started_at,omitempty"`
	UpdatedAt  time.Time      `json:"updated_at"`
	FinishedAt *time.Time     `json:"finished_at,omitempty"`
}

func outputOf(i library.Import) importOutput {
	c := i.Counts
	out := importOutput{ImportID: i.ID, Root: i.Root, Folder: library.VisibleText(i.Folder), State: i.State, Watch: i.Options.Watch, Preset: i.Preset, Tags: i.Options.Tags, Path: i.Options.Collection,
		Found: c.Found, Done: c.Done(), Searching: c.Searching, Stored: c.Stored, Already: c.Already, Unchanged: c.Unchanged, Moved: c.Moved, Changed: c.Changed, Missing: c.Missing,
		Back: c.Back, Away: c.Away, Absent: c.Absent, Paired: c.Paired, Skipped: c.Skipped, Failed: c.Failed, Waiting: c.Waiting, Bytes: c.Bytes, BytesRead: c.Read, Listed: c.Listed,
		Seconds: round(c.Seconds), Rate: round(c.Rate), NoLineage: c.NoLineage, Warnings: i.Warnings, Error: i.Error,
		CreatedAt: i.CreatedAt.UTC(), StartedAt: utc(i.StartedAt), UpdatedAt: i.UpdatedAt.UTC(), FinishedAt: utc(i.FinishedAt)}
	if out.Tags == nil {
		out.Tags = []string{}
	}
	if out.NoLineage == nil {
		out.NoLineage = map[string]int{}
	}
	if i.State == library.ImportRunning && !c.Searching && c.Rate > 0 {
		eta := round(float64(max(0, out.Found-out.Done)) / c.Rate)
		out.ETA = &eta
	}
	return out
}

func round(f float64) float64 { return math.Round(f*10) / 10 }

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

type importInput struct {
	op.TenantInput
	ImportID string `json:"import_id" id:"import" minLength:"1" maxLength:"64"`
}

func (s *Service) getImport() op.Operation {
	return op.Define(op.Meta{
		Name: "GetImport", Title: "Show an import", Domain: op.Assets,
		Doc:    "Returns how far an import of a folder is, and what it did. What became of single files is listed by ListImportFiles.",
		Method: "GET", Path: "/api/v1/imports/{import_id}", Permission: library.PermRead, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"import_id": "0190a1b2-0000-7000-8000-000000000000"},
	}, func(ctx context.Context, actor library.Actor, in importInput) (importOutput, error) {
		i, err := s.Store.Imports.Get(ctx, actor, in.ImportID)
		if err != nil {
			return importOutput{}, err
		}
		return outputOf(i), nil
	})
}
