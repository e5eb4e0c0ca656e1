package assets

import (
	"context"
	"errors"
	"time"

	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/op"
	"vitrine/store"
)

// intact returns which of these assets the tenant holds outside the trash, the actor
// sees and have a file that is in order, as far as its size and earlier checks show. The file of any other is
// worth sending.
func (s *Service) intact(ctx context.Context, actor library.Actor, hashes []library.AssetHash) (map[library.AssetHash]bool, error) {
	tenant := actor.Tenant
	files, err := s.Store.Assets.Files(ctx, actor, hashes)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	damaged, err := s.Store.Files.DamagedAmong(ctx, tenant, hashes)
	if err != nil {
		return nil, err
	}
	good := make(map[library.AssetHash]bool, len(files))
	for hash, f := range files {
		whole, err := s.hasSize(ctx, tenant, hash, f.Size)
		if err != nil {
			return nil, err
		}
		good[hash] = whole && !damaged[hash]
	}
	return good, nil
}

// hasSize reports whether an asset's file is there and has a size. A file that cannot
// be read is not; only a folder that is not there is an error.
func (s *Service) hasSize(ctx context.Context, tenant library.TenantID, hash library.AssetHash, size int64) (bool, error) {
	has, err := s.Blobs.Size(ctx, tenant, hash)
	if err != nil && library.AsError(err).Kind == library.KindUnavailable {
		return false, err
	}
	return err == nil && has == size, nil
}

// place is what stands where bytes are about to be stored.
type place struct {
	seen    time.Time
	empty   bool // nothing: the file is new, or was missing
	damaged bool // a file of another size than the asset's
}

// placeOf looks at the place of bytes before they are put there. It refuses those that
// would replace other bytes of the same SHA-1. A new file costs no question of the
// database.
func (s *Service) placeOf(ctx context.Context, tenant library.TenantID, staged blob.Staged) (place, error) {
	size, err := s.Blobs.Size(ctx, tenant, staged.SHA1)
	if err != nil && library.AsError(err).Kind == library.KindNotFound {
		return place{seen: time.Now(), empty: true}, nil
	}
	if err != nil && library.AsError(err).Kind == library.KindUnavailable {
		return place{}, err
	}
	f, there, dbErr := s.Store.Files.Get(ctx, tenant, staged.SHA1)
	switch {
	case dbErr != nil:
		return place{}, dbErr
	case !there:
		return place{}, nil
	case f.SHA256 != staged.SHA256:
		return place{}, store.HashCollision()
	}
	return place{damaged: err != nil || size != f.Size}, nil
}

// addRow writes the row of bytes that are in place. Bytes that turn out to be others
// than those of the asset whose missing file they took the place of go again.
func (s *Service) addRow(ctx context.Context, actor library.Actor, at place, n store.NewAsset) (store.AddResult, error) {
	added, err := s.Store.Assets.Add(ctx, actor, n)
	if at.empty && op.HasCode(err, library.CodeHashCollision) {
		err = errors.Join(err, s.Blobs.Remove(ctx, actor.Tenant, n.Asset.Hash))
	}
	missing := at.empty && !added.Created && added.Asset.StoredAt.Before(at.seen) // else somebody stored the same bytes just now
	added.Healed = added.Healed || at.damaged || missing
	return added, err
}
