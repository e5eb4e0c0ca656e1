package service

import (
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/api"
	"vitrine/library"
)

// fileRoutes are the routes on which files travel.
func (s *Service) fileRoutes() []api.ExtraRoute {
	size := []api.QueryParameter{{Name: "size", Doc: "The longest edge in pixels: 256, 512 (when left out), 1024 or 2048.",
		Schema: &huma.Schema{Type: huma.TypeInteger, Enum: []any{256, 512, 1024, 2048}}}}
	asset := map[string]*huma.Schema{"asset_h": {Type: huma.TypeString, Pattern: "^[0-9a-fA-F]{40}$"}}
	return append(append(s.tusRoutes(), s.pageRoutes()...), []api.ExtraRoute{
		{Method: http.MethodPut, Path: "/api/v1/storage/upload/{token}", Name: "UploadFile", Tag: "files", Consumes: "*/*", Produces: "application/json",
			Summary: "Send a file's bytes to a URL that CreateUploadUrl gave.", Doc: "The answer comes once the bytes are on disk. Then call StoreAsset.", Serve: s.transfers.Upload},
		{Method: http.MethodGet, Path: "/files/{token}/{name}", Name: "DownloadFile", Tag: "files", Produces: "*/*",
			Summary: "Get an original file by a download_url.", Doc: "Takes Range requests. The URL is valid for 5 minutes.", Serve: s.transfers.Download},
		{Method: http.MethodGet, Path: "/exports/{token}/{name}", Name: "DownloadExport", Tag: "files", Produces: "*/*",
			Summary: "Get the zip or the PDF of an export by its download_url.", Doc: "Takes Range requests. The URL is valid for 1 hour.", Serve: s.transfers.Export},
		{Method: http.MethodGet, Path: "/previews/{token}", Name: "GetPreview", Tag: "files", Produces: "image/jpeg", Query: size,
			Summary: "Get a preview by a thumbnail_url.", Serve: s.transfers.Preview},
		{Method: http.MethodGet, Path: "/api/v1/assets/{asset_h}/download", Name: "DownloadAsset", Tag: "files", Produces: "*/*", NeedsKey: true,
			PathSchemas: asset, Permission: library.PermRead, Summary: "Get an asset's original file.", Doc: "Takes Range requests.", Serve: s.transfers.DownloadAsset},
		{Method: http.MethodGet, Path: "/api/v1/assets/{asset_h}/thumbnail", Name: "GetThumbnail", Tag: "files", Produces: "image/jpeg", NeedsKey: true,
			PathSchemas: asset, Permission: library.PermRead, Query: size, Summary: "Get an asset's preview.", Serve: s.transfers.PreviewAsset},
		{Method: http.MethodGet, Path: "/previews/{token}/storyboard.jpg", Name: "GetStoryboardPicture", Tag: "files", Produces: "image/jpeg",
			Summary: "Get frames of a video as one picture, by a thumbnail_url.", Serve: s.transfers.Storyboard},
		{Method: http.MethodGet, Path: "/previews/{token}/storyboard.json", Name: "GetStoryboardTimes", Tag: "files", Produces: "application/json",
			Summary: "Get where the frames of a storyboard are, in the picture and in the video, by a thumbnail_url.", Serve: s.transfers.Storyboard},
		{Method: http.MethodGet, Path: "/api/v1/assets/{asset_h}/storyboard", Name: "GetStoryboard", Tag: "files", Produces: "image/jpeg", NeedsKey: true,
			PathSchemas: asset, Permission: library.PermRead, Summary: "Get frames of a video as one picture.", Serve: s.transfers.StoryboardAsset},
		{Method: http.MethodGet, Path: "/api/v1/assets/{asset_h}/storyboard.json", Name: "DescribeStoryboard", Tag: "files", Produces: "application/json", NeedsKey: true,
			PathSchemas: asset, Permission: library.PermRead, Summary: "Get where the frames of a storyboard are, in the picture and in the video.", Serve: s.transfers.StoryboardAsset},
	}...)
}

// maxUploadAge is how long a resumable upload may take; less where the sweep takes staged
// bytes sooner.
const maxUploadAge = 24 * time.Hour

// tusRoutes are the routes of resumable uploads.
func (s *Service) tusRoutes() []api.ExtraRoute {
	const all, one = "/api/v1/uploads", "/api/v1/uploads/{upload_id}"
	const bytes = "application/offset+octet-stream"
	id := map[string]*huma.Schema{"upload_id": {Type: huma.TypeString, Format: "uuid"}}
	status := map[string]int{http.MethodPatch: http.StatusNoContent, http.MethodDelete: http.StatusNoContent, http.MethodPost: http.StatusCreated}
	route := func(method, path, name, consumes, summary, doc string, serve func(http.ResponseWriter, *http.Request, library.Actor) error) api.ExtraRoute {
		x := api.ExtraRoute{Method: method, Path: path, Name: name, Tag: "files", Consumes: consumes, Summary: summary, Doc: doc, NeedsKey: true, Permission: library.PermIngest, Status: status[method], Serve: serve}
		if path == one {
			x.PathSchemas = id
		}
		return x
	}
	options := func(path, name string) api.ExtraRoute {
		return api.ExtraRoute{Method: http.MethodOptions, Path: path, Name: name, Tag: "files", Summary: "Find out what resumable uploads can do.", Status: http.StatusNoContent, Serve: s.transfers.TusOptions}
	}
	return []api.ExtraRoute{
		options(all, "GetUploadOptions"),
		route(http.MethodPost, all, "CreateUpload", "", "Begin a resumable upload (tus 1.0.0).",
			"Send Tus-Resumable, Upload-Length and Upload-Metadata with filename. Location names the upload, and Vitrine-Storage-Path what StoreAsset or ConfirmComfyUpload take once all bytes have come.", s.transfers.TusCreate),
		route(http.MethodHead, one, "GetUploadOffset", "", "Get how far a resumable upload has come.", "", s.transfers.TusHead),
		route(http.MethodPatch, one, "SendUpload", bytes, "Send the next bytes of a resumable upload.", "Upload-Offset is acknowledged once they are on disk. What came before a connection broke is kept.", s.transfers.TusPatch),
		route(http.MethodDelete, one, "DeleteUpload", "", "Give a resumable upload up.", "", s.transfers.TusDelete),
		route(http.MethodPost, one, "OverrideUpload", "", "Send another method as X-HTTP-Method-Override.", "For clients that cannot send PATCH.", s.transfers.TusPost),
		options("/api/v1/uploads/{upload_id}", "GetUploadMethods"),
	}
}
