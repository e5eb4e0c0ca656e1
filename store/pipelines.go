package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/store/internal/pg"
)

// Pipelines keeps saved pipelines with all their versions.
type Pipelines struct{ s *Store }

// pipelineNoun is a saved pipeline; its key is pipeline_definition_h. Versions are kept by
// triggers, an undo's too.
var pipelineNoun = rowNoun("pipeline", &rowTable{table: "pipelines", key: []string{"pipeline_definition_h"}, label: "name", touched: "updated_at", trash: "deleted_at",
	columns: []string{"name", "slug", "description", "stages", "vars", "tags", "default_dry_run", "default_timeout_ms", "template", "created_at", "created_by", "updated_by", "deleted_at"}}).
	trashed("deleted_at", "created", "updated", "trashed", "restored")

func init() { register(pipelineNoun, undoRows) }

const pipelineColumns = `pipeline_definition_h, version, name, slug, description, stages, vars, tags, default_dry_run, default_timeout_ms, template, created_at, created_by, updated_at, updated_by`

func scanPipeline(row pgx.CollectableRow) (p library.Pipeline, err error) {
	var ms int64
	err = row.Scan(&p.Hash, &p.Version, &p.Name, &p.Slug, &p.Description, &p.Stages, &p.Vars, &p.Tags, &p.DryRun, &ms, &p.Template, &p.CreatedAt, &p.CreatedBy, &p.UpdatedAt, &p.UpdatedBy)
	p.Timeout = time.Duration(ms) * time.Millisecond
	return p, err
}

func pipelineError(err error) error {
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return library.NotFound("pipeline")
	case pg.IsUniqueViolation(err):
		return library.NewError(library.KindConflict, library.CodeNameTaken, "Another pipeline has this name, or one that differs in case or marks alone. Choose another name, or send that pipeline's pipeline_definition_h to change it.")
	}
	return err
}

// PipelineFilter narrows a list of pipelines; zero values do not.
type PipelineFilter struct {
	Tags          []string // all of them
	Template      *bool
	Limit, Offset int
}

