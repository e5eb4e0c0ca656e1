package store

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// Experiments are collections whose assets are runs, with scores and comparisons.
type Experiments struct{ s *Store }

// NewExperiments returns the experiments of a store.
func NewExperiments(s *Store) *Experiments { return &Experiments{s} }

// experimentNoun is what makes a collection an experiment; its key is collection_h.
var experimentNoun = rowNoun("experiment", &rowTable{table: "experiments", key: []string{"collection_h"},
	columns: []string{"hypothesis", "independent_variable", "control_variable", "model_name", "workflow_name", "resolution", "domain_context", "created_at", "created_by"}})

// runNoun is a run; its key is the asset's hash and collection_h. Assets come first, so that
// what happens to private ones is hidden.
var runNoun = rowNoun("experiment_run", &rowTable{table: "experiment_runs", key: []string{"asset_h", "collection_h"}, label: "variant_label",
	columns: []string{"run_h", "condition_id", "variant_label", "seed", "prompt_text", "model_name", "run_params", "outcome_tags", "created_at", "created_by"}}).
	emits("experiment.run_registered", "experiment.run_changed", "experiment.run_removed")

// runScoreNoun is what one evaluator says of a run; its key is the asset's hash, collection_h
// and the evaluator.
var runScoreNoun = rowNoun("run_score", &rowTable{table: "run_scores", key: []string{"asset_h", "collection_h", "evaluator"}, touched: "updated_at",
	columns: []string{"evaluator_type", "scores", "flags", "comments", "annotation_id", "scored_by", "created_at"}}).
	emits("experiment.run_scored", "experiment.run_scored", "experiment.score_removed")

// runComparisonNoun is what one evaluator says of two runs; its key is collection_h, the two
// runs and the evaluator.
var runComparisonNoun = rowNoun("run_comparison", &rowTable{table: "run_comparisons", key: []string{"collection_h", "item_a", "item_b", "evaluator"}, touched: "updated_at",
	columns: []string{"evaluator_type", "winners", "notes", "compared_by", "created_at"}}).
	emits("experiment.runs_compared", "experiment.runs_compared", "experiment.comparison_removed")

func init() {
	register(experimentNoun, undoRows)
	register(runNoun, undoRowsThen(reindexItems))
	register(runScoreNoun, undoRows)
	register(runComparisonNoun, undoRows)
}

// emits declares the events of a noun's creation, its changes and its deletion.
func (n *Noun) emits(created, updated, deleted string) *Noun {
	n.events = []string{created, updated, deleted}
	n.event = func(before, after json.RawMessage) string {
		switch {
		case before == nil:
			return created
		case after == nil:
			return deleted
		}
		return updated
	}
	return n
}

// ExperimentChange is what a change of an experiment did.
type ExperimentChange struct {
	library.Experiment
	OperationID string
}

// Create makes an experiment: a collection below a parent, which a path or a collection_h
// names; an empty one makes a root.
func (ex *Experiments) Create(ctx context.Context, actor library.Actor, e library.Experiment, parent string) (out ExperimentChange, err error) {
	out.OperationID, err = ex.s.Write(ctx, actor, func(t *Tx) error {
		c, err := t.createCollection(ctx, e.Collection, placement{parent: parent, name: e.Name, parentField: "parent_path", nameField: "display_name"})
		if err != nil {
			return err
		}
		out.Experiment, out.Collection = e, c
		raw, err := jsonb(object(e.DomainContext))
		if err != nil {
			return err
		}
		return t.Track(ctx, experimentNoun, []string{string(c.Hash)}, func() error {
			return t.QueryRow(ctx, `INSERT INTO experiments (tenant_id, collection_h, hypothesis, independent_variable, control_variable, model_name, workflow_name, resolution, domain_context, created_by)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING version`, t.tenant(), c.Hash, e.Hypothesis, e.IndependentVariable, e.ControlVariable, e.ModelName, e.WorkflowName, e.Resolution,
				string(raw), actor.ID).Scan(&out.Revision)
		})
	})
	return out, err
}

