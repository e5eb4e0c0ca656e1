// Package publishing holds the operations by which content leaves the library: exports as
// zips, collections that are published as pages, and assets that are shared by links. One file per operation. Package export
// writes the files.
package publishing

import (
	"context"

	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/op"
	"vitrine/op/assets"
	"vitrine/store"
)

// Service is what the operations of this package work with.
type Service struct {
	Store *store.Store
	Blobs blob.Store
	Links assets.Links
	// FindSaved returns a page of what a saved search finds and how many that are.
	FindSaved func(ctx context.Context, actor library.Actor, savedSearchID string, limit, offset int) ([]library.AssetHash, int, error)
	// FindPublic returns the first assets that a query finds among those that are not private, and how
	// many it finds.
	FindPublic func(ctx context.Context, tenant library.TenantID, query string, limit int) ([]library.AssetHash, int, error)
	// WebP reports whether pictures can be written as lossy WebP; nil: they cannot.
	WebP func() bool
}

// Operations lists this package's operations.
func (s *Service) Operations() []op.Operation {
	return []op.Operation{s.exportAssets(), s.exportCollectionAsPDF(), s.getExport(), s.listExportPresets(),
		s.publishCollection(), s.getAssetPublicURL(), s.getCollectionPublicURLs(),
		s.createShareLink(), s.listShareLinks(), s.getShareLink(), s.deleteShareLink()}
}

// Resources lists this package's resources.
func (s *Service) Resources() []op.Resource {
	return []op.Resource{s.presetsResource()}
}

// What stands for an asset, an export, a collection and a share link in examples.
const (
	exampleAsset      = "da39a3ee5e6b4b0d3255bfef95601890afd80709"
	exampleExport     = "01980000-0000-7000-8000-000000000001"
	exampleCollection = "cccccccccccccccccccccccccccccccccccccccc"
	exampleShare      = "01980000-0000-7000-8000-000000000001"
)

// webp reports whether lossy WebP can be written.
func (s *Service) webp() bool { return s.WebP != nil && s.WebP() }