// List returns a tenant's pipelines by name, and how many there are.
func (ps *Pipelines) List(ctx context.Context, tenant library.TenantID, f PipelineFilter) (list []library.Pipeline, total int, err error) {
	err = ps.s.inTenant(ctx, tenant, func(tx pgx.Tx) error {
		where := ` FROM pipelines WHERE tenant_id = $1 AND deleted_at IS NULL AND ($2::boolean IS NULL OR template = $2)
			AND NOT EXISTS (SELECT FROM unnest($3::text[]) AS w(tag) WHERE lower(w.tag) NOT IN (SELECT lower(t) FROM unnest(tags) AS t))`
		args := []any{tenant, f.Template, append([]string{}, f.Tags...)}
		if err := tx.QueryRow(ctx, `SELECT count(*)`+where, args...).Scan(&total); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT `+pipelineColumns+where+` ORDER BY lower(name), pipeline_definition_h LIMIT $4 OFFSET $5`, append(args, f.Limit, f.Offset)...)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, scanPipeline)
		return err
	})
	return list, total, err
}

// Find returns the pipeline that a hash, or else a name or its slug, names; a not-found error
// when there is none.
func (ps *Pipelines) Find(ctx context.Context, tenant library.TenantID, hash library.PipelineHash, name string) (p library.Pipeline, err error) {
	err = ps.s.readTenant(ctx, tenant, `SELECT `+pipelineColumns+` FROM pipelines WHERE tenant_id = $1 AND deleted_at IS NULL
			AND CASE WHEN $2 <> '' THEN pipeline_definition_h = $2 ELSE slug = $3 END`, []any{tenant, hash, library.PipelineSlug(name)}, func(rows pgx.Rows) (err error) {
		p, err = pgx.CollectExactlyOneRow(rows, scanPipeline)
		return pipelineError(err)
	})
	return p, err
}

// Versions returns the versions of a pipeline, the newest first. Their Hash, Slug and Template
// are not set; their author is UpdatedBy, at UpdatedAt.
func (ps *Pipelines) Versions(ctx context.Context, tenant library.TenantID, hash library.PipelineHash) (list []library.Pipeline, err error) {
	err = ps.s.readTenant(ctx, tenant, `SELECT version, name, description, stages, vars, tags, default_dry_run, default_timeout_ms, created_at, created_by
		FROM pipeline_versions WHERE tenant_id = $1 AND pipeline_definition_h = $2 ORDER BY version DESC LIMIT 1000`, []any{tenant, hash}, func(rows pgx.Rows) (err error) {
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (p library.Pipeline, err error) {
			var ms int64
			err = row.Scan(&p.Version, &p.Name, &p.Description, &p.Stages, &p.Vars, &p.Tags, &p.DryRun, &ms, &p.UpdatedAt, &p.UpdatedBy)
			p.Timeout = time.Duration(ms) * time.Millisecond
			return p, err
		})
		return err
	})
	return list, err
}

// Save keeps a new pipeline, or a new version of the one whose hash is set, and returns it as
// stored, with the operation that did it. A name that is taken is a conflict.
func (ps *Pipelines) Save(ctx context.Context, actor library.Actor, p library.Pipeline) (out library.Pipeline, operationID string, err error) {
	operationID, err = ps.s.Write(ctx, actor, func(t *Tx) error {
		p := p
		update := p.Hash != ""
		if !update {
			p.Hash = library.PipelineHash(newHash())
			var have int
			if err := t.QueryRow(ctx, `SELECT count(*) FROM pipelines WHERE tenant_id = $1 AND deleted_at IS NULL`, t.tenant()).Scan(&have); err != nil {
				return err
			}
			if have >= library.MaxPipelines {
				return library.NewError(library.KindConflict, library.CodeConflict, "This tenant has %d pipelines, the maximum. Delete one first.", library.MaxPipelines)
			}
		}
		return t.Track(ctx, pipelineNoun, []string{string(p.Hash)}, func() error {
			out, err = t.putPipeline(ctx, p, update)
			return err
		})
	})
	return out, operationID, err
}

func (t *Tx) putPipeline(ctx context.Context, p library.Pipeline, update bool) (out library.Pipeline, err error) {
	stages, err := jsonb(p.Stages)
	if err != nil {
		return out, err
	}
	vars, err := jsonb(object(p.Vars))
	if err != nil {
		return out, err
	}
	sql := `INSERT INTO pipelines (tenant_id, pipeline_definition_h, name, slug, description, stages, vars, tags, default_dry_run, default_timeout_ms, template, created_by, updated_by)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12) RETURNING ` + pipelineColumns
	if update {
		sql = `UPDATE pipelines SET name = $3, slug = $4, description = $5, stages = $6, vars = $7, tags = $8, default_dry_run = $9, default_timeout_ms = $10, template = $11,
			updated_by = $12, updated_at = now() WHERE tenant_id = $1 AND pipeline_definition_h = $2 AND deleted_at IS NULL RETURNING ` + pipelineColumns
	}
	rows, err := t.Query(ctx, sql, t.tenant(), p.Hash, p.Name, library.PipelineSlug(p.Name), p.Description, string(stages), string(vars), append([]string{}, p.Tags...),
		p.DryRun, p.Timeout.Milliseconds(), p.Template, t.actor.ID)
	if err != nil {
		return out, err
	}
	out, err = pgx.CollectExactlyOneRow(rows, scanPipeline)
	return out, pipelineError(err)
}

// Delete removes a pipeline and returns the operation that did it, which undo takes back. Its
// runs stay.
func (ps *Pipelines) Delete(ctx context.Context, actor library.Actor, hash library.PipelineHash) (operationID string, err error) {
	return ps.s.Write(ctx, actor, func(t *Tx) error {
		return t.Track(ctx, pipelineNoun, []string{string(hash)}, func() error {
			tag, err := t.Exec(ctx, `UPDATE pipelines SET deleted_at = now(), updated_by = $3 WHERE tenant_id = $1 AND pipeline_definition_h = $2 AND deleted_at IS NULL`, t.tenant(), hash, t.actor.ID)
			if err == nil && tag.RowsAffected() == 0 {
				return library.NotFound("pipeline")
			}
			return err
		})
	})
}
