package publishing

import (
	"context"
	"io"
	"net/url"
	"strings"
	"time"
	"unicode"

	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/media/deck"
	"vitrine/op"
	"vitrine/store"
)

type pdfInput struct {
	op.TenantInput
	Collection      string `json:"collection_h" id:"collection" minLength:"1" maxLength:"600" doc:"collection_h or path."`
	RemoveWatermark bool   `json:"remove_watermark,omitempty" doc:"No \"Made with Vitrine\"."`
	Layout          string `json:"layout,omitempty" enum:"one,two,grid,full_bleed" default:"one" doc:"Pictures per slide."`
	Preset          string `json:"preset,omitempty" enum:"share,portfolio,client,archive" default:"client" doc:"Captions. share: none; portfolio: title, creator, AI disclosure; client: also size; archive: prompt, settings."`
	Language        string `json:"language,omitempty" pattern:"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$" patternDescription:"a language tag such as de or pt-BR" tool:"unlisted" maxLength:"35" default:"en" doc:"Of the texts, for screen readers."`
	Renderer        string `json:"renderer,omitempty" enum:"auto,builtin,chromium" default:"auto" doc:"What draws it."`
	WaitSeconds     *int   `json:"wait_seconds,omitempty" minimum:"0" maximum:"60" default:"60" tool:"unlisted" doc:"How long to wait for the PDF."`
}

// pdfOutput is a deck as it is shown.
type pdfOutput struct {
	ExportID         string                  `json:"export_id"`
	State            library.ExportState     `json:"state" enum:"queued,running,completed,failed" doc:"completed: the PDF is here. Otherwise repeat the call, or GET /api/v1/exports/{export_id}."`
	Collection       library.CollectionHash  `json:"collection_h"`
	PageCount        int                     `json:"page_count" doc:"Slides, with the cover. 0 until it is completed."`
	Pictures         int                     `json:"pictures" doc:"Assets that stand on slides."`
	ProcessingTimeMS int64                   `json:"processing_time_ms" doc:"How long writing it took."`
	Renderer         string                  `json:"renderer,omitempty" enum:"builtin,chromium" doc:"What drew the slides."`
	RendererNote     string                  `json:"renderer_note,omitempty" doc:"Why builtin drew them although chromium was to."`
	DownloadURL      string                  `json:"download_url,omitempty" doc:"The PDF; no API key is needed. Takes Range requests."`
	ExpiresIn        int                     `json:"expires_in,omitempty" doc:"Seconds until download_url expires. It ends sooner when the key that asked for it is revoked."`
	Bytes            int64                   `json:"bytes,omitempty"`
	SHA256           string                  `json:"sha256,omitempty"`
	Attached         bool                    `json:"attached" doc:"The PDF is part of this answer: over MCP an embedded resource, over REST data_base64 of attachments. Above 1 MB there is download_url alone."`
	Failed           []library.ExportFailure `json:"failed" doc:"Assets that are not in the deck, and why. The first 100."`

	name string
	data []byte
}

// Attachments implements op.Attacher.
func (o pdfOutput) Attachments() []op.Attachment {
	if o.DownloadURL == "" {
		return nil
	}
	return []op.Attachment{{MIMEType: pdfType, Data: o.data, URI: o.DownloadURL, Name: o.name}}
}

// pdfType is the MIME type of decks.
const pdfType = "application/pdf"

// maxAttached is the largest PDF that is part of an answer.
const maxAttached = 1 << 20

