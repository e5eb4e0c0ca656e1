package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/prompt"
)

// promptVersionNoun is a version of a prompt; its key is version_h.
var promptVersionNoun = promptEvents(rowNoun("prompt_version", &rowTable{table: "prompt_versions", key: []string{"version_h"}, trash: "deleted_at",
	columns: []string{"prompt_h", "number", "body", "message", "created_at", "created_by", "deleted_at"}}), map[string]string{
	"created": "prompt.versioned", "restored": "prompt.versioned", "trashed": "prompt.version_removed"}, "deleted_at")

// promptLabelNoun is a label of a prompt; its key is prompt_h and the label.
var promptLabelNoun = promptEvents(rowNoun("prompt_label", &rowTable{table: "prompt_labels", key: []string{"prompt_h", "label"},
	columns: []string{"version_h", "moved_at", "moved_by"}}), map[string]string{
	"created": "prompt.label_moved", "updated": "prompt.label_moved", "deleted": "prompt.label_removed"}, "")

// promptEvaluationNoun is what somebody thinks of a version; its key is the evaluation's id.
var promptEvaluationNoun = promptEvents(rowNoun("prompt_evaluation", &rowTable{table: "prompt_evaluations", key: []string{"evaluation_id"},
	columns: []string{"version_h", "scores", "evaluator_type", "comments", "created_at", "created_by"}}), map[string]string{
	"created": "prompt.evaluated", "deleted": "prompt.evaluation_removed"}, "")

func init() {
	register(promptVersionNoun, undoPromptVersions)
	register(promptLabelNoun, undoRows)
	register(promptEvaluationNoun, undoRows)
}

// promptEvents declares the events of a noun that belongs to prompts, by what happens to it; trash is the field of the time when it was deleted.
func promptEvents(n *Noun, events map[string]string, trash string) *Noun {
	n.event = func(before, after json.RawMessage) string {
		switch {
		case before == nil:
			return events["created"]
		case after == nil:
			return events["deleted"]
		case trash != "" && trashEvent("", trash, before, after) == ".trashed":
			return events["trashed"]
		case trash != "":
			return events["restored"]
		}
		return events["updated"]
	}
	for _, e := range events {
		n.events = append(n.events, e)
	}
	slices.Sort(n.events)
	n.events = slices.Compact(n.events)
	return n
}

// PromptEdit is a change of a prompt.
type PromptEdit struct {
	Change  func(*library.Prompt) error // nil: the prompt's own fields stay
	Text    string                      // a new version's; a valid template; empty: none
	Message string
	// Version names what the labels and the evaluation are about; see Prompts.Version. The new
	// version where Text is set, which must be empty then or LatestVersion.
	Version      string
	Labels       []string // are moved to the version
	RemoveLabels []string // are removed, whichever version has them
	Evaluation   *library.PromptEvaluation
}

// Change changes a prompt, or adds a version. A text that is a version of this prompt
// already adds none, and the labels go to that version; one of another prompt is a conflict.
func (ps *Prompts) Change(ctx context.Context, actor library.Actor, hash library.PromptHash, e PromptEdit) (out PromptChange, err error) {
	e.Text = prompt.Clean(e.Text)
	out.OperationID, err = ps.s.Write(ctx, actor, func(t *Tx) error {
		if e.Text != "" {
			if err := t.lockPrompts(ctx); err != nil {
				return err
			}
		}
		var err error
		out, err = t.changePrompt(ctx, hash, e)
		return err
	})
	return out, err
}

func (t *Tx) changePrompt(ctx context.Context, hash library.PromptHash, e PromptEdit) (out PromptChange, err error) {
	if out.Prompt, err = promptIn(ctx, t, t.tenant(), hash, ` FOR UPDATE`); err != nil {
		return out, err
	}
	if err := t.call.Check(out.Prompt.Revision); err != nil {
		return out, err
	}
	if e.Change != nil {
		if err := t.changePromptFields(ctx, &out.Prompt, e.Change); err != nil {
			return out, err
		}
	}
	if e.Text != "" {
		have, err := promptOfText(ctx, t, t.tenant(), e.Text)
		if err != nil {
			return out, err
		}
		switch have.Prompt.Hash {
		case "":
			if out.Version, err = t.addPromptVersion(ctx, hash, e.Text, e.Message); err != nil {
				return out, err
			}
			out.Created = true
		case hash:
			out.Version = have.Version
		default:
			return out, library.Invalid(library.FieldError{Field: "prompt_text", Code: "conflict", Message: "Another prompt has a version with this text.",
				Hint: "It is the prompt " + string(have.Prompt.Hash) + ". Change that one, or send another text."})
		}
	} else if out.Version, err = promptVersionIn(ctx, t, t.tenant(), hash, e.Version); err != nil {
		return out, err
	}
	if err := t.moveLabels(ctx, &out.Version, e.Labels, e.RemoveLabels); err != nil {
		return out, err
	}
	if e.Evaluation != nil {
		if out.Evaluation, err = t.addEvaluation(ctx, out.Version.Hash, *e.Evaluation); err != nil {
			return out, err
		}
	}
	return out, t.readRevision(ctx, &out.Prompt)
}

