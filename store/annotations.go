package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/store/indexstate"
)

// Annotations are notes on nodes of workflows, on assets, and on runs of experiments.
type Annotations struct{ s *Store }

// MaxAnnotations is how many annotations one asset may have.
const MaxAnnotations = 500

// annotationNoun is an annotation; its key is the asset's hash and the annotation's id, so
// that what happens to private assets is hidden. The database numbers the versions and
// keeps them all, those that an undo makes among them.
var annotationNoun = func() *Noun {
	n := rowNoun("annotation", &rowTable{table: "annotations", key: []string{"asset_h", "annotation_id"}, touched: "updated_at", trash: "deleted_at",
		columns: []string{"target_h", "node_id", "kind", "content", "content_type", "visibility", "resolved", "author", "updated_by", "created_at", "deleted_at"}}).
		trashed("deleted_at", "created", "updated", "trashed", "restored")
	n.personal = true // admins read the audit trail, and private annotations are their author's alone
	return n
}()

func init() {
	register(annotationNoun, undoRowsThen(reindexAnnotated))
	indexstate.AddDocumentPart(`SELECT k.ord, n.content, CASE WHEN n.visibility = 'private' THEN n.author ELSE '' END
		FROM `+indexstate.AssetKeysSQL+` JOIN annotations n USING (tenant_id, asset_h) WHERE n.deleted_at IS NULL ORDER BY k.ord, n.created_at, n.annotation_id`,
		func(a *indexstate.DocumentAnnotation) []any { return []any{&a.Content, &a.PrivateTo} },
		func(d *indexstate.DocumentRow, a indexstate.DocumentAnnotation) {
			d.Annotations = append(d.Annotations, a)
		})
}

// reindexAnnotated makes the index look at the assets of changed annotations again.
func reindexAnnotated(ctx context.Context, t *Tx, keys []string) error {
	seen := map[string]bool{}
	var hashes []string
	for _, k := range keys {
		if asset, _, _ := strings.Cut(k, "/"); !seen[asset] {
			seen[asset], hashes = true, append(hashes, asset)
		}
	}
	return t.reindexAssets(ctx, "annotations", hashes)
}

// annotationVisible returns the condition under which a caller sees an annotation, or a
// version of one: it is not private, or the caller's own. Nobody else sees what is private,
// admins neither. author is the column with the author of the annotation, caller the
// parameter that holds writer of the actor.
func annotationVisible(visibility, author, caller string) string {
	return `(` + visibility + ` <> 'private' OR ` + author + ` = ` + caller + `)`
}

// writer returns what annotationVisible compares an actor by: its id.
func writer(a library.Actor) string { return cmp.Or(a.ID, "-") }

const annotationColumns = `n.annotation_id, n.target_h, n.asset_h, n.node_id, n.kind, n.content, n.content_type, n.visibility, n.resolved, n.version,
	n.author, n.updated_by, n.created_at, n.updated_at`

func scanAnnotation(row pgx.CollectableRow) (a library.Annotation, err error) {
	err = row.Scan(&a.ID, &a.Target, &a.Asset, &a.NodeID, &a.Kind, &a.Content, &a.ContentType, &a.Visibility, &a.Resolved, &a.Version,
		&a.Author, &a.UpdatedBy, &a.CreatedAt, &a.UpdatedAt)
	return a, err
}

// annotationsFrom selects annotations that the actor sees, on assets that it sees. $1 is
// the tenant, $2 writer and $3 viewer of the actor.
var annotationsFrom = ` FROM annotations n JOIN assets a USING (tenant_id, asset_h) WHERE n.tenant_id = $1 AND a.tenant_id = $1 AND n.deleted_at IS NULL
	AND a.trashed_at IS NULL AND ` + annotationVisible("n.visibility", "n.author", "$2") + ` AND ` + visibleTo("a", "$3") + ` AND `

func annotationArgs(actor library.Actor, more ...any) []any {
	return append([]any{actor.Tenant, writer(actor), viewer(actor)}, more...)
}

// annotationTarget is what an annotation is about.
type annotationTarget struct {
	hash   string
	asset  library.AssetHash
	nodeID string
}

