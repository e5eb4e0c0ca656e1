package assets

import (
	"context"

	"vitrine/library"
	"vitrine/store"
)

// intact returns which of these assets the tenant holds outside the trash with a file
// that is in order, as far as its size and earlier checks show. The file of any other is
// worth sending.
func (s *Service) intact(ctx context.Context, tenant library.TenantID, hashes []library.AssetHash) (map[library.AssetHash]bool, error) {
	files, err := s.Store.AssetFiles(ctx, tenant, hashes)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	damaged, err := s.Store.DamagedAmong(ctx, tenant, hashes)
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

// replaces looks at what stands in the place of bytes that are about to be stored: it
// refuses those that would replace other bytes of the same SHA-1, and reports whether
// they heal a file that is missing or has another size.
func (s *Service) replaces(ctx context.Context, tenant library.TenantID, hash library.AssetHash, sha256 string) (heals bool, err error) {
	f, there, err := s.Store.StoredFileOf(ctx, tenant, hash)
	if err != nil || !there {
		return false, err
	}
	if f.SHA256 != sha256 {
		return false, store.HashCollision()
	}
	whole, err := s.hasSize(ctx, tenant, hash, f.Size)
	return !whole, err
}
