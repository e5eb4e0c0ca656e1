package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/store/indexstate"
)

// PromptIndex names the index of prompts.
const PromptIndex = "prompts"

// PromptDocument is what the index wants to know of one prompt. Of one that is not live
// only the head is set.
type PromptDocument struct {
	indexstate.DocumentHead
	library.Prompt
	Texts  []string // of its live versions, the newest first
	Labels []string
}

// Table returns the prompts as documents of their index.
func (ps *Prompts) Table() *indexstate.DocumentTable {
	return ps.s.Documents.Table(PromptIndex, "prompts", "prompt_h")
}

// Documents reads some prompts of any tenants for the index, in the order of the keys, and
// which index generations there are, in one snapshot.
func (ps *Prompts) Documents(ctx context.Context, keys []indexstate.DocumentKey) ([]PromptDocument, []indexstate.Generation, error) {
	docs := make([]PromptDocument, len(keys))
	var ord int
	heads, generations, err := ps.Table().Read(ctx, keys,
		indexstate.DocumentPart{SQL: `SELECT k.ord, ` + promptColumns + ` FROM ` + indexstate.DocumentKeysSQL + ` JOIN prompts p ON p.tenant_id = k.tenant_id AND p.prompt_h = k.key WHERE p.deleted_at IS NULL`,
			Scan: func(r pgx.Rows) error {
				var p library.Prompt
				err := r.Scan(append([]any{&ord}, promptFields(&p)...)...)
				if err == nil {
					docs[ord-1].Prompt = p
				}
				return err
			}},
		indexstate.DocumentPart{SQL: `SELECT k.ord, v.body FROM ` + indexstate.DocumentKeysSQL + ` JOIN prompt_versions v ON v.tenant_id = k.tenant_id AND v.prompt_h = k.key
			WHERE v.deleted_at IS NULL ORDER BY k.ord, v.number DESC`, Scan: func(r pgx.Rows) error {
			var text string
			err := r.Scan(&ord, &text)
			if err == nil {
				docs[ord-1].Texts = append(docs[ord-1].Texts, text)
			}
			return err
		}},
		indexstate.DocumentPart{SQL: `SELECT k.ord, l.label FROM ` + indexstate.DocumentKeysSQL + ` JOIN prompt_labels l ON l.tenant_id = k.tenant_id AND l.prompt_h = k.key ORDER BY k.ord, l.label`,
			Scan: func(r pgx.Rows) error {
				var label string
				err := r.Scan(&ord, &label)
				if err == nil {
					docs[ord-1].Labels = append(docs[ord-1].Labels, label)
				}
				return err
			}})
	for i := range heads {
		docs[i].DocumentHead = heads[i]
	}
	return docs, generations, err
}