// findTarget finds what a target names: a node of a workflow, an asset, or a run of an
// experiment, of an asset that the actor sees. It is a not-found error when there is none.
func findTarget(ctx context.Context, tx pgx.Tx, actor library.Actor, target string) (annotationTarget, error) {
	from, to := library.AssetsOfNode(target)
	rows, err := tx.Query(ctx, `SELECT a.asset_h, coalesce(jsonb_path_query_array(l.doc::jsonb, '$.workflow.nodes[*].id'), '[]')
		FROM assets a LEFT JOIN lineage l USING (tenant_id, asset_h)
		WHERE a.tenant_id = $1 AND a.asset_h >= $2 AND a.asset_h < $3 AND a.trashed_at IS NULL AND `+visibleTo("a", "$4")+` ORDER BY a.asset_h`,
		actor.Tenant, from, to, viewer(actor))
	if err != nil {
		return annotationTarget{}, err
	}
	var found annotationTarget
	var asset library.AssetHash
	var nodes []string
	_, err = pgx.ForEachRow(rows, []any{&asset, &nodes}, func() error {
		if string(asset) == target {
			found = annotationTarget{hash: target, asset: asset}
		}
		for _, id := range nodes {
			if library.WorkflowNodeID(asset, id) == target {
				found = annotationTarget{target, asset, id}
			}
		}
		return nil
	})
	if err != nil || found.hash != "" {
		return found, err
	}
	switch run, err := runIn(ctx, tx, actor, target); {
	case err == nil:
		return annotationTarget{hash: target, asset: run.Asset}, nil
	case library.AsError(err).Kind != library.KindNotFound:
		return annotationTarget{}, err
	}
	return annotatedTarget(ctx, tx, actor, target)
}

// annotatedTarget finds what was annotated before, also where the file is read
// differently now.
func annotatedTarget(ctx context.Context, tx pgx.Tx, actor library.Actor, target string) (annotationTarget, error) {
	found := annotationTarget{hash: target}
	err := tx.QueryRow(ctx, `SELECT n.asset_h, n.node_id`+annotationsFrom+`n.target_h = $4 ORDER BY n.created_at LIMIT 1`, annotationArgs(actor, target)...).
		Scan(&found.asset, &found.nodeID)
	if errors.Is(err, pgx.ErrNoRows) {
		err = library.NotFound("workflow node")
	}
	return found, err
}

// Create adds an annotation to a target; of n the content, its type and the visibility
// count.
func (an *Annotations) Create(ctx context.Context, actor library.Actor, target string, n library.Annotation) (out library.Annotation, operation string, err error) {
	operation, err = an.s.Write(ctx, actor, func(t *Tx) error {
		at, err := findTarget(ctx, t, actor, target)
		if err != nil {
			return err
		}
		n.ID, n.Target, n.Asset, n.NodeID, n.Kind = newHash(), at.hash, at.asset, at.nodeID, library.AnnotationNote
		out, err = t.putAnnotation(ctx, n)
		return err
	})
	return out, operation, err
}

// putAnnotation writes an annotation as it is given, and lets the index see it.
func (t *Tx) putAnnotation(ctx context.Context, n library.Annotation) (out library.Annotation, err error) {
	if err := t.roomForAnnotation(ctx, n); err != nil {
		return out, err
	}
	key := string(n.Asset) + "/" + n.ID
	if err := t.Track(ctx, annotationNoun, []string{key}, func() error {
		rows, err := t.Query(ctx, `INSERT INTO annotations AS n (tenant_id, asset_h, annotation_id, target_h, node_id, kind, content, content_type, visibility, resolved, author, updated_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)
			ON CONFLICT (tenant_id, asset_h, annotation_id) DO UPDATE SET content = excluded.content, content_type = excluded.content_type,
				visibility = excluded.visibility, resolved = excluded.resolved, updated_by = excluded.updated_by, updated_at = now(), deleted_at = NULL
			RETURNING `+annotationColumns, t.tenant(), n.Asset, n.ID, n.Target, n.NodeID, n.Kind, n.Content, n.ContentType, n.Visibility, n.Resolved, writer(t.actor))
		if err != nil {
			return err
		}
		out, err = pgx.CollectExactlyOneRow(rows, scanAnnotation)
		return err
	}); err != nil {
		return out, err
	}
	return out, reindexAnnotated(ctx, t, []string{key})
}

