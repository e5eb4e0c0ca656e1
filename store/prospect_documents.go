package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"vitrine/outreach"
	"vitrine/store/indexstate"
)

// ProspectIndex names the index of prospects.
const ProspectIndex = "prospects"

// ProspectDocument is what the index wants to know of one person. Of a record that is not
// live only the head is set.
type ProspectDocument struct {
	indexstate.DocumentHead
	Rows []outreach.Row // of all records of the person
}

// Table returns the prospects as documents of their index.
func (ps *Prospects) Table() *indexstate.DocumentTable {
	return ps.s.Documents.Table(ProspectIndex, "prospects", "prospect_h")
}

// Documents reads some prospects of any tenants for the index, in the order of the keys, and
// which index generations there are, in one snapshot.
func (ps *Prospects) Documents(ctx context.Context, keys []indexstate.DocumentKey) ([]ProspectDocument, []indexstate.Generation, error) {
	docs := make([]ProspectDocument, len(keys))
	heads, generations, err := ps.Table().Read(ctx, keys,
		indexstate.DocumentPart{SQL: `SELECT k.ord, ` + prospectRowColumns + ` FROM ` + indexstate.DocumentKeysSQL + `
			CROSS JOIN LATERAL (SELECT k.key AS prospect_h UNION ALL SELECT m.prospect_h FROM prospects m WHERE m.tenant_id = k.tenant_id AND m.merged_into = k.key) m
			JOIN prospect_rows r ON r.tenant_id = k.tenant_id AND r.prospect_h = m.prospect_h`,
			Scan: func(r pgx.Rows) error {
				var ord int
				var row outreach.Row
				err := r.Scan(append([]any{&ord}, prospectRowFields(&row)...)...)
				if err == nil {
					docs[ord-1].Rows = append(docs[ord-1].Rows, row)
				}
				return err
			}})
	for i := range heads {
		docs[i].DocumentHead = heads[i]
	}
	return docs, generations, err
}