func (s *Service) exportCollectionAsPDF() op.Operation {
	return op.Define(op.Meta{
		Name: "ExportCollectionAsPdf", Title: "Export a collection as PDF", Domain: op.Publishing,
		Doc: "Makes a PDF deck of a collection: cover, text cards and pictures in their order, without metadata. Waits up to 60 s; repeat the call to wait on.",
		More: "The same call within an hour, while nothing in the collection changed, is the same deck. Videos and 3D models stand as their preview. Private assets and those whose picture cannot be made are left out and named in failed. " +
			"Collections below are not part of it. Text has alternative texts, an outline and a structure for screen readers. The quotas of ExportAssets hold. " +
			"The renderer auto is chromium for decks with text in scripts whose letters are joined (Arabic, Hindi, Thai), else builtin. Where no Chromium is installed, or it fails, builtin draws the deck and renderer_note says why.",
		Method: "POST", Path: "/api/v1/collections/{collection_h}/pdf", Permission: library.PermExport, Idempotent: true, Limit: exportWait + 20*time.Second, Chained: true,
		Example: map[string]any{"collection_h": exampleCollection, "layout": "two"},
	}, func(ctx context.Context, actor library.Actor, in pdfInput) (pdfOutput, error) {
		slides, err := s.deckOf(ctx, actor, in)
		if err != nil {
			return pdfOutput{}, err
		}
		e, err := s.Store.Exports.StartDeck(ctx, actor, library.SpecOf(library.ExportPreset(in.Preset)), slides, blob.NewStagingID())
		if err != nil {
			return pdfOutput{}, err
		}
		wait := exportWait
		if in.WaitSeconds != nil {
			wait = time.Duration(*in.WaitSeconds) * time.Second
		}
		if e, err = s.await(ctx, actor, e, wait); err != nil {
			return pdfOutput{}, err
		}
		return s.describeDeck(ctx, actor, e)
	})
}

// deckOf returns the deck of a collection as it is now.
func (s *Service) deckOf(ctx context.Context, actor library.Actor, in pdfInput) (library.ExportDeck, error) {
	c, items, total, err := s.Store.Collections.Items(ctx, actor, in.Collection, store.ItemsQuery{Limit: library.MaxDeckSlides + 1})
	if err == nil && c.Smart() {
		items, total, err = s.foundItems(ctx, actor, c)
	}
	if err != nil {
		return library.ExportDeck{}, err
	}
	if total > library.MaxDeckSlides {
		return library.ExportDeck{}, library.NewError(library.KindUnprocessable, library.CodeBatchLimit, "A deck has at most %d slides, and the collection has %d items. Export a collection with fewer of them.", library.MaxDeckSlides, total)
	}
	d := library.ExportDeck{Collection: c.Hash, Title: c.DisplayName, Subtitle: c.Description, Color: c.Color, Language: in.Language, Layout: in.Layout, Mark: !in.RemoveWatermark, Printed: in.Renderer == rendererChromium, Slides: []library.DeckSlide{}}
	if d.Title == "" {
		d.Title = c.Name
	}
	for _, i := range items {
		switch {
		case i.Card != nil:
			d.Slides = append(d.Slides, library.DeckSlide{Card: i.Card})
		case i.Asset.Visibility == library.VisibilityPrivate:
			d.Private = append(d.Private, i.Asset.Hash)
		default:
			d.Slides = append(d.Slides, library.DeckSlide{Asset: i.Asset.Hash, Width: i.Asset.Width, Height: i.Asset.Height})
		}
	}
	if in.Renderer == "" || in.Renderer == rendererAuto {
		d.Printed = len(items) <= deck.MaxPrinted && needsShaping(d, items)
	}
	return d, nil
}

// The renderers that decks can be asked for with, beside the one that is built in.
const (
	rendererAuto     = "auto"
	rendererChromium = "chromium"
)

// needsShaping reports whether a text of a deck is in a script whose letters are joined or placed by
// their neighbors, which the renderer of the service does not do.
func needsShaping(d library.ExportDeck, items []library.CollectionItem) bool {
	if shaped(d.Title) || shaped(d.Subtitle) {
		return true
	}
	for _, i := range items {
		if c := i.Card; c != nil && (shaped(c.Heading) || shaped(c.Body) || shaped(c.AccentText) || shaped(strings.Join(c.Bullets, " "))) || i.Asset != nil && shaped(i.Asset.Title) {
			return true
		}
	}
	return false
}