// roomForAnnotation refuses an annotation too many, and makes those who annotate one asset
// wait for each other.
func (t *Tx) roomForAnnotation(ctx context.Context, n library.Annotation) error {
	if err := t.QueryRow(ctx, `SELECT asset_h FROM assets WHERE tenant_id = $1 AND asset_h = $2 FOR NO KEY UPDATE`, t.tenant(), n.Asset).Scan(&n.Asset); err != nil {
		return err
	}
	var have int
	if err := t.QueryRow(ctx, `SELECT count(*) FROM annotations WHERE tenant_id = $1 AND asset_h = $2 AND annotation_id <> $3 AND deleted_at IS NULL`,
		t.tenant(), n.Asset, n.ID).Scan(&have); err != nil {
		return err
	}
	if have >= MaxAnnotations {
		return library.NewError(library.KindConflict, library.CodeConflict, "This asset has %d annotations, the maximum. Delete some first.", MaxAnnotations)
	}
	return nil
}

// Of returns a page of the annotations of a target that the actor sees, the oldest first,
// and how many there are; a not-found error when there is no such target.
func (an *Annotations) Of(ctx context.Context, actor library.Actor, target string, resolved bool, limit, offset int) (list []library.Annotation, total int, err error) {
	err = an.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		if _, err := findTarget(ctx, tx, actor, target); err != nil {
			return err
		}
		where, args := annotationsFrom+`n.target_h = $4 AND ($5 OR NOT n.resolved)`, annotationArgs(actor, target, resolved)
		if err := tx.QueryRow(ctx, `SELECT count(*)`+where, args...).Scan(&total); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT `+annotationColumns+where+fmt.Sprintf(` ORDER BY n.created_at, n.annotation_id LIMIT %d OFFSET %d`, limit, offset), args...)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, scanAnnotation)
		return err
	})
	return list, total, err
}

// OfAsset returns the annotations on an asset and its nodes that the actor sees, the
// newest first, at most limit.
func (an *Annotations) OfAsset(ctx context.Context, actor library.Actor, asset library.AssetHash, limit int) (list []library.Annotation, err error) {
	err = an.s.readTenant(ctx, actor.Tenant, `SELECT `+annotationColumns+annotationsFrom+`n.asset_h = $4 ORDER BY n.created_at DESC, n.annotation_id LIMIT $5`,
		annotationArgs(actor, asset, limit), func(rows pgx.Rows) (err error) {
			list, err = pgx.CollectRows(rows, scanAnnotation)
			return err
		})
	return list, err
}

// Versions returns an annotation and those of its versions that the actor sees, the newest
// first; a not-found error when there is no such annotation.
func (an *Annotations) Versions(ctx context.Context, actor library.Actor, id string) (n library.Annotation, list []library.AnnotationVersion, err error) {
	err = an.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		if n, err = annotationIn(ctx, tx, actor, id); err != nil {
			return err
		}
		all, err := versionsIn(ctx, tx, actor, []string{id})
		list = all[id]
		return err
	})
	return n, list, err
}

// maxAnnotationVersions is how many versions of one annotation are read.
const maxAnnotationVersions = 200

// VersionsOf returns, by annotation, those versions that the actor sees, the newest first.
// The annotations are ones that the actor sees, such as Of returned.
func (an *Annotations) VersionsOf(ctx context.Context, actor library.Actor, list []library.Annotation) (all map[string][]library.AnnotationVersion, err error) {
	ids := make([]string, len(list))
	for i, n := range list {
		ids[i] = n.ID
	}
	err = an.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		all, err = versionsIn(ctx, tx, actor, ids)
		return err
	})
	return all, err
}

// versionsIn reads the newest versions of each of some annotations.
func versionsIn(ctx context.Context, tx pgx.Tx, actor library.Actor, ids []string) (map[string][]library.AnnotationVersion, error) {
	rows, err := tx.Query(ctx, `SELECT n.annotation_id, v.* FROM annotations n CROSS JOIN LATERAL (
			SELECT v.version, v.content, v.content_type, v.visibility, v.resolved, v.deleted, v.author, v.at FROM annotation_versions v
			WHERE v.tenant_id = $1 AND v.annotation_id = n.annotation_id AND `+annotationVisible("v.visibility", "n.author", "$3")+` ORDER BY v.version DESC LIMIT $4) v
		WHERE n.tenant_id = $1 AND n.annotation_id = ANY($2) ORDER BY n.annotation_id, v.version DESC`, actor.Tenant, ids, writer(actor), maxAnnotationVersions)
	if err != nil {
		return nil, err
	}
	all := map[string][]library.AnnotationVersion{}
	var id string
	var v library.AnnotationVersion
	_, err = pgx.ForEachRow(rows, []any{&id, &v.Version, &v.Content, &v.ContentType, &v.Visibility, &v.Resolved, &v.Deleted, &v.Author, &v.At}, func() error {
		all[id] = append(all[id], v)
		return nil
	})
	return all, err
}

func annotationIn(ctx context.Context, tx pgx.Tx, actor library.Actor, id string) (library.Annotation, error) {
	rows, err := tx.Query(ctx, `SELECT `+annotationColumns+annotationsFrom+`n.annotation_id = $4`, annotationArgs(actor, id)...)
	if err != nil {
		return library.Annotation{}, err
	}
	n, err := pgx.CollectExactlyOneRow(rows, scanAnnotation)
	if errors.Is(err, pgx.ErrNoRows) {
		err = library.NotFound("annotation")
	}
	return n, err
}

// Change changes the content, the visibility and the state of an annotation by a function
// of what it is.
func (an *Annotations) Change(ctx context.Context, actor library.Actor, id string, change func(*library.Annotation) error) (out library.Annotation, operation string, err error) {
	operation, err = an.s.Write(ctx, actor, func(t *Tx) error {
		return t.annotated(ctx, id, func(now library.Annotation) error {
			out = now
			if err := change(&out); err != nil || out == now {
				return err
			}
			rows, err := t.Query(ctx, `UPDATE annotations n SET content = $3, visibility = $4, resolved = $5, updated_by = $6, updated_at = now()
				WHERE tenant_id = $1 AND annotation_id = $2 RETURNING `+annotationColumns, t.tenant(), id, out.Content, out.Visibility, out.Resolved, writer(actor))
			if err != nil {
				return err
			}
			out, err = pgx.CollectExactlyOneRow(rows, scanAnnotation)
			return err
		})
	})
	return out, operation, err
}

// Delete deletes an annotation; undoing that restores it.
func (an *Annotations) Delete(ctx context.Context, actor library.Actor, id string) (out library.Annotation, operation string, err error) {
	operation, err = an.s.Write(ctx, actor, func(t *Tx) error {
		return t.annotated(ctx, id, func(now library.Annotation) error {
			out = now
			_, err := t.Exec(ctx, `UPDATE annotations SET deleted_at = now(), updated_by = $3, updated_at = now() WHERE tenant_id = $1 AND annotation_id = $2`, t.tenant(), id, writer(actor))
			return err
		})
	})
	return out, operation, err
}

// annotated tracks a change of an annotation that the actor sees. The asset is locked
// before its annotations, as whoever adds one does.
func (t *Tx) annotated(ctx context.Context, id string, change func(library.Annotation) error) error {
	n, err := annotationIn(ctx, t, t.actor, id)
	if err != nil {
		return err
	}
	if _, err := t.Exec(ctx, `SELECT FROM assets WHERE tenant_id = $1 AND asset_h = $2 FOR NO KEY UPDATE`, t.tenant(), n.Asset); err != nil {
		return err
	}
	if n, err = annotationIn(ctx, t, t.actor, id); err != nil {
		return err
	}
	if err := t.call.Check(int64(n.Version)); err != nil {
		return err
	}
	key, before := string(n.Asset)+"/"+id, t.position
	if err := t.Track(ctx, annotationNoun, []string{key}, func() error { return change(n) }); err != nil || t.position == before {
		return err
	}
	return reindexAnnotated(ctx, t, []string{key})
}
