package indexer

import (
	"context"

	"vitrine/embed"
	"vitrine/mappings"
	"vitrine/store"
	"vitrine/store/indexstate"
)

// assetDefinition is the index of assets.
func assetDefinition(st *store.Store) *Definition {
	return &Definition{
		Index: mappings.AssetIndex(), Outgrown: st.Documents.OutgrownTenants,
		Read: func(ctx context.Context, keys []indexstate.DocumentKey) ([]Row, []indexstate.Generation, error) {
			docs, generations, err := st.Documents.Read(ctx, keys)
			return assetRows(docs), generations, err
		},
		Count: st.Documents.Count, CountLive: st.Documents.CountLive,
		VersionsAfter: st.Documents.VersionsAfter, TombstonesBefore: st.Documents.TombstonesBefore,
	}
}

func assetRows(docs []indexstate.DocumentRow) []Row {
	rows := make([]Row, len(docs))
	for i := range docs {
		d := &docs[i]
		rows[i].DocumentHead = indexstate.DocumentHead{DocumentKey: indexstate.DocumentKey{Tenant: d.AssetKey.Tenant, Key: string(d.AssetKey.Hash)},
			State: d.State, Version: d.Version, HasIndexFailure: d.HasIndexFailure, UpdatedAt: d.UpdatedAt}
		rows[i].Content = (*assetContent)(d)
	}
	return rows
}

// assetContent is an asset as its document is made of it.
type assetContent indexstate.DocumentRow

// Whole implements Content.
func (a *assetContent) Whole(dst []byte, version int64) (doc []byte, text string) {
	d := Build((*indexstate.DocumentRow)(a))
	d.DocVersion = version
	return appendDocument(dst, &d), embed.Text(d.Title, d.Prompt, d.Description, d.Tags)
}

// Named implements Content.
func (a *assetContent) Named(dst []byte, version int64, reason string) []byte {
	return appendDocument(dst, &mappings.Document{TenantID: a.AssetKey.Tenant, AssetH: a.AssetKey.Hash, DocVersion: version, IndexError: reason,
		Owner: a.Owner, Visibility: string(a.Visibility),
		SHA256: a.SHA256, BLAKE3: a.BLAKE3, Title: a.Title, Filename: a.Filename, Status: a.Status, MIMEType: a.MIMEType, SizeBytes: a.Size,
		Created: instant(a.CreatedAt), Updated: instant(a.UpdatedAt), Stored: instant(a.StoredAt)})
}

// Partial implements Content: the asset can be found until the refusal is understood.
func (a *assetContent) Partial(dst []byte, version int64, reason string) []byte {
	whole := Build((*indexstate.DocumentRow)(a))
	return appendDocument(dst, &mappings.Document{
		TenantID: whole.TenantID, AssetH: whole.AssetH, DocVersion: version, Owner: whole.Owner, Visibility: whole.Visibility,
		IndexError: reason,
		SHA256:     whole.SHA256, BLAKE3: whole.BLAKE3,
		Title: whole.Title, Description: whole.Description, Filename: whole.Filename, SourcePath: whole.SourcePath,
		Status: whole.Status, Tags: whole.Tags, TagsNorm: whole.TagsNorm,
		MIMEType: whole.MIMEType, MediaType: whole.MediaType, SizeBytes: whole.SizeBytes,
		Created: whole.Created, Updated: whole.Updated, Stored: whole.Stored,
		LineageSource: whole.LineageSource, AI: whole.AI, Tool: whole.Tool, Prompt: whole.Prompt, NegativePrompt: whole.NegativePrompt,
		Chain: whole.Chain, LineageRoot: whole.LineageRoot, ParentHs: whole.ParentHs,
		HasPrompt: whole.HasPrompt, HasNegativePrompt: whole.HasNegativePrompt, HasWorkflow: whole.HasWorkflow,
		HasModels: whole.HasModels, HasLineage: whole.HasLineage, HasParent: whole.HasParent, HasChild: whole.HasChild,
	})
}
