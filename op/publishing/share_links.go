package publishing

import (
	"context"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/op"
	"vitrine/op/assets"
	"vitrine/store"
)

const (
	// shareFor is how long a share link works unless the call says otherwise, and maxShareFor the longest
	// that it can.
	shareFor    = 7 * 24 * time.Hour
	maxShareFor = 366 * 24 * time.Hour
)

type createShareInput struct {
	op.TenantInput
	Assets []string `json:"asset_hs,omitempty" id:"asset" minItems:"1" maxItems:"100" doc:"What is shared, in this order."`
	Query  string   `json:"query,omitempty" id:"query" minLength:"1" doc:"Shares the first 100 assets that this search finds now, as SearchAssets reads it. What it finds later is not added."`
	PageInput
	ExpiresAt string `json:"expires_at,omitempty" maxLength:"40" doc:"Such as 2030-01-31T12:00:00Z, at most a year from now. Default: in 7 days."`

	hashes  []library.AssetHash
	expires time.Time
}

// Validate implements op.Validator.
func (in *createShareInput) Validate() []library.FieldError {
	errs := in.PageInput.Validate()
	hashes, wrong := assets.Hashes("asset_hs", in.Assets)
	in.hashes, errs = distinct(hashes), append(errs, wrong...)
	now := time.Now().UTC()
	in.expires = now.Add(shareFor)
	if in.ExpiresAt != "" {
		at, err := time.Parse(time.RFC3339, in.ExpiresAt)
		if err != nil || !at.After(now) || at.After(now.Add(maxShareFor)) {
			errs = append(errs, library.FieldError{Field: "expires_at", Code: "range", Message: "Expected a time within the next year, such as " + now.Add(shareFor).Format(time.RFC3339) + "."})
		}
		in.expires = at.UTC()
	}
	return errs
}

// ShareLink is a share link as outputs show it.
type ShareLink struct {
	ShareID       string                   `json:"share_id"`
	Active        bool                     `json:"active" doc:"False: it has expired."`
	PublicURL     string                   `json:"public_url,omitempty" doc:"The page, as long as the link is active. Everybody who has the URL sees it, unless it has a password."`
	Assets        int                      `json:"assets" doc:"Assets on the page: those that are neither private nor in the trash now."`
	Preset        library.ExportPreset     `json:"preset"`
	Title         string                   `json:"title,omitempty"`
	CreatedAt     time.Time                `json:"created_at"`
	ExpiresAt     *time.Time               `json:"expires_at"`
	Password      bool                     `json:"password_protected"`
	HidePrompts   bool                     `json:"hide_prompts"`
	AllowDownload bool                     `json:"allow_download"`
	Watermark     *library.ExportWatermark `json:"watermark,omitempty"`
}

func (s *Service) describeShare(p library.Publication, shown int) ShareLink {
	page := s.describePage(p)
	return ShareLink{ShareID: p.ID, Active: page.Published, PublicURL: page.PublicURL, Assets: shown, Preset: page.Preset, Title: page.Title, CreatedAt: *page.PublishedAt,
		ExpiresAt: page.ExpiresAt, Password: page.Password, HidePrompts: page.HidePrompts, AllowDownload: page.AllowDownload, Watermark: page.Watermark}
}

type createShareOutput struct {
	ShareLink
	Shared  []library.AssetHash `json:"asset_hs" doc:"What is shared."`
	Matched int                 `json:"matched,omitempty" doc:"How many assets the query finds. Those after the first 100 are not shared."`
	op.Undoable
}

func (s *Service) createShareLink() op.Operation {
	return op.Define(op.Meta{
		Name: "CreateShareLink", Title: "Share assets by a link", Domain: op.Publishing,
		Doc: "Makes a link to a web page of some assets, or of what a search finds now, that anybody with the URL can see until it expires. Pictures have no metadata.",
		More: "The page is made as that of PublishCollection, and never listed by search engines. asset_hs of private assets are refused; a query finds none. " +
			"An asset that becomes private or goes to the trash is not on the page any more. A query needs the permission `search` too. Undoing the call deletes the link.",
		Method: "POST", Path: "/api/v1/shares", Permission: library.PermExport, Rate: op.RateSearch, RESTOnly: true, OpenWorld: true, OneOf: []string{"asset_hs", "query"},
		Example: map[string]any{"asset_hs": []string{exampleAsset}, "title": "Lighthouses"},
	}, func(ctx context.Context, actor library.Actor, in createShareInput) (createShareOutput, error) {
		var out createShareOutput
		if in.Query != "" {
			var err error
			if in.hashes, out.Matched, err = s.publicHits(ctx, actor, in.Query); err != nil {
				return out, err
			}
		}
		if err := in.prepare(ctx); err != nil {
			return out, err
		}
		p := library.Publication{Shared: in.hashes, ExpiresAt: &in.expires}
		in.apply(&p, "")
		p, id, err := s.Store.Shares.Create(ctx, actor, p, in.Query != "")
		if err == nil && p.ID == "" {
			err = nothingFound()
		}
		if err != nil {
			return out, err
		}
		out.ShareLink, out.Shared, out.Undoable = s.describeShare(p, len(p.Shared)), p.Shared, op.Undoable{OperationID: id}
		return out, nil
	})
}

