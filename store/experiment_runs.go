package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// RunChange is what a change of a run did.
type RunChange struct {
	library.Run
	Experiment  library.Experiment
	Created     bool
	OperationID string
}

func parseSeed(s string) (*uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("reading a seed: %w", err)
	}
	return &n, nil
}

// Register makes an asset a run of an experiment, at a position of its collection; nil means
// behind all. An asset that is one already gets the claim and the position that are given.
func (ex *Experiments) Register(ctx context.Context, actor library.Actor, ref string, asset library.AssetHash, claim library.RunClaim, position *int) (out RunChange, err error) {
	out.OperationID, err = ex.s.Write(ctx, actor, func(t *Tx) error {
		out.Experiment, err = experimentIn(ctx, t, t.tenant(), ref, ` FOR NO KEY UPDATE OF c`)
		if err != nil {
			return err
		}
		collection := out.Experiment.Hash
		added, err := t.addToCollection(ctx, string(collection), NewItems{Assets: []library.AssetHash{asset}, Position: position, claimed: true})
		switch {
		case err != nil:
			return err
		case len(added.Missing) > 0:
			return library.NotFound("asset")
		}
		run := library.RunHash(collection, asset)
		if out.Created, err = t.putRun(ctx, collection, asset, run, claim); err != nil {
			return err
		}
		if out.Created = out.Created || len(added.Added) > 0; out.Created {
			if err := t.reindexAssets(ctx, "experiments", []string{string(asset)}); err != nil {
				return err
			}
		}
		if err := t.within(ctx, "experiment_runs", collection, library.MaxRuns, "runs"); err != nil {
			return err
		}
		out.Run, err = runIn(ctx, t, actor, run)
		return err
	})
	return out, err
}

// registerMembers makes assets that came into a collection runs of it, where it is an
// experiment. Those that were registered before keep what was claimed of them.
func (t *Tx) registerMembers(ctx context.Context, c library.CollectionHash, assets []string) error {
	var is bool
	if err := t.QueryRow(ctx, `SELECT EXISTS (SELECT FROM experiments WHERE tenant_id = $1 AND collection_h = $2)`, t.tenant(), c).Scan(&is); err != nil || !is || len(assets) == 0 {
		return err
	}
	keys, runs := make([]string, len(assets)), make([]string, len(assets))
	for i, h := range assets {
		keys[i], runs[i] = itemKey(h, c), library.RunHash(c, library.AssetHash(h))
	}
	if err := t.Track(ctx, runNoun, keys, func() error {
		_, err := t.Exec(ctx, `INSERT INTO experiment_runs (tenant_id, asset_h, collection_h, run_h, created_by)
			SELECT $1, h, $2, r, $5 FROM unnest($3::text[], $4::text[]) AS x(h, r) ON CONFLICT (tenant_id, asset_h, collection_h) DO NOTHING`, t.tenant(), c, assets, runs, t.actor.ID)
		return err
	}); err != nil {
		return err
	}
	return t.within(ctx, "experiment_runs", c, library.MaxRuns, "runs")
}

// within refuses the row just written where it is one too many of an experiment, which the
// caller holds.
func (t *Tx) within(ctx context.Context, table string, c library.CollectionHash, most int, what string) error {
	var have int
	if err := t.QueryRow(ctx, `SELECT count(*) FROM `+table+` WHERE tenant_id = $1 AND collection_h = $2`, t.tenant(), c).Scan(&have); err != nil {
		return err
	}
	if have > most {
		return library.NewError(library.KindConflict, library.CodeConflict, "An experiment has at most %d %s. Create another experiment.", most, what)
	}
	return nil
}

func (t *Tx) putRun(ctx context.Context, c library.CollectionHash, asset library.AssetHash, run string, claim library.RunClaim) (created bool, err error) {
	params, err := jsonb(object(claim.Params))
	if err != nil {
		return false, err
	}
	var seed *string
	if claim.Seed != nil {
		s := strconv.FormatUint(*claim.Seed, 10)
		seed = &s
	}
	err = t.Track(ctx, runNoun, []string{itemKey(string(asset), c)}, func() error {
		return t.QueryRow(ctx, `INSERT INTO experiment_runs (tenant_id, asset_h, collection_h, run_h, condition_id, variant_label, seed, prompt_text, model_name, run_params, outcome_tags, created_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7::text::numeric, $8, $9, $10, $11, $12)
			ON CONFLICT (tenant_id, asset_h, collection_h) DO UPDATE SET condition_id = excluded.condition_id, variant_label = excluded.variant_label, seed = excluded.seed,
				prompt_text = excluded.prompt_text, model_name = excluded.model_name, run_params = excluded.run_params, outcome_tags = excluded.outcome_tags
			RETURNING xmax = 0`, t.tenant(), asset, c, run, claim.ConditionID, claim.VariantLabel, seed, claim.Prompt, claim.Model, string(params), append([]string{}, claim.OutcomeTags...), t.actor.ID).Scan(&created)
	})
	return created, err
}

