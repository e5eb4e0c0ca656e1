package publishing

import (
	"context"
	"strings"
	"time"

	"vitrine/auth"
	"vitrine/library"
	"vitrine/op"
)

// PageInput is how a page is published; what is absent stays as it was.
type PageInput struct {
	Preset        string         `json:"preset,omitempty" enum:"share,portfolio,client" doc:"How pictures are written. Default share."`
	Title         *string        `json:"title,omitempty" maxLength:"200"`
	Password      *string        `json:"password,omitempty" maxLength:"200" doc:"At least 8 characters; empty removes it."`
	HidePrompts   *bool          `json:"hide_prompts,omitempty" doc:"Default true."`
	AllowDownload *bool          `json:"allow_download,omitempty" doc:"Default false."`
	Watermark     *pageWatermark `json:"watermark,omitempty" tool:"open" doc:"{text, position, opacity}; empty text: none."`

	hash string // of the password
}

// pageWatermark is watermarkOption with a text that may be empty.
type pageWatermark struct {
	Text     string  `json:"text" maxLength:"100"`
	Position string  `json:"position,omitempty" enum:"top-left,top-right,center,bottom-left,bottom-right"`
	Opacity  float64 `json:"opacity,omitempty" minimum:"0.05" maximum:"1"`
}

// Validate implements op.Validator.
func (in *PageInput) Validate() (errs []library.FieldError) {
	if in.Password != nil && *in.Password != "" && len([]rune(*in.Password)) < 8 {
		errs = append(errs, library.FieldError{Field: "password", Code: "length", Message: "Expected at least 8 characters, or an empty text to remove the password."})
	}
	return errs
}

// prepare hashes the password, which takes too long to be done while rows are locked.
func (in *PageInput) prepare(ctx context.Context) (err error) {
	if in.Password != nil && *in.Password != "" {
		in.hash, err = auth.HashPassword(ctx, *in.Password)
	}
	return err
}

// apply changes a publication as the input says. A new one has the title that is given.
func (in PageInput) apply(p *library.Publication, title string) {
	fresh := p.Spec.Preset == ""
	if fresh {
		p.Title, p.HidePrompts = title, true
	}
	if in.Title != nil {
		if p.Title = strings.TrimSpace(*in.Title); p.Title == "" {
			p.Title = title
		}
	}
	mark := p.Spec.Watermark
	if fresh || in.Preset != "" {
		preset := library.ExportPreset(in.Preset)
		if preset == "" {
			preset = library.ExportShare
		}
		p.Spec = library.SpecOf(preset)
	}
	if p.Spec.Watermark = mark; in.Watermark != nil {
		p.Spec.Watermark = nil
		if w := in.Watermark; strings.TrimSpace(w.Text) != "" {
			p.Spec.Watermark = &library.ExportWatermark{Text: w.Text, Position: w.Position, Opacity: w.Opacity}
		}
	}
	if in.Password != nil {
		p.PasswordHash = in.hash
	}
	set(&p.HidePrompts, in.HidePrompts)
	set(&p.AllowDownload, in.AllowDownload)
}

func set(field *bool, value *bool) {
	if value != nil {
		*field = *value
	}
}

type publishInput struct {
	op.TenantInput
	CollectionH string `json:"collection_h" id:"collection" minLength:"1" maxLength:"600" doc:"Or its path."`
	Slug        string `json:"slug,omitempty" maxLength:"80" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" patternDescription:"lower-case letters and digits with single dashes" tool:"-" doc:"Last part of the URL. Default: of the name."`
	PageInput
	ExpiresAt *string `json:"expires_at,omitempty" maxLength:"40" doc:"Such as 2030-01-31T12:00:00Z. Empty: never, the default."`
	Indexed   *bool   `json:"indexed,omitempty" tool:"-" doc:"Let search engines list it. Default false."`
	Unpublish bool    `json:"unpublish,omitempty" doc:"Take the page away."`

	expires *time.Time
}

// Validate implements op.Validator.
func (in *publishInput) Validate() []library.FieldError {
	errs := in.PageInput.Validate()
	if in.ExpiresAt != nil && *in.ExpiresAt != "" {
		at, err := time.Parse(time.RFC3339, *in.ExpiresAt)
		if err != nil || !at.After(time.Now()) {
			errs = append(errs, library.FieldError{Field: "expires_at", Code: "range", Message: "Expected a time in the future such as 2030-01-31T12:00:00Z, or an empty text."})
		}
		at = at.UTC()
		in.expires = &at
	}
	return errs
}

// apply changes a publication as the input says.
func (in publishInput) apply(p *library.Publication, title string) {
	in.PageInput.apply(p, title)
	if in.ExpiresAt != nil {
		p.ExpiresAt = in.expires
	}
	if set(&p.Indexed, in.Indexed); in.Slug != "" {
		p.Slug = in.Slug
	}
}

// Publication is a published page as outputs show it. Those of collections that never were
// published have the path alone.
type Publication struct {
	Published     bool                     `json:"published" doc:"False: taken away, expired, or never published."`
	Path          string                   `json:"collection_path"`
	PublicURL     string                   `json:"public_url,omitempty" doc:"The page. Everybody who has the URL sees it, unless it has a password."`
	Preset        library.ExportPreset     `json:"preset,omitempty"`
	Title         string                   `json:"title,omitempty"`
	PublishedAt   *time.Time               `json:"published_at,omitempty"`
	ExpiresAt     *time.Time               `json:"expires_at,omitempty"`
	Password      bool                     `json:"password_protected"`
	HidePrompts   bool                     `json:"hide_prompts"`
	AllowDownload bool                     `json:"allow_download"`
	Indexed       bool                     `json:"indexed"`
	Watermark     *library.ExportWatermark `json:"watermark,omitempty"`
}