// publicHits returns what a query finds that can be shared, and how many assets that are.
func (s *Service) publicHits(ctx context.Context, actor library.Actor, text string) ([]library.AssetHash, int, error) {
	if !actor.Can(library.PermSearch) {
		return nil, 0, library.NewError(library.KindForbidden, library.CodePermissionRequired, "Sharing what a query finds needs the permission search too. Send asset_hs instead, or use a key that has it.")
	}
	if strings.TrimSpace(text) == "" {
		return nil, 0, nothingFound()
	}
	hashes, total, err := s.FindPublic(ctx, actor.Tenant, text, store.MaxShared)
	if err == nil && len(hashes) == 0 {
		err = nothingFound()
	}
	return hashes, total, err
}

func nothingFound() error {
	return library.Invalid(library.FieldError{Field: "query", Code: "unknown", Message: "The query finds no asset that can be shared.", Hint: "Private assets cannot be. Try the query with SearchAssets."})
}

type listSharesInput struct {
	op.TenantInput
	Limit  int `json:"limit,omitempty" minimum:"1" maximum:"100" default:"50"`
	Offset int `json:"offset,omitempty" minimum:"0" maximum:"10000"`
}

type listSharesOutput struct {
	Data  []ShareLink `json:"data" doc:"The latest first, those that have expired too."`
	Total int         `json:"total"`
}

func (s *Service) listShareLinks() op.Operation {
	return op.Define(op.Meta{
		Name: "ListShareLinks", Title: "List share links", Domain: op.Publishing,
		Doc:    "Lists the tenant's share links with their URLs and how many assets their pages show.",
		More:   "GetAssetPublicUrl returns the links that share one asset.",
		Method: "GET", Path: "/api/v1/shares", Permission: library.PermRead, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"limit": 10},
	}, func(ctx context.Context, actor library.Actor, in listSharesInput) (listSharesOutput, error) {
		list, total, err := s.Store.Shares.List(ctx, actor.Tenant, in.Limit, in.Offset)
		out := listSharesOutput{Data: []ShareLink{}, Total: total}
		for _, p := range list {
			out.Data = append(out.Data, s.describeShare(p.Publication, p.Assets))
		}
		return out, err
	})
}

type getShareInput struct {
	op.TenantInput
	ShareID string `json:"share_id" id:"share" format:"uuid" doc:"As CreateShareLink returned it."`
}

type getShareOutput struct {
	ShareLink
	Shown []urlEntry `json:"data" doc:"The assets on the page in their order, each with the URL of its picture; empty once the link has expired."`
}

func (s *Service) getShareLink() op.Operation {
	return op.Define(op.Meta{
		Name: "GetShareLink", Title: "Get a share link", Domain: op.Publishing,
		Doc:    "Returns a share link with its URL, when it ends, what visitors may do, and the assets that its page shows now.",
		Method: "GET", Path: "/api/v1/shares/{share_id}", Permission: library.PermRead, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"share_id": exampleShare},
	}, func(ctx context.Context, actor library.Actor, in getShareInput) (getShareOutput, error) {
		p, err := s.Store.Shares.Get(ctx, actor.Tenant, in.ShareID)
		if err != nil {
			return getShareOutput{}, err
		}
		list, total, err := s.Store.Publications.Hashes(ctx, p, store.MaxShared, 0)
		out := getShareOutput{ShareLink: s.describeShare(p, total), Shown: []urlEntry{}}
		if out.Active {
			for _, h := range list {
				out.Shown = append(out.Shown, urlEntry{h, s.pictureURL(p, h)})
			}
		}
		return out, err
	})
}

type deleteShareInput struct {
	op.TenantInput
	ShareID string `json:"share_id" id:"share" format:"uuid" doc:"As CreateShareLink returned it."`
}

type deleteShareOutput struct {
	ShareID string `json:"share_id"`
	Deleted bool   `json:"deleted"`
	op.Undoable
}

func (s *Service) deleteShareLink() op.Operation {
	return op.Define(op.Meta{
		Name: "DeleteShareLink", Title: "Delete a share link", Domain: op.Publishing,
		Doc:    "Deletes a share link: its page and the pictures on it cannot be reached any more. UndoOperation restores it at the same URL.",
		Method: "DELETE", Path: "/api/v1/shares/{share_id}", Permission: library.PermExport, Destructive: true, RESTOnly: true,
		Example: map[string]any{"share_id": exampleShare},
	}, func(ctx context.Context, actor library.Actor, in deleteShareInput) (deleteShareOutput, error) {
		id, err := s.Store.Shares.Delete(ctx, actor, in.ShareID)
		if err != nil {
			return deleteShareOutput{}, err
		}
		return deleteShareOutput{ShareID: in.ShareID, Deleted: true, Undoable: op.Undoable{OperationID: id}}, nil
	})
}
