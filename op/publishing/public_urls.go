package publishing

import (
	"context"
	"time"

	"vitrine/library"
	"vitrine/op"
)

type assetURLInput struct {
	op.TenantInput
	AssetH string `json:"asset_h" id:"asset" doc:"40 hex digits."`
}

// publicURL is where an asset can be seen.
type publicURL struct {
	PublicURL   string               `json:"public_url"`
	PageURL     string               `json:"page_url"`
	Path        string               `json:"collection_path,omitempty" doc:"Absent: a share link."`
	Preset      library.ExportPreset `json:"preset"`
	PublishedAt time.Time            `json:"published_at"`
	Password    bool                 `json:"password_protected"`
}

type assetURLOutput struct {
	Status      string               `json:"status" enum:"published,in_collections,in_no_collection"`
	PublicURL   string               `json:"public_url,omitempty" doc:"The picture on the page that was published last."`
	PageURL     string               `json:"page_url,omitempty"`
	Path        string               `json:"collection_path,omitempty"`
	Preset      library.ExportPreset `json:"preset,omitempty"`
	PublishedAt *time.Time           `json:"published_at,omitempty"`
	Password    bool                 `json:"password_protected,omitempty" doc:"The page asks for a password first."`
	Others      []publicURL          `json:"others,omitempty" doc:"Where else it can be seen."`
	Collections []string             `json:"collections" doc:"Paths of all collections that it is in. Publish one to get a URL."`
	Private     bool                 `json:"private,omitempty" doc:"Private assets are on no page."`
}

func (s *Service) getAssetPublicURL() op.Operation {
	return op.Define(op.Meta{
		Name: "GetAssetPublicUrl", Title: "Get an asset's public URL", Domain: op.Publishing,
		Doc:    "Returns an asset's URL on a published page, which needs no key. Where it is on none, status says whether it is in collections that could be published, and lists them.",
		Method: "GET", Path: "/api/v1/assets/{asset_h}/public-url", Permission: library.PermRead, ReadOnly: true, Idempotent: true,
		Example: map[string]any{"asset_h": exampleAsset},
	}, func(ctx context.Context, actor library.Actor, in assetURLInput) (assetURLOutput, error) {
		h := library.AssetHash(in.AssetH)
		list, paths, private, err := s.Store.Publications.OfAsset(ctx, actor, h)
		if err != nil {
			return assetURLOutput{}, err
		}
		out := assetURLOutput{Status: "in_no_collection", Collections: append([]string{}, paths...), Private: private}
		if len(paths) > 0 {
			out.Status = "in_collections"
		}
		for i, p := range list {
			u := publicURL{PublicURL: s.pictureURL(p, h), PageURL: s.pageURL(p), Path: p.Path, Preset: p.Spec.Preset, PublishedAt: p.PublishedAt.UTC(), Password: p.PasswordHash != ""}
			if i > 0 {
				out.Others = append(out.Others, u)
				continue
			}
			out.Status, out.PublicURL, out.PageURL, out.Path, out.Preset, out.PublishedAt, out.Password = "published", u.PublicURL, u.PageURL, u.Path, u.Preset, &u.PublishedAt, u.Password
		}
		return out, nil
	})
}

// pictureURL returns the address of an asset's picture on a page.
func (s *Service) pictureURL(p library.Publication, h library.AssetHash) string {
	return s.pageURL(p) + "/" + p.PictureID(h)
}

type collectionURLsInput struct {
	op.TenantInput
	CollectionH string `json:"collection_h" id:"collection" minLength:"1" maxLength:"600" doc:"Or its path."`
	Limit       int    `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"100"`
	Offset      int    `json:"offset,omitempty" minimum:"0" maximum:"1000000"`
}

type urlEntry struct {
	AssetH    library.AssetHash `json:"asset_h"`
	PublicURL string            `json:"public_url"`
}

type collectionURLsOutput struct {
	Publication
	Total int        `json:"total" doc:"Assets on the page."`
	Data  []urlEntry `json:"data" doc:"In the collection's order."`
}

func (s *Service) getCollectionPublicURLs() op.Operation {
	return op.Define(op.Meta{
		Name: "GetCollectionPublicUrls", Title: "Get a collection's public URLs", Domain: op.Publishing,
		Doc:    "Returns whether a collection is published, how, and the URL of each asset on its page.",
		Method: "GET", Path: "/api/v1/collections/{collection_h}/public-urls", Permission: library.PermRead, ReadOnly: true, Idempotent: true,
		Example: map[string]any{"collection_h": exampleCollection},
	}, func(ctx context.Context, actor library.Actor, in collectionURLsInput) (collectionURLsOutput, error) {
		c, p, err := s.Store.Publications.Of(ctx, actor, in.CollectionH)
		out := collectionURLsOutput{Publication: Publication{Path: c.Path}, Data: []urlEntry{}}
		if err != nil || p.ID == "" {
			return out, err
		}
		if out.Publication = s.describePage(p); !out.Published {
			return out, nil
		}
		list, total, err := s.Store.Publications.Hashes(ctx, p, in.Limit, in.Offset)
		out.Total = total
		for _, h := range list {
			out.Data = append(out.Data, urlEntry{h, s.pictureURL(p, h)})
		}
		return out, err
	})
}