func (t *Tx) changePromptFields(ctx context.Context, p *library.Prompt, change func(*library.Prompt) error) error {
	if err := change(p); err != nil {
		return err
	}
	return t.Track(ctx, promptNoun, []string{string(p.Hash)}, func() error {
		return t.QueryRow(ctx, `UPDATE prompts p SET name = $3, description = $4, category = $5, target_model = $6, tags = $7, updated_at = now()
			WHERE tenant_id = $1 AND prompt_h = $2 RETURNING `+promptColumns,
			t.tenant(), p.Hash, p.Name, p.Description, p.Category, p.TargetModel, library.MergeTags(nil, p.Tags)).Scan(promptFields(p)...)
	})
}

// addPromptVersion adds a version, or brings back a deleted one that had the same text.
func (t *Tx) addPromptVersion(ctx context.Context, hash library.PromptHash, text, message string) (v library.PromptVersion, err error) {
	var last int
	if err := t.QueryRow(ctx, `SELECT coalesce(max(number), 0) FROM prompt_versions WHERE tenant_id = $1 AND prompt_h = $2`, t.tenant(), hash).Scan(&last); err != nil {
		return v, err
	}
	if last >= library.MaxPromptVersions {
		return v, library.NewError(library.KindConflict, library.CodeConflict, "The prompt has had %d versions, which is the most it may have. Create a new prompt.", last)
	}
	template, errs := prompt.Parse(text)
	if len(errs) > 0 {
		return v, library.Invalid(errs...)
	}
	var anchor *int64
	if a, ok := template.Matcher().Anchor(); ok {
		anchor = &a
	}
	id := library.NewPromptVersionHash(hash, text)
	err = t.Track(ctx, promptVersionNoun, []string{string(id)}, func() error {
		return t.QueryRow(ctx, `INSERT INTO prompt_versions AS v (tenant_id, version_h, prompt_h, number, body, text_h, message, anchor, created_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT (tenant_id, version_h) DO UPDATE SET message = excluded.message, anchor = excluded.anchor, created_at = now(), created_by = excluded.created_by, deleted_at = NULL
			RETURNING `+versionOfPromptColumns, t.tenant(), id, hash, last+1, text, textHash(text), message, anchor, t.actor.ID).Scan(promptVersionFields(&v)...)
	})
	if err != nil {
		return v, err
	}
	if _, err := t.Exec(ctx, `UPDATE prompts SET updated_at = now() WHERE tenant_id = $1 AND prompt_h = $2`, t.tenant(), hash); err != nil {
		return v, err
	}
	return v, t.Enqueue(ctx, PromptLinkJob{t.tenant()})
}

// undoPromptVersions undoes changes of versions, and has images compared with them again.
var undoPromptVersions = undoRowsThen(func(ctx context.Context, t *Tx, _ []string) error { return t.Enqueue(ctx, PromptLinkJob{t.tenant()}) })

