package store

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/prompt"
)

// Prompts is the prompt library: templates with versions, labels and evaluations, and the
// images that were made with each version.
type Prompts struct{ s *Store }

// promptNoun is a prompt; its key is prompt_h. What is deleted stays, for its versions.
var promptNoun = rowNoun("prompt", &rowTable{table: "prompts", key: []string{"prompt_h"}, label: "name", touched: "updated_at", trash: "deleted_at",
	columns: []string{"name", "description", "category", "target_model", "tags", "created_at", "created_by", "deleted_at"}}).trashed("deleted_at", "created", "updated", "trashed", "restored")

func init() { register(promptNoun, undoPrompts) }

// undoPrompts undoes changes of prompts. A prompt whose creation is undone goes however it
// was changed since, unless it has got further versions: those of the creation are undone
// before, and without any version it would be nothing.
func undoPrompts(ctx context.Context, t *Tx, n *Noun, entries []entry) ([]library.Outcome, error) {
	for i := range entries {
		if entries[i].before == nil {
			entries[i].after = json.RawMessage("{}")
		}
	}
	return undoRows(ctx, t, n, entries)
}

// PromptChange is a prompt as a write left it.
type PromptChange struct {
	Prompt      library.Prompt
	Version     library.PromptVersion // the one that was added, or that the write was about
	Created     bool                  // the prompt, or by a change the version, is new
	Evaluation  string                // the id of the evaluation that was added
	OperationID string
}

// NewPrompt is a prompt to create. Of Prompt the hash and who made it when are set by Create.
type NewPrompt struct {
	library.Prompt
	Text    string // a valid template
	Message string
	Labels  []string
}

const promptColumns = `p.prompt_h, p.name, p.description, p.category, p.target_model, p.tags, p.created_at, p.created_by, p.updated_at, p.doc_version`

func promptFields(p *library.Prompt) []any {
	return []any{&p.Hash, &p.Name, &p.Description, &p.Category, &p.TargetModel, &p.Tags, &p.CreatedAt, &p.CreatedBy, &p.UpdatedAt, &p.Revision}
}

const versionOfPromptColumns = `v.version_h, v.prompt_h, v.number, v.body, v.message, v.created_at, v.created_by, v.linked_at IS NOT NULL,
	ARRAY(SELECT l.label FROM prompt_labels l WHERE l.tenant_id = v.tenant_id AND l.version_h = v.version_h ORDER BY l.label)`

func promptVersionFields(v *library.PromptVersion) []any {
	return []any{&v.Hash, &v.Prompt, &v.Number, &v.Text, &v.Message, &v.CreatedAt, &v.CreatedBy, &v.Linked, &v.Labels}
}

func scanPromptVersion(row pgx.CollectableRow) (v library.PromptVersion, err error) {
	err = row.Scan(promptVersionFields(&v)...)
	return v, err
}

// textHash is how texts of versions are told apart.
func textHash(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Create stores a new prompt with its first version. Where a version of any prompt has this
// text already, nothing is written, and that prompt and version are returned.
func (ps *Prompts) Create(ctx context.Context, actor library.Actor, n NewPrompt) (out PromptChange, err error) {
	n.Text = prompt.Clean(n.Text)
	err = ps.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		out, err = promptOfText(ctx, tx, actor.Tenant, n.Text)
		return err
	})
	if err != nil || out.Prompt.Hash != "" {
		return out, err
	}
	out.OperationID, err = ps.s.Write(ctx, actor, func(t *Tx) error {
		if err := t.lockPrompts(ctx); err != nil {
			return err
		}
		var err error
		if out, err = promptOfText(ctx, t, t.tenant(), n.Text); err != nil || out.Prompt.Hash != "" { // created meanwhile
			return err
		}
		out, err = t.createPrompt(ctx, n)
		return err
	})
	return out, err
}