// shaped reports whether a text has letters of such a script.
func shaped(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return r >= 0x600 && unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
			unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Thai, unicode.Lao, unicode.Tibetan, unicode.Myanmar, unicode.Khmer)
	})
}

// foundItems returns what a smart collection holds, up to one more than a deck takes.
func (s *Service) foundItems(ctx context.Context, actor library.Actor, c library.Collection) (list []library.CollectionItem, total int, err error) {
	const page = 100
	for done := 0; done <= library.MaxDeckSlides; done += page {
		hashes, all, err := s.FindSaved(ctx, actor, c.SavedSearch, page, done)
		if err != nil {
			return nil, 0, err
		}
		have, err := s.Store.Assets.List(ctx, actor, hashes)
		if err != nil {
			return nil, 0, err
		}
		for _, h := range hashes {
			if a, ok := have[h]; ok {
				list = append(list, library.CollectionItem{ID: string(h), Asset: &a})
			}
		}
		if total = all; len(hashes) < page || all > library.MaxDeckSlides {
			break
		}
	}
	return list, total, nil
}

// describeDeck returns a deck as it is shown, with its bytes where they are few.
func (s *Service) describeDeck(ctx context.Context, actor library.Actor, e library.Export) (pdfOutput, error) {
	out := pdfOutput{ExportID: e.ID, State: e.State, Collection: e.Deck.Collection, PageCount: e.Pages, Renderer: e.Renderer, RendererNote: e.Note, Pictures: e.Files, ProcessingTimeMS: e.Duration.Milliseconds(), Bytes: e.Bytes, SHA256: e.SHA256, Failed: []library.ExportFailure{}}
	out.Failed = append(out.Failed, e.Failed[:min(len(e.Failed), maxFailures)]...)
	out.name, out.DownloadURL, out.ExpiresIn = s.link(actor, e)
	if out.DownloadURL == "" || e.Bytes > maxAttached {
		return out, nil
	}
	file, _, err := s.Blobs.OpenStaged(ctx, actor.Tenant, e.Staged)
	if err != nil {
		if library.AsError(err).Kind == library.KindNotFound { // it was swept
			return out, library.NewError(library.KindGone, library.CodeURLExpired, "The PDF was removed. Export the collection again in an hour.")
		}
		return out, err
	}
	defer file.Close()
	out.data, err = io.ReadAll(io.NewSectionReader(file, 0, file.Size()))
	out.Attached = err == nil
	return out, err
}

// link returns the name of the file of a completed export, and a link to it.
func (s *Service) link(actor library.Actor, e library.Export) (name, link string, expires int) {
	if e.State != library.ExportCompleted || time.Since(*e.FinishedAt) > store.ExportLinks {
		return "", "", 0
	}
	mimeType := "application/zip"
	name = "vitrine-" + string(e.Spec.Preset) + "-" + e.CreatedAt.UTC().Format("20060102-150405") + ".zip"
	if e.Deck != nil {
		mimeType, name = pdfType, deckName(e.Deck.Title)
	}
	token := s.Links.Signer.Sign(blob.Grant{Purpose: blob.PurposeExport, Tenant: actor.Tenant, Staged: e.Staged, Filename: name, MIMEType: mimeType, Key: actor.ID}, linkValid)
	return name, s.Links.Base + "/exports/" + token + "/" + url.PathEscape(name), int(linkValid.Seconds())
}

// deckName returns the name of a deck's file: the letters and digits of its title, with dashes
// between words. None is a name that a system reserves; those are short.
func deckName(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
	name := []rune(strings.Join(words, "-"))
	if len(name) < 8 {
		name = append([]rune("deck-"), name...)
	}
	return strings.Trim(string(name[:min(len(name), 60)]), "-") + ".pdf"
}
