package assets

import (
	"context"
	"time"

	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/op"
	"vitrine/store"
)

type purgeInput struct {
	op.TenantInput
	AssetHashes []string `json:"asset_hs,omitempty" id:"asset" minItems:"1" maxItems:"1000" doc:"Only these assets."`
	All         bool     `json:"all,omitempty" enum:"true" doc:"Everything in the trash, up to 10,000 assets in one call."`
	Referenced  bool     `json:"include_referenced,omitempty" doc:"true: also assets that a snapshot of a collection holds. They vanish from it."`
	Confirm     bool     `json:"confirm" enum:"true" doc:"Nothing brings purged assets back."`

	hashes []library.AssetHash
}

// Validate implements op.Validator.
func (in *purgeInput) Validate() (errs []library.FieldError) {
	in.hashes, errs = Hashes("asset_hs", in.AssetHashes)
	return errs
}

type purgeOutput struct {
	Purged     int64               `json:"purged" doc:"How many assets were deleted for good."`
	Bytes      int64               `json:"bytes" doc:"The size of their files."`
	Referenced []library.AssetHash `json:"referenced" doc:"Not purged, because something refers to them, such as a snapshot of a collection."`
	NotInTrash []library.AssetHash `json:"not_in_trash" doc:"Not purged, because they are not in the trash."`
	Remaining  bool                `json:"remaining" doc:"With all: there is more to purge. Repeat the call."`
}

// maxPurgeAll is how many assets one call purges; purgeLimit is the time for it.
const (
	maxPurgeAll = 10_000
	purgeLimit  = 10 * time.Minute
)

func (s *Service) purgeTrash() op.Operation {
	return op.Define(op.Meta{
		Name: "PurgeTrash", Title: "Purge the trash", Domain: op.Assets,
		Doc: "Deletes assets of the trash for good: file, previews, metadata, vectors and documents. It cannot be undone.",
		More: "An asset that a snapshot holds is kept unless include_referenced is true. Whether an asset is still in the trash is looked at in the transaction that deletes it. " +
			"An import does not bring purged files back, unless it is told to (--restore); storing the same bytes does, as a new asset.",
		Method: "POST", Path: "/api/v1/trash/purge", Permission: library.PermAdmin, Destructive: true, Idempotent: true, RESTOnly: true, Limit: purgeLimit, OneOf: []string{"asset_hs", "all"},
		Example: map[string]any{"asset_hs": []string{"da39a3ee5e6b4b0d3255bfef95601890afd80709"}, "confirm": true},
	}, func(ctx context.Context, actor library.Actor, in purgeInput) (purgeOutput, error) {
		hashes, out := in.hashes, purgeOutput{Referenced: []library.AssetHash{}, NotInTrash: []library.AssetHash{}}
		if in.All {
			list, err := s.Store.Trash.List(ctx, actor, store.TrashPlace{}, maxPurgeAll+1)
			if err != nil {
				return out, err
			}
			if out.Remaining = len(list) > maxPurgeAll; out.Remaining {
				list = list[:maxPurgeAll]
			}
			for _, a := range list {
				hashes = append(hashes, a.Hash)
			}
		}
		done, err := Purge(ctx, s.Store, s.Blobs, actor, hashes, store.PurgeOptions{Referenced: in.Referenced})
		if err != nil {
			return out, err
		}
		for _, f := range done.Purged {
			out.Purged++
			out.Bytes += f.Size
		}
		out.Referenced, out.NotInTrash = append(out.Referenced, done.Referenced...), append(out.NotInTrash, done.NotInTrash...)
		return out, nil
	})
}

// purgeBatch is how many assets lose their rows before their files are removed.
const purgeBatch = 100

// Purge deletes assets of the trash and their files. Rows go first, then the files, each
// under a lock that keeps the same bytes from being stored meanwhile; what a crash leaves
// between the two, the sweep takes.
func Purge(ctx context.Context, st *store.Store, blobs blob.Store, actor library.Actor, hashes []library.AssetHash, opt store.PurgeOptions) (store.PurgeResult, error) {
	var out store.PurgeResult
	for len(hashes) > 0 {
		n := min(len(hashes), purgeBatch)
		if err := blobs.Available(ctx); err != nil { // rows without the means to remove their files would leave orphans
			return out, err
		}
		done, err := st.Trash.Purge(ctx, actor, hashes[:n], opt)
		if err != nil {
			return out, err
		}
		// The rows are gone: whoever leaves now, their files go too.
		for _, f := range done.Purged {
			if err := removeFile(context.WithoutCancel(ctx), st, blobs, actor, f.Hash); err != nil {
				return out, err
			}
		}
		out.Purged = append(out.Purged, done.Purged...)
		out.Referenced = append(out.Referenced, done.Referenced...)
		out.NotInTrash = append(out.NotInTrash, done.NotInTrash...)
		hashes = hashes[n:]
	}
	return out, nil
}

func removeFile(ctx context.Context, st *store.Store, blobs blob.Store, actor library.Actor, hash library.AssetHash) error {
	return st.Trash.RemoveFile(ctx, actor, hash, func() error { return blobs.Remove(ctx, actor.Tenant, hash) })
}