// runIn finds a run that the actor sees.
func runIn(ctx context.Context, tx pgx.Tx, actor library.Actor, run string) (library.Run, error) {
	rows, err := tx.Query(ctx, `SELECT `+runColumns+` `+runsFrom+` AND r.run_h = $3`, actor.Tenant, viewer(actor), run)
	if err != nil {
		return library.Run{}, err
	}
	r, err := pgx.CollectExactlyOneRow(rows, scanRun)
	if errors.Is(err, pgx.ErrNoRows) {
		err = library.NotFound("run")
	}
	return r, err
}

// experimentOfRun finds the experiment of a run that the actor sees and holds it, so that
// those who score its runs wait for each other.
func (t *Tx) experimentOfRun(ctx context.Context, run string) (r library.Run, e library.Experiment, err error) {
	if r, err = runIn(ctx, t, t.actor, run); err != nil {
		return r, e, err
	}
	var collection string
	if err = t.QueryRow(ctx, `SELECT collection_h FROM experiment_runs WHERE tenant_id = $1 AND run_h = $2`, t.tenant(), run).Scan(&collection); err != nil {
		return r, e, err
	}
	e, err = experimentIn(ctx, t, t.tenant(), collection, ` FOR NO KEY UPDATE OF c`)
	return r, e, err
}

// ScoreChange is what a change of scores did.
type ScoreChange struct {
	library.RunScore
	Experiment  library.Experiment
	Target      string // what the annotation is about: a workflow node, or the run
	OperationID string
}

// Score records what an evaluator says of a run. Dimensions and flags that the evaluator
// scored before and does not send stay. The annotation says the same on the node that made
// the picture, or on the run where its file has no graph; content returns its text.
func (ex *Experiments) Score(ctx context.Context, actor library.Actor, s library.RunScore, content func(library.Experiment, library.RunScore) (string, error)) (out ScoreChange, err error) {
	out.OperationID, err = ex.s.Write(ctx, actor, func(t *Tx) error {
		run, e, err := t.experimentOfRun(ctx, s.Run)
		if err != nil {
			return err
		}
		out.RunScore, out.Experiment = s, e
		if err := t.mergeScore(ctx, run, e, &out.RunScore); err != nil {
			return err
		}
		text, err := content(e, out.RunScore)
		if err != nil {
			return err
		}
		note := library.Annotation{ID: out.AnnotationID, Target: run.Hash, Asset: run.Asset, Kind: library.AnnotationEvaluation, Content: text, ContentType: library.ContentJSON, Visibility: library.VisibilityTeam}
		if node := run.Lineage.MainNode(); node != "" {
			if at, err := findTarget(ctx, t, actor, library.WorkflowNodeID(run.Asset, node)); err == nil {
				note.Target, note.NodeID = at.hash, at.nodeID
			} else if library.AsError(err).Kind != library.KindNotFound {
				return err
			}
		}
		out.Target = note.Target
		if _, err := t.putAnnotation(ctx, note); err != nil {
			return err
		}
		if err := t.putScore(ctx, run, e, out.RunScore); err != nil {
			return err
		}
		return t.within(ctx, "run_scores", e.Hash, library.MaxScores, "scores")
	})
	return out, err
}

// mergeScore adds what the evaluator said of the run before.
func (t *Tx) mergeScore(ctx context.Context, run library.Run, e library.Experiment, s *library.RunScore) error {
	var before library.RunScore
	err := t.QueryRow(ctx, `SELECT scores, flags, comments, annotation_id FROM run_scores WHERE tenant_id = $1 AND asset_h = $2 AND collection_h = $3 AND evaluator = $4`,
		t.tenant(), run.Asset, e.Hash, s.Evaluator).Scan(&before.Scores, &before.Flags, &before.Comments, &before.AnnotationID)
	if errors.Is(err, pgx.ErrNoRows) {
		s.AnnotationID = newHash()
		s.Scores, s.Flags = object(s.Scores), object(s.Flags)
		return nil
	}
	if err != nil {
		return err
	}
	s.Scores, s.Flags, s.AnnotationID = merged(before.Scores, s.Scores), merged(before.Flags, s.Flags), before.AnnotationID
	if s.Comments == "" {
		s.Comments = before.Comments
	}
	return nil
}