// lockPrompts makes changes of a tenant's versions wait for each other, and for the uploads
// that are compared with the versions.
func (t *Tx) lockPrompts(ctx context.Context) error {
	_, err := t.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('prompts' || $1, 0))`, string(t.tenant()))
	return err
}

// promptOfText finds the live version that has a text, with its prompt; of none the hashes
// are empty.
func promptOfText(ctx context.Context, tx pgx.Tx, tenant library.TenantID, text string) (out PromptChange, err error) {
	err = tx.QueryRow(ctx, `SELECT `+promptColumns+`, `+versionOfPromptColumns+` FROM prompt_versions v JOIN prompts p USING (tenant_id, prompt_h)
		WHERE v.tenant_id = $1 AND v.text_h = $2 AND v.deleted_at IS NULL AND p.deleted_at IS NULL`, tenant, textHash(text)).
		Scan(append(promptFields(&out.Prompt), promptVersionFields(&out.Version)...)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return PromptChange{}, nil
	}
	return out, err
}

func (t *Tx) createPrompt(ctx context.Context, n NewPrompt) (out PromptChange, err error) {
	var have int
	if err := t.QueryRow(ctx, `SELECT count(*) FROM prompts WHERE tenant_id = $1 AND deleted_at IS NULL`, t.tenant()).Scan(&have); err != nil {
		return out, err
	}
	if have >= library.MaxPrompts {
		return out, library.NewError(library.KindConflict, library.CodeConflict,
			"The library has %d prompts, which is the most it may have. Delete prompts that nobody needs first.", have)
	}
	n.Hash = library.NewPromptHash(n.Text)
	err = t.Track(ctx, promptNoun, []string{string(n.Hash)}, func() error {
		// A prompt that was deleted comes back as a new one.
		return t.QueryRow(ctx, `INSERT INTO prompts AS p (tenant_id, prompt_h, name, description, category, target_model, tags, created_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
			ON CONFLICT (tenant_id, prompt_h) DO UPDATE SET name = excluded.name, description = excluded.description, category = excluded.category,
				target_model = excluded.target_model, tags = excluded.tags, created_at = now(), created_by = excluded.created_by, updated_at = now(), deleted_at = NULL
			RETURNING `+promptColumns, t.tenant(), n.Hash, n.Name, n.Description, n.Category, n.TargetModel, library.MergeTags(nil, n.Tags), t.actor.ID).
			Scan(promptFields(&out.Prompt)...)
	})
	if err != nil {
		return out, err
	}
	if out.Version, err = t.addPromptVersion(ctx, n.Hash, n.Text, n.Message); err != nil {
		return out, err
	}
	out.Created = true
	if err := t.moveLabels(ctx, &out.Version, n.Labels, nil); err != nil {
		return out, err
	}
	return out, t.readRevision(ctx, &out.Prompt)
}

// readRevision fills in the revision of a prompt once it is changed: versions and labels
// raise it as well.
func (t *Tx) readRevision(ctx context.Context, p *library.Prompt) error {
	return t.QueryRow(ctx, `SELECT doc_version FROM prompts WHERE tenant_id = $1 AND prompt_h = $2`, t.tenant(), p.Hash).Scan(&p.Revision)
}

// promptIn reads a live prompt; lock is a locking clause or empty.
func promptIn(ctx context.Context, tx pgx.Tx, tenant library.TenantID, hash library.PromptHash, lock string) (p library.Prompt, err error) {
	err = tx.QueryRow(ctx, `SELECT `+promptColumns+` FROM prompts p WHERE p.tenant_id = $1 AND p.prompt_h = $2 AND p.deleted_at IS NULL`+lock, tenant, hash).
		Scan(promptFields(&p)...)
	if errors.Is(err, pgx.ErrNoRows) {
		err = library.NotFound("prompt")
	}
	return p, err
}

// LatestVersion stands for the newest version of a prompt; DefaultVersion for the one with the
// label production, or the newest where none has it.
const (
	LatestVersion   = "latest"
	DefaultVersion  = ""
	productionLabel = "production"
)

// promptVersionIn finds a version by its number, hash or label, or by LatestVersion or
// DefaultVersion.
func promptVersionIn(ctx context.Context, tx pgx.Tx, tenant library.TenantID, hash library.PromptHash, ref string) (v library.PromptVersion, err error) {
	where, order := `(v.version_h = $3 OR EXISTS (SELECT FROM prompt_labels l WHERE l.tenant_id = v.tenant_id AND l.version_h = v.version_h AND l.label = $3))`, `v.number DESC`
	number, notNumber := strconv.ParseInt(ref, 10, 32) // as the database counts
	args := []any{tenant, hash, ref}
	switch {
	case ref == DefaultVersion:
		where, order = `$3 = ''`, `EXISTS (SELECT FROM prompt_labels l WHERE l.tenant_id = v.tenant_id AND l.version_h = v.version_h AND l.label = '`+productionLabel+`') DESC, v.number DESC`
	case ref == LatestVersion:
		where = `$3 <> ''`
	case notNumber == nil:
		where, args[2] = `v.number = $3`, number
	}
	err = tx.QueryRow(ctx, `SELECT `+versionOfPromptColumns+` FROM prompt_versions v WHERE v.tenant_id = $1 AND v.prompt_h = $2 AND v.deleted_at IS NULL AND `+where+`
		ORDER BY `+order+` LIMIT 1`, args...).Scan(promptVersionFields(&v)...)
	if errors.Is(err, pgx.ErrNoRows) {
		err = library.NotFound("version of the prompt")
	}
	return v, err
}

// Version returns a prompt and one of its versions, which ref names by its number, hash or
// label; see LatestVersion and DefaultVersion.
func (ps *Prompts) Version(ctx context.Context, actor library.Actor, hash library.PromptHash, ref string) (p library.Prompt, v library.PromptVersion, err error) {
	err = ps.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		if p, err = promptIn(ctx, tx, actor.Tenant, hash, ""); err != nil {
			return err
		}
		v, err = promptVersionIn(ctx, tx, actor.Tenant, hash, ref)
		return err
	})
	return p, v, err
}
