package publish

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"vitrine/export"
	"vitrine/library"
	"vitrine/publish/page"
	"vitrine/store"
)

// perPage is how many items a page shows.
const perPage = 100

// visitor sees what everybody sees: nothing private.
func visitor(p library.Publication) library.Actor {
	return library.Actor{Kind: library.ActorKey, Name: "visitor", Tenant: p.Tenant}
}

// view reads what a page shows.
func (s *Site) view(r *http.Request, p library.Publication) (page.View, error) {
	number, _ := strconv.Atoi(r.URL.Query().Get("page"))
	number = min(max(number, 1), 10_000)
	cards, hashes, more, err := s.members(r.Context(), p, (number-1)*perPage)
	if err != nil {
		return page.View{}, err
	}
	known, err := s.store.Publications.Assets(r.Context(), p, hashes)
	if err != nil {
		return page.View{}, err
	}
	_, total, err := s.store.Publications.Hashes(r.Context(), p, 0, 0)
	if err != nil {
		return page.View{}, err
	}
	v := page.View{Title: cmp.Or(p.Title, "Shared pictures"), URL: s.config.Base + pathOf(p), Total: total, Indexed: p.Indexed}
	for i, h := range hashes {
		n := (number-1)*perPage + i + 1
		if cards[i] != nil {
			v.Items = append(v.Items, page.Item{ID: "i" + strconv.Itoa(n), Card: cards[i]})
		} else if a, ok := known[h]; ok {
			v.Items = append(v.Items, describe(p, a, n))
		}
	}
	s.describePage(&v, p)
	if number > 1 {
		v.Previous = pathOf(p) + "?page=" + strconv.Itoa(number-1)
	}
	if more {
		v.Next = pathOf(p) + "?page=" + strconv.Itoa(number+1)
	}
	return v, nil
}

// members returns a page of the text cards and the assets of a publication, one of both at each
// place, and whether more follow.
func (s *Site) members(ctx context.Context, p library.Publication, offset int) (cards []*library.TextCard, hashes []library.AssetHash, more bool, err error) {
	if p.Collection == "" || p.Snapshot {
		list, total, err := s.store.Publications.Hashes(ctx, p, perPage, offset)
		return make([]*library.TextCard, len(list)), list, offset+perPage < total, err
	}
	_, items, total, err := s.store.Collections.Items(ctx, visitor(p), string(p.Collection), store.ItemsQuery{Limit: perPage, Offset: offset})
	for _, i := range items {
		h := library.AssetHash("")
		if i.Asset != nil {
			h = i.Asset.Hash
		}
		cards, hashes = append(cards, i.Card), append(hashes, h)
	}
	return cards, hashes, offset+perPage < total, err
}

// describe returns an asset as the n-th item of a page shows it.
func describe(p library.Publication, a store.PublishedAsset, n int) page.Item {
	about := export.AboutAsset(a.Asset, a.Lineage)
	full := pathOf(p) + "/" + p.PictureID(a.Asset.Hash)
	i := page.Item{ID: "i" + strconv.Itoa(n), Full: full, Small: full + smallSuffix, Title: strings.TrimSpace(a.Asset.Title), Width: a.Asset.Width, Height: a.Asset.Height}
	i.Alt = cmp.Or(i.Title, fmt.Sprintf("Picture %d", n))
	if p.Spec.Disclosure {
		i.SourceType, i.System = about.SourceType, about.System
	}
	if p.Spec.Creator {
		i.Credit, i.License = strings.Join(strings.Fields(about.Creator+" "+about.Rights), " "), about.License
	}
	switch kind, _, _ := strings.Cut(a.Asset.MIMEType, "/"); kind {
	case "video":
		i.Kind = "Video"
	case "model":
		i.Kind = "3D model"
	}
	if !p.HidePrompts && a.Lineage.Positive != nil {
		i.Prompt = strings.TrimSpace(*a.Lineage.Positive)
	}
	if p.AllowDownload {
		i.Download = i.Full + "?download=1"
	}
	return i
}

// describePage fills in what machines read: the cover, a description and schema.org's
// ImageGallery. A page with a password has no cover, which nobody else could load.
func (s *Site) describePage(v *page.View, p library.Publication) {
	images := []any{}
	for _, i := range v.Items {
		if i.Card != nil {
			continue
		}
		if v.Cover == "" && p.PasswordHash == "" {
			v.Cover = s.config.Base + i.Full
		}
		v.Generated = v.Generated || i.Generated()
		images = append(images, s.imageObject(i))
	}
	v.Description = counted(v.Total)
	if v.Generated {
		v.Description += " · includes AI-generated pictures"
	}
	v.Structured = map[string]any{"@context": "https://schema.org", "@type": "ImageGallery", "name": v.Title, "url": v.URL, "image": images}
}

func counted(n int) string {
	if n == 1 {
		return "1 picture"
	}
	return strconv.Itoa(n) + " pictures"
}

// imageObject describes a picture in the terms of schema.org.
func (s *Site) imageObject(i page.Item) map[string]any {
	x := map[string]any{"@type": "ImageObject", "contentUrl": s.config.Base + i.Full, "thumbnailUrl": s.config.Base + i.Small, "name": i.Alt}
	if i.SourceType != "" {
		x["digitalSourceType"] = i.SourceType
	}
	if i.Credit != "" {
		x["creditText"], x["copyrightNotice"] = i.Credit, i.Credit
	}
	if strings.HasPrefix(i.License, "https://") || strings.HasPrefix(i.License, "http://") { // schema.org takes no other text
		x["license"] = i.License
	}
	return x
}
