package service

import (
	"bytes"
	"context"
	"errors"
	"image/jpeg"
	"time"

	"vitrine/indexer"
	"vitrine/jobs"
	"vitrine/library"
	"vitrine/media/memory"
	"vitrine/media/palette"
	"vitrine/media/phash"
	"vitrine/media/preview"
	"vitrine/reextract"
	"vitrine/store"
)

// enrichLimit is how long one job may enrich its assets.
const enrichLimit = 10 * time.Minute

// enrich does the operations of an enrich stage on some assets. Doing them twice does no harm:
// each result follows from the file.
func (s *Service) enrich(ctx context.Context, j store.EnrichJob) error {
	e, err := s.Store.Enrichments.Get(ctx, j)
	if err != nil || e.Done {
		return err
	}
	results := map[string]store.Enriched{}
	for _, operation := range e.Operations {
		var did store.Enriched
		switch operation {
		case "phash", "dominant_color":
			did, err = s.enrichPictures(ctx, j.Tenant, e.Assets, operation == "dominant_color")
		case "embedding":
			did, err = s.enrichEmbeddings(ctx, j.Tenant, e.Assets)
		case "re_extract":
			did, err = s.enrichLineage(ctx, j.Tenant, e.Assets)
		}
		if errors.Is(err, memory.ErrBusy) {
			return jobs.Later(previewsLater)
		}
		if err != nil {
			return err
		}
		results[operation] = did
	}
	return s.Store.Enrichments.Finish(ctx, j, results)
}

// enrichPictures keeps the perceptual hashes of assets or, beside them, their dominant colors. Files without
// a picture have none; those whose picture cannot be read are counted as failed.
func (s *Service) enrichPictures(ctx context.Context, tenant library.TenantID, assets []library.AssetHash, colors bool) (did store.Enriched, err error) {
	actor := library.Actor{Kind: library.ActorSystem, ID: "enrich", Tenant: tenant}
	for _, h := range assets {
		hash, color, err := s.lookAt(ctx, tenant, h)
		var large *preview.TooLargeError
		switch {
		case errors.Is(err, preview.ErrUnsupported), errors.Is(err, preview.ErrNoFFmpeg), errors.Is(err, preview.ErrNoVips), library.AsError(err) != nil && library.AsError(err).Kind == library.KindNotFound:
			did.Same++
			continue
		case errors.Is(err, preview.ErrDamaged), errors.As(err, &large), isCode(err, library.CodeFileMissing), isCode(err, library.CodeFileDamaged):
			did.Add(store.Enriched{Failed: 1, Reason: library.AsError(err).Detail})
			continue
		case err != nil:
			return did, err
		}
		if !colors {
			color = ""
		}
		newHash, newColor, err := s.Store.Fingerprints.Renew(ctx, actor, h, hash, color)
		if err != nil {
			return did, err
		}
		if changed := newHash && !colors || newColor && colors; changed {
			did.Changed++
		} else {
			did.Same++
		}
	}
	return did, nil
}

// lookAt returns the perceptual hash of an asset's picture, nil where it has none, and its
// dominant color.
func (s *Service) lookAt(ctx context.Context, tenant library.TenantID, h library.AssetHash) (hash *uint64, color string, err error) {
	picture, err := s.Previews.Picture(ctx, tenant, h, preview.DefaultEdge)
	if err != nil {
		return nil, "", err
	}
	img, err := jpeg.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, "", err
	}
	if p, ok := phash.Of(img); ok {
		hash = (*uint64)(&p)
	}
	if c, ok := palette.Dominant(img); ok {
		color = c.String()
	}
	return hash, color, nil
}

// enrichEmbeddings makes the vectors of assets. Those without words have none.
func (s *Service) enrichEmbeddings(ctx context.Context, tenant library.TenantID, assets []library.AssetHash) (store.Enriched, error) {
	n, err := s.Indexer.Embed(ctx, tenant, assets)
	if errors.Is(err, indexer.ErrNoEmbedder) {
		return store.Enriched{Same: int64(len(assets)), Missing: true}, nil
	}
	return store.Enriched{Changed: n, Same: int64(len(assets)) - n}, err
}

// enrichLineage reads the generation data of assets again.
func (s *Service) enrichLineage(ctx context.Context, tenant library.TenantID, assets []library.AssetHash) (store.Enriched, error) {
	got, err := reextract.Assets(ctx, s.Store.Extraction, tenant, assets, reextract.Options{Log: s.log})
	did := store.Enriched{Changed: got.Changed, Same: int64(len(assets)) - got.Changed - got.Failed, Failed: got.Failed}
	if got.Failed > 0 {
		did.Reason = "nothing could be read of the metadata that was kept of the file"
	}
	return did, err
}