// merged returns a map with the members of two, those of the second first.
func merged[T any](before, now map[string]T) map[string]T {
	out := make(map[string]T, len(before)+len(now))
	for k, v := range before {
		out[k] = v
	}
	for k, v := range now {
		out[k] = v
	}
	return out
}

func (t *Tx) putScore(ctx context.Context, run library.Run, e library.Experiment, s library.RunScore) error {
	scores, err := jsonb(s.Scores)
	if err != nil {
		return err
	}
	flags, err := jsonb(s.Flags)
	if err != nil {
		return err
	}
	return t.Track(ctx, runScoreNoun, []string{itemKey(string(run.Asset), e.Hash) + "/" + s.Evaluator}, func() error {
		_, err := t.Exec(ctx, `INSERT INTO run_scores (tenant_id, asset_h, collection_h, evaluator, evaluator_type, scores, flags, comments, annotation_id, scored_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
			ON CONFLICT (tenant_id, asset_h, collection_h, evaluator) DO UPDATE SET evaluator_type = excluded.evaluator_type, scores = excluded.scores, flags = excluded.flags,
				comments = excluded.comments, scored_by = excluded.scored_by, updated_at = now()`,
			t.tenant(), run.Asset, e.Hash, s.Evaluator, s.EvaluatorType, string(scores), string(flags), s.Comments, s.AnnotationID, t.actor.ID)
		return err
	})
}

// ComparisonChange is what a comparison did.
type ComparisonChange struct {
	library.RunComparison
	Experiment  library.Experiment
	Total       int // comparisons of the experiment
	OperationID string
}

// Compare records what an evaluator says of two runs of an experiment. Dimensions that the
// evaluator compared before and does not send stay.
func (ex *Experiments) Compare(ctx context.Context, actor library.Actor, ref string, c library.RunComparison) (out ComparisonChange, err error) {
	if c.A > c.B {
		c.A, c.B = c.B, c.A
	}
	out.OperationID, err = ex.s.Write(ctx, actor, func(t *Tx) error {
		out.RunComparison = c
		if out.Experiment, err = experimentIn(ctx, t, t.tenant(), ref, ` FOR NO KEY UPDATE OF c`); err != nil {
			return err
		}
		hash := out.Experiment.Hash
		for _, run := range []string{c.A, c.B} {
			r, err := runIn(ctx, t, actor, run)
			if err != nil {
				return err
			}
			if library.RunHash(hash, r.Asset) != run {
				return library.NotFound("run of this experiment")
			}
		}
		if err := t.putComparison(ctx, hash, &out.RunComparison); err != nil {
			return err
		}
		if err := t.within(ctx, "run_comparisons", hash, library.MaxComparisons, "comparisons"); err != nil {
			return err
		}
		return t.QueryRow(ctx, `SELECT count(*) FROM run_comparisons WHERE tenant_id = $1 AND collection_h = $2`, t.tenant(), hash).Scan(&out.Total)
	})
	return out, err
}

func (t *Tx) putComparison(ctx context.Context, e library.CollectionHash, c *library.RunComparison) error {
	winners, err := jsonb(c.Winners)
	if err != nil {
		return err
	}
	return t.Track(ctx, runComparisonNoun, []string{string(e) + "/" + c.A + "/" + c.B + "/" + c.Evaluator}, func() error {
		return t.QueryRow(ctx, `INSERT INTO run_comparisons AS p (tenant_id, collection_h, item_a, item_b, evaluator, evaluator_type, winners, notes, compared_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT (tenant_id, collection_h, item_a, item_b, evaluator) DO UPDATE SET evaluator_type = excluded.evaluator_type, winners = p.winners || excluded.winners,
				notes = coalesce(nullif(excluded.notes, ''), p.notes), compared_by = excluded.compared_by, updated_at = now()
			RETURNING winners, notes`, t.tenant(), e, c.A, c.B, c.Evaluator, c.EvaluatorType, string(winners), c.Notes, t.actor.ID).Scan(&c.Winners, &c.Notes)
	})
}