func (s *Service) pageURL(p library.Publication) string {
	return s.Links.Base + "/p/" + p.Segment + "/" + p.Slug
}

// describePage returns a publication as it is shown; one that cannot be seen has no URL.
func (s *Service) describePage(p library.Publication) Publication {
	at := p.PublishedAt.UTC()
	out := Publication{Published: p.Public(time.Now()), Path: p.Path, Preset: p.Spec.Preset, Title: p.Title, PublishedAt: &at, ExpiresAt: p.ExpiresAt,
		Password: p.PasswordHash != "", HidePrompts: p.HidePrompts, AllowDownload: p.AllowDownload, Indexed: p.Indexed, Watermark: p.Spec.Watermark}
	if out.Published {
		out.PublicURL = s.pageURL(p)
	}
	return out
}

type publishOutput struct {
	Publication
	Assets  int `json:"assets" doc:"Assets on the page."`
	LeftOut int `json:"private_left_out,omitempty" doc:"Private assets of the collection, which pages never show."`
	op.Undoable
}

func (s *Service) publishCollection() op.Operation {
	return op.Define(op.Meta{
		Name: "PublishCollection", Title: "Publish a collection", Domain: op.Publishing,
		Doc: "Publishes a collection as a web page that anybody with its URL can see, or takes it away. Pictures have no metadata. Called again, it changes what is sent; URLs stay.",
		More: "The page shows what is in the collection when it is looked at, text cards too, and never private assets; of a smart collection what its search finds now, until it is published again. It works without script and is not listed by search engines unless `indexed` is true. " +
			"Videos and 3D models show their preview. Only pictures that the preset wrote can be reached from it. Undoing the first publication takes the page away; what was seen meanwhile cannot be taken back.",
		Method: "POST", Path: "/api/v1/collections/{collection_h}/publication", Permission: library.PermExport, Idempotent: true, OpenWorld: true,
		Example: map[string]any{"collection_h": exampleCollection, "preset": "share", "title": "Lighthouses"},
	}, func(ctx context.Context, actor library.Actor, in publishInput) (publishOutput, error) {
		if in.Unpublish {
			return s.unpublish(ctx, actor, in.CollectionH)
		}
		if err := in.prepare(ctx); err != nil {
			return publishOutput{}, err
		}
		found, err := s.snapshot(ctx, actor, in.CollectionH)
		if err != nil {
			return publishOutput{}, err
		}
		p, id, err := s.Store.Publications.Publish(ctx, actor, in.CollectionH, found, func(c library.Collection, p *library.Publication) error {
			in.apply(p, c.DisplayName)
			return nil
		})
		if err != nil {
			return publishOutput{}, err
		}
		out := publishOutput{Publication: s.describePage(p), Undoable: op.Undoable{OperationID: id}}
		if _, out.Assets, err = s.Store.Publications.Hashes(ctx, p, 0, 0); err != nil {
			return publishOutput{}, err
		}
		if p.Snapshot {
			return out, nil
		}
		mine, err := s.Store.Collections.Get(ctx, actor, string(p.Collection), true)
		out.LeftOut = max(0, int(mine.Assets)-out.Assets) // of those that the caller sees
		return out, err
	})
}

// maxSnapshot is how many assets the page of a smart collection shows.
const maxSnapshot = 1000

// snapshot returns what a smart collection's search finds now that is not private; nothing for other collections.
func (s *Service) snapshot(ctx context.Context, actor library.Actor, ref string) (list []library.AssetHash, err error) {
	c, err := s.Store.Collections.Get(ctx, actor, ref, false)
	if err != nil || !c.Smart() {
		return nil, err
	}
	const page = 100
	visitor := library.Actor{Kind: library.ActorKey, Tenant: actor.Tenant} // nobody, who sees nothing private
	for {
		hashes, total, err := s.FindSaved(ctx, visitor, c.SavedSearch, page, len(list))
		if err != nil {
			return nil, err
		}
		if total > maxSnapshot {
			return nil, library.NewError(library.KindConflict, library.CodeSmartCollection, "The saved search of this smart collection finds %d assets; its page shows %d at most. Narrow the saved search, or publish a collection of what you choose.", total, maxSnapshot)
		}
		if list = append(list, hashes...); len(hashes) < page {
			break
		}
	}
	if len(list) == 0 {
		return nil, library.NewError(library.KindConflict, library.CodeSmartCollection, "The search of this smart collection finds nothing now that can be published; private assets cannot be. Publish it when it finds some.")
	}
	return distinct(list), nil
}

func (s *Service) unpublish(ctx context.Context, actor library.Actor, ref string) (publishOutput, error) {
	c, id, err := s.Store.Publications.Unpublish(ctx, actor, ref)
	if err != nil {
		return publishOutput{}, err
	}
	out := publishOutput{Publication: Publication{Path: c.Path}, Undoable: op.Undoable{OperationID: id}}
	_, p, err := s.Store.Publications.Of(ctx, actor, string(c.Hash))
	if p.ID != "" {
		out.Publication = s.describePage(p)
	}
	return out, err
}