// Change changes what an experiment says of itself; its name and place are its collection's.
func (ex *Experiments) Change(ctx context.Context, actor library.Actor, ref string, change func(*library.Experiment)) (out ExperimentChange, err error) {
	out.OperationID, err = ex.s.Write(ctx, actor, func(t *Tx) error {
		if out.Experiment, err = experimentIn(ctx, t, t.tenant(), ref, " FOR UPDATE OF e"); err != nil {
			return err
		}
		e := &out.Experiment
		if err := t.call.Check(e.Revision); err != nil {
			return err
		}
		change(e)
		raw, err := jsonb(object(e.DomainContext))
		if err != nil {
			return err
		}
		return t.Track(ctx, experimentNoun, []string{string(e.Hash)}, func() error {
			return t.QueryRow(ctx, `UPDATE experiments SET hypothesis = $3, independent_variable = $4, control_variable = $5, model_name = $6, workflow_name = $7, resolution = $8, domain_context = $9
				WHERE tenant_id = $1 AND collection_h = $2 RETURNING version`, t.tenant(), e.Hash, e.Hypothesis, e.IndependentVariable, e.ControlVariable, e.ModelName, e.WorkflowName, e.Resolution, string(raw)).
				Scan(&e.Revision)
		})
	})
	return out, err
}

// object returns an object that is not nil.
func object[T any](m map[string]T) map[string]T {
	if m == nil {
		return map[string]T{}
	}
	return m
}

const experimentColumns = `e.hypothesis, e.independent_variable, e.control_variable, e.model_name, e.workflow_name, e.resolution, e.domain_context, e.version`

func scanExperiment(row pgx.CollectableRow) (e library.Experiment, err error) {
	err = row.Scan(append(collectionFields(&e.Collection), &e.Hypothesis, &e.IndependentVariable, &e.ControlVariable, &e.ModelName, &e.WorkflowName, &e.Resolution, &e.DomainContext, &e.Revision)...)
	return e, err
}

// experimentIn finds an experiment by the path or the collection_h of its collection; lock is
// a locking clause or empty.
func experimentIn(ctx context.Context, tx pgx.Tx, tenant library.TenantID, ref, lock string) (library.Experiment, error) {
	rows, err := tx.Query(ctx, `SELECT `+collectionColumns+`, `+experimentColumns+` FROM collections c JOIN experiments e USING (tenant_id, collection_h)
		WHERE c.tenant_id = $1 AND e.tenant_id = $1 AND (c.path = $2 OR c.collection_h = $2) AND c.deleted_at IS NULL ORDER BY c.collection_h = $2 DESC LIMIT 1`+lock,
		tenant, library.CollectionPath(ref))
	if err != nil {
		return library.Experiment{}, err
	}
	e, err := pgx.CollectExactlyOneRow(rows, scanExperiment)
	if errors.Is(err, pgx.ErrNoRows) {
		err = library.NotFound("experiment")
	}
	return e, err
}

// ExperimentEntry is an experiment in a list.
type ExperimentEntry struct {
	library.Experiment
	Runs int // assets of the collection
}