// moveLabels moves labels to a version and removes others.
func (t *Tx) moveLabels(ctx context.Context, v *library.PromptVersion, labels, remove []string) error {
	remove = slices.DeleteFunc(slices.Clone(remove), func(l string) bool { return slices.Contains(labels, l) })
	all := slices.Concat(labels, remove)
	if len(all) == 0 {
		return nil
	}
	keys := make([]string, len(all))
	for i, l := range all {
		keys[i] = string(v.Prompt) + "/" + l
	}
	slices.Sort(keys)
	err := t.Track(ctx, promptLabelNoun, slices.Compact(keys), func() error {
		b := &pgx.Batch{}
		b.Queue(`DELETE FROM prompt_labels WHERE tenant_id = $1 AND prompt_h = $2 AND label = ANY($3)`, t.tenant(), v.Prompt, remove)
		b.Queue(`INSERT INTO prompt_labels AS l (tenant_id, prompt_h, label, version_h, moved_by) SELECT $1, $2, label, $4, $5 FROM unnest($3::text[]) AS label
			ON CONFLICT (tenant_id, prompt_h, label) DO UPDATE SET version_h = excluded.version_h, moved_by = excluded.moved_by, moved_at = now()
			WHERE l.version_h <> excluded.version_h`, t.tenant(), v.Prompt, slices.Compact(slices.Sorted(slices.Values(labels))), v.Hash, t.actor.ID)
		return t.SendBatch(ctx, b).Close()
	})
	if err != nil {
		return err
	}
	var count int
	err = t.QueryRow(ctx, `SELECT count(*), coalesce(array_agg(label ORDER BY label) FILTER (WHERE version_h = $3), '{}') FROM prompt_labels WHERE tenant_id = $1 AND prompt_h = $2`,
		t.tenant(), v.Prompt, v.Hash).Scan(&count, &v.Labels)
	if err == nil && count > library.MaxPromptLabels {
		err = library.Invalid(library.FieldError{Field: "labels", Code: "range", Message: fmt.Sprintf("A prompt has at most %d labels.", library.MaxPromptLabels), Hint: "Remove some with remove_labels."})
	}
	return err
}

func (t *Tx) addEvaluation(ctx context.Context, version library.PromptVersionHash, e library.PromptEvaluation) (id string, err error) {
	id = newID()
	scores, err := jsonb(e.Scores)
	if err != nil {
		return "", err
	}
	return id, t.Track(ctx, promptEvaluationNoun, []string{id}, func() error {
		_, err := t.Exec(ctx, `INSERT INTO prompt_evaluations (tenant_id, evaluation_id, version_h, scores, evaluator_type, comments, created_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, t.tenant(), id, version, scores, e.Evaluator, e.Comments, t.actor.ID)
		return err
	})
}

// Delete deletes a prompt with its versions and labels, and returns what it was.
func (ps *Prompts) Delete(ctx context.Context, actor library.Actor, hash library.PromptHash) (out PromptChange, err error) {
	out.OperationID, err = ps.s.Write(ctx, actor, func(t *Tx) error {
		if err := t.lockPrompts(ctx); err != nil {
			return err
		}
		var err error
		if out.Prompt, err = promptIn(ctx, t, t.tenant(), hash, ` FOR UPDATE`); err != nil {
			return err
		}
		if err := t.call.Check(out.Prompt.Revision); err != nil {
			return err
		}
		for _, step := range []struct {
			noun      *Noun
			keys, sql string
		}{
			{promptLabelNoun, `SELECT prompt_h || '/' || label FROM prompt_labels WHERE tenant_id = $1 AND prompt_h = $2`,
				`DELETE FROM prompt_labels WHERE tenant_id = $1 AND prompt_h = $2`},
			{promptVersionNoun, `SELECT version_h FROM prompt_versions WHERE tenant_id = $1 AND prompt_h = $2 AND deleted_at IS NULL`,
				`UPDATE prompt_versions SET deleted_at = now() WHERE tenant_id = $1 AND prompt_h = $2 AND deleted_at IS NULL`},
			{promptNoun, `SELECT $2::text WHERE $1::uuid IS NOT NULL`, `UPDATE prompts SET deleted_at = now(), updated_at = now() WHERE tenant_id = $1 AND prompt_h = $2`},
		} {
			if err := t.trackAll(ctx, step.noun, step.keys, step.sql, t.tenant(), hash); err != nil {
				return err
			}
		}
		return t.Enqueue(ctx, PromptLinkJob{t.tenant()})
	})
	return out, err
}

// trackAll tracks a statement that changes the rows whose keys a query lists.
func (t *Tx) trackAll(ctx context.Context, n *Noun, keys, sql string, args ...any) error {
	rows, err := t.Query(ctx, keys, args...)
	if err != nil {
		return err
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(list) == 0 {
		return err
	}
	return t.Track(ctx, n, list, func() error {
		_, err := t.Exec(ctx, sql, args...)
		return err
	})
}
