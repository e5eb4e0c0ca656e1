package service

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/api"
	"vitrine/library"
)

// fileRoutes are the routes on which files travel.
func (s *Service) fileRoutes() []api.ExtraRoute {
	size := []api.QueryParameter{{Name: "size", Doc: "The longest edge in pixels: 256, 512 (when left out), 1024 or 2048.",
		Schema: &huma.Schema{Type: huma.TypeInteger, Enum: []any{256, 512, 1024, 2048}}}}
	asset := map[string]*huma.Schema{"asset_h": {Type: huma.TypeString, Pattern: "^[0-9a-fA-F]{40}$"}}
	return []api.ExtraRoute{
		{Method: http.MethodPut, Path: "/api/v1/storage/upload/{token}", Name: "UploadFile", Tag: "files", Consumes: "*/*", Produces: "application/json",
			Summary: "Send a file's bytes to a URL that CreateUploadUrl gave.", Doc: "The answer comes once the bytes are on disk. Then call StoreAsset.", Serve: s.transfers.Upload},
		{Method: http.MethodGet, Path: "/files/{token}/{name}", Name: "DownloadFile", Tag: "files", Produces: "*/*",
			Summary: "Get an original file by a download_url.", Doc: "Takes Range requests. The URL is valid for 5 minutes.", Serve: s.transfers.Download},
		{Method: http.MethodGet, Path: "/previews/{token}", Name: "GetPreview", Tag: "files", Produces: "image/jpeg", Query: size,
			Summary: "Get a preview by a thumbnail_url.", Serve: s.transfers.Preview},
		{Method: http.MethodGet, Path: "/api/v1/assets/{asset_h}/download", Name: "DownloadAsset", Tag: "files", Produces: "*/*", NeedsKey: true,
			PathSchemas: asset, Permission: library.PermRead, Summary: "Get an asset's original file.", Doc: "Takes Range requests.", Serve: s.transfers.DownloadAsset},
		{Method: http.MethodGet, Path: "/api/v1/assets/{asset_h}/thumbnail", Name: "GetThumbnail", Tag: "files", Produces: "image/jpeg", NeedsKey: true,
			PathSchemas: asset, Permission: library.PermRead, Query: size, Summary: "Get an asset's preview.", Serve: s.transfers.PreviewAsset},
	}
}
