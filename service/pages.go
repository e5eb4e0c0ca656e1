package service

import (
	"net/http"

	"vitrine/api"
)

// pageRoutes are the routes of published pages, which need no key.
func (s *Service) pageRoutes() []api.ExtraRoute {
	const page = "/p/{segment}/{slug}"
	return []api.ExtraRoute{
		{Method: http.MethodGet, Path: page, Name: "PublishedPage", Tag: "pages", Produces: "text/html",
			Summary: "See a published collection, or what a link shares.", Doc: "Needs no key; the address is public_url of PublishCollection or CreateShareLink.", Serve: s.site.Page},
		{Method: http.MethodPost, Path: page, Name: "UnlockPublishedPage", Tag: "pages", Consumes: "application/x-www-form-urlencoded", Produces: "text/html",
			Summary: "Send the password of a published page.", Doc: "Answers with the page's address and a cookie that is valid for 12 hours.", Status: http.StatusSeeOther, Serve: s.site.Password},
		{Method: http.MethodGet, Path: page + "/{picture}", Name: "PublishedPicture", Tag: "pages", Produces: "image/*",
			Summary: "Get a picture of a published page.", Doc: "The address is public_url of GetAssetPublicUrl and GetCollectionPublicUrls; with -small behind it the picture is small.", Serve: s.site.Picture},
	}
}