// List returns the experiments of a tenant, the newest first, and how many there are.
func (ex *Experiments) List(ctx context.Context, actor library.Actor, limit, offset int) (list []ExperimentEntry, total int, err error) {
	err = ex.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		from := ` FROM collections c JOIN experiments e USING (tenant_id, collection_h) WHERE c.tenant_id = $1 AND e.tenant_id = $1 AND c.deleted_at IS NULL`
		if err := tx.QueryRow(ctx, `SELECT count(*)`+from, actor.Tenant).Scan(&total); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT `+collectionColumns+`, `+experimentColumns+from+` ORDER BY c.created_at DESC, c.collection_h LIMIT $2 OFFSET $3`, actor.Tenant, limit, offset)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (ExperimentEntry, error) {
			e, err := scanExperiment(row)
			return ExperimentEntry{Experiment: e}, err
		})
		if err != nil {
			return err
		}
		for i := range list {
			if err := tx.QueryRow(ctx, `SELECT count(*) `+runsFrom+` AND r.collection_h = $3`, actor.Tenant, viewer(actor), list[i].Hash).Scan(&list[i].Runs); err != nil {
				return err
			}
		}
		return nil
	})
	return list, total, err
}

// runsFrom selects the runs that the actor sees: assets that are in the collection, outside
// the trash. $1 is the tenant, $2 viewer of the actor.
var runsFrom = `FROM experiment_runs r JOIN collection_items i ON i.tenant_id = r.tenant_id AND i.collection_h = r.collection_h AND i.item_id = r.asset_h
	JOIN collections c ON c.tenant_id = r.tenant_id AND c.collection_h = r.collection_h
	JOIN assets a ON a.tenant_id = r.tenant_id AND a.asset_h = r.asset_h
	WHERE r.tenant_id = $1 AND i.tenant_id = $1 AND c.tenant_id = $1 AND a.tenant_id = $1 AND c.deleted_at IS NULL AND a.trashed_at IS NULL AND ` + visibleTo("a", "$2")

const runColumns = `r.run_h, r.asset_h, r.condition_id, r.variant_label, r.seed::text, r.prompt_text, r.model_name, r.run_params, r.outcome_tags, r.created_at,
	coalesce((SELECT jsonb_strip_nulls(jsonb_build_object('positive', l.doc -> 'positive', 'negative', l.doc -> 'negative', 'parameters', l.doc -> 'parameters', 'models', l.doc -> 'models',
		'samplers', jsonb_build_array(jsonb_build_object('node_id', l.doc -> 'samplers' -> 0 -> 'node_id')))) FROM lineage l WHERE l.tenant_id = r.tenant_id AND l.asset_h = r.asset_h), '{}')`

func scanRun(row pgx.CollectableRow) (r library.Run, err error) {
	var seed *string
	err = row.Scan(&r.Hash, &r.Asset, &r.Claim.ConditionID, &r.Claim.VariantLabel, &seed, &r.Claim.Prompt, &r.Claim.Model, &r.Claim.Params, &r.Claim.OutcomeTags, &r.AddedAt, &r.Lineage)
	if err == nil && seed != nil {
		r.Claim.Seed, err = parseSeed(*seed)
	}
	return r, err
}

// ExperimentData is all that was recorded of an experiment, of the runs that the actor sees.
type ExperimentData struct {
	library.Experiment
	Runs        []library.Run // in the order of the collection
	Scores      []library.RunScore
	Comparisons []library.RunComparison
}

// Read returns an experiment with its runs, scores and comparisons.
func (ex *Experiments) Read(ctx context.Context, actor library.Actor, ref string) (d ExperimentData, err error) {
	err = ex.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) (err error) {
		if d.Experiment, err = experimentIn(ctx, tx, actor.Tenant, ref, ""); err != nil {
			return err
		}
		d.Runs, err = queryRows(ctx, tx, scanRun, `SELECT `+runColumns+` `+runsFrom+` AND r.collection_h = $3 ORDER BY i.rank, i.item_id`, actor.Tenant, viewer(actor), d.Hash)
		if err != nil {
			return err
		}
		for i := range d.Runs {
			d.Runs[i].Position = i
			if d.Runs[i].Claim.Model == nil && d.ModelName != "" {
				d.Runs[i].Claim.Model = &d.Experiment.ModelName
			}
		}
		seen := `SELECT r.run_h ` + runsFrom + ` AND r.collection_h = $3`
		d.Scores, err = queryRows(ctx, tx, scanScore, `SELECT r2.run_h, s.evaluator, s.evaluator_type, s.scores, s.flags, s.comments, s.annotation_id
			FROM run_scores s JOIN experiment_runs r2 USING (tenant_id, asset_h, collection_h)
			WHERE s.tenant_id = $1 AND s.collection_h = $3 AND r2.run_h IN (`+seen+`) ORDER BY s.evaluator, r2.run_h`, actor.Tenant, viewer(actor), d.Hash)
		if err != nil {
			return err
		}
		d.Comparisons, err = queryRows(ctx, tx, scanComparison, `WITH seen AS MATERIALIZED (`+seen+`)
			SELECT p.item_a, p.item_b, p.evaluator, p.evaluator_type, p.winners, p.notes FROM run_comparisons p
			WHERE p.tenant_id = $1 AND p.collection_h = $3 AND p.item_a IN (SELECT run_h FROM seen) AND p.item_b IN (SELECT run_h FROM seen)
			ORDER BY p.item_a, p.item_b, p.evaluator`, actor.Tenant, viewer(actor), d.Hash)
		return err
	})
	return d, err
}

func scanScore(row pgx.CollectableRow) (s library.RunScore, err error) {
	err = row.Scan(&s.Run, &s.Evaluator, &s.EvaluatorType, &s.Scores, &s.Flags, &s.Comments, &s.AnnotationID)
	return s, err
}

func scanComparison(row pgx.CollectableRow) (c library.RunComparison, err error) {
	err = row.Scan(&c.A, &c.B, &c.Evaluator, &c.EvaluatorType, &c.Winners, &c.Notes)
	return c, err
}

// queryRows reads the rows of a query.
func queryRows[T any](ctx context.Context, tx pgx.Tx, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}
