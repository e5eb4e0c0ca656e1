// Package assets holds the operations on stored files: storing, describing,
// tagging, taking back. One file per operation.
package assets

import (
	"context"
	"net/url"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/media/fetch"
	"vitrine/media/memory"
	"vitrine/media/preview"
	"vitrine/op"
	"vitrine/store"
)

// Service is what the operations of this package work with.
type Service struct {
	Store    *store.Store
	Blobs    blob.Store
	Previews *preview.Maker
	Memory   *memory.Budget // of decoding
	Links    Links
	Fetcher  *fetch.Fetcher // of asset_data_url
	// Limits refuses files that a tenant has no room for before they are kept; nil
	// leaves that to the database.
	Limits *store.LimitCache
	// TrashFor is how long assets stay in the trash before they are purged; 0: for ever.
	TrashFor time.Duration
	// MaxFile bounds one stored file, in bytes; 0 means DefaultMaxFile.
	MaxFile int64
}

// DefaultMaxFile is 2 GiB: video masters and 3D scenes fit.
const DefaultMaxFile = 2 << 30

// uploadValid is how long an upload link may be used.
const uploadValid = time.Hour

// maxFile is the size limit in force.
func (s *Service) maxFile() int64 {
	if s.MaxFile == 0 {
		return DefaultMaxFile
	}
	return s.MaxFile
}

// room refuses a file that the tenant has no room for.
func (s *Service) room(ctx context.Context, tenant library.TenantID, size int64) error {
	if s.Limits == nil {
		return nil
	}
	return s.Limits.Room(ctx, tenant, size)
}

// Operations lists this package's operations.
func (s *Service) Operations() []op.Operation {
	return []op.Operation{
		s.storeAsset(), s.createUploadURL(), s.createComfyUpload(), s.confirmComfyUpload(), s.findStored(), s.updateAsset(), s.bulkUpdateAssetTags(), s.rateAssets(), s.trashAssets(), s.listTrash(), s.purgeTrash(), s.undoOperation(), s.listOperations(), s.getWorkflow(),
	}
}

// Links makes the signed addresses under which bytes travel.
type Links struct {
	Signer *blob.Signer
	Base   string // public address of the service, without a slash at its end
}

// DownloadValid is how long a download link may be used.
const DownloadValid = 5 * time.Minute

// thumbnailStep rounds the expiry of preview links, so that browsers can cache them.
const thumbnailStep = 6 * time.Hour

// ActorLinks makes links for one caller. They end when its key does.
type ActorLinks struct {
	Links
	key          string
	noThumbnails bool
}

// For returns the links of an actor.
func (l Links) For(actor library.Actor) ActorLinks { return ActorLinks{Links: l, key: actor.ID} }

// upload is what an upload link is bound to.
type upload struct {
	filename, mimeType string
	size               int64             // 0: unknown
	sha1               library.AssetHash // empty: unknown
}

// upload returns the address to PUT a file to.
func (l ActorLinks) upload(tenant library.TenantID, stagedID string, u upload, maxBytes int64) string {
	token := l.Signer.Sign(blob.Grant{Purpose: blob.PurposeUpload, Tenant: tenant, Staged: stagedID, Filename: u.filename, MIMEType: u.mimeType,
		MaxBytes: maxBytes, Size: u.size, SHA1: u.sha1, Key: l.key}, uploadValid)
	return l.Base + "/api/v1/storage/upload/" + token
}

// Download returns the address of an asset's original bytes, valid for DownloadValid.
func (l ActorLinks) Download(a library.Asset) string {
	token := l.Signer.Sign(blob.Grant{Purpose: blob.PurposeDownload, Tenant: a.Tenant, Asset: a.Hash, Filename: a.Filename, MIMEType: a.MIMEType, Key: l.key}, DownloadValid)
	return l.Base + "/files/" + token + "/" + url.PathEscape(a.Filename)
}

// Thumbnail returns the address of an asset's preview. Callers may add ?size= with
// one of preview.Edges. It is empty in a concise answer.
func (l ActorLinks) Thumbnail(tenant library.TenantID, hash library.AssetHash) string {
	if l.noThumbnails {
		return ""
	}
	return l.Base + "/previews/" + l.Signer.SignSteady(blob.Grant{Purpose: blob.PurposePreview, Tenant: tenant, Asset: hash, Key: l.key}, thumbnailStep) + ".jpg"
}

// storagePath is the path by which clients name a staged upload. It starts with
// the tenant id, so a path of another tenant is easy to see.
func storagePath(tenant library.TenantID, stagedID, filename string) string {
	return string(tenant) + "/uploads/" + stagedID + "/" + filename
}

// splitStoragePath finds the staging id in a storage path of this tenant.
func splitStoragePath(tenant library.TenantID, p string) (stagedID string, ok bool) {
	rest, ok := strings.CutPrefix(p, string(tenant)+"/uploads/")
	if !ok {
		return "", false
	}
	id, _, _ := strings.Cut(rest, "/")
	return id, id != ""
}

// Summary is an asset as lists show it.
type Summary struct {
	AssetHash    library.AssetHash  `json:"asset_h" doc:"SHA-1 of the bytes, 40 hex digits: the asset's identity."`
	Title        string             `json:"title"`
	Description  string             `json:"description"`
	Filename     string             `json:"filename"`
	MIMEType     string             `json:"mime_type"`
	Status       library.Status     `json:"status" enum:"Draft,PendingApproval,Approved,Rejected,Archived"`
	Tags         []string           `json:"tags"`
	Visibility   library.Visibility `json:"visibility" enum:"private,team,public" doc:"private: only its owner and admins see it."`
	ThumbnailURL string             `json:"thumbnail_url,omitempty" doc:"A JPEG preview; no API key is needed. Add ?size=256, 512, 1024 or 2048. Reads with a response_format have it when that is detailed."`
}

// Summary renders an asset for a list.
func (l ActorLinks) Summary(a library.Asset) Summary {
	if a.Tags == nil {
		a.Tags = []string{}
	}
	return Summary{AssetHash: a.Hash, Title: a.Title, Description: a.Description, Filename: a.Filename, MIMEType: a.MIMEType,
		Status: a.Status, Tags: a.Tags, Visibility: a.Visibility, ThumbnailURL: l.Thumbnail(a.Tenant, a.Hash)}
}

// In returns the links for an answer of a format: concise ones have no thumbnails.
func (l ActorLinks) In(format op.FormatInput) ActorLinks {
	l.noThumbnails = !format.Detailed()
	return l
}

func (s *Service) summary(actor library.Actor, a library.Asset) Summary {
	return s.Links.For(actor).Summary(a)
}
