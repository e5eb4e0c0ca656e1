package indexer

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"vitrine/mappings"
	"vitrine/store"
)

// purgePage is how many tombstones are deleted by one request.
const purgePage = 2000

// PurgeTombstones deletes, from the live index, the tombstones of assets that
// went away longer ago than the retention and reports how many there were. After so long no event
// about such an asset can be under way, so nothing could bring an old state back.
// The tombstone of an asset in the trash stays as long as the trash keeps it.
func (x *Indexer) PurgeTombstones(ctx context.Context) (int64, error) {
	index, err := x.liveIndex(ctx)
	if err != nil {
		return 0, err
	}
	var total int64
	var after store.AssetKey
	before := time.Now().Add(-x.cfg.TombstoneRetention)
	for {
		page, err := x.store.TombstonesBefore(ctx, before, after, purgePage)
		if err != nil || len(page) == 0 {
			return total, err
		}
		after = page[len(page)-1].AssetKey
		n, err := x.purge(ctx, index, page)
		total += n
		if err != nil {
			return total, err
		}
	}
}

// purge deletes the documents of some tombstones under the versions of the
// tombstones: should the same bytes have come back since, their document is
// newer and stays, and should they come back next minute, it will be taken.
func (x *Indexer) purge(ctx context.Context, index string, page []store.AssetVersion) (int64, error) {
	var body []byte
	for _, a := range page {
		body = fmt.Appendf(body, `{"delete":{"_id":"%s","routing":"%s","version":%d,"version_type":"external_gte"}}`+"\n",
			mappings.DocID(a.Tenant, a.Hash), mappings.Routing(a.Tenant), a.Version)
	}
	var done struct {
		Items []struct {
			Delete struct {
				Status int `json:"status"`
			} `json:"delete"`
		} `json:"items"`
	}
	if err := call(ctx, x.search, http.MethodPost, "/"+index+"/_bulk", body, &done); err != nil {
		return 0, err
	}
	var deleted int64
	for _, it := range done.Items {
		switch it.Delete.Status {
		case http.StatusOK:
			deleted++
		case http.StatusNotFound, http.StatusConflict:
		default:
			return deleted, fmt.Errorf("OpenSearch answers %d to the deletion of a tombstone", it.Delete.Status)
		}
	}
	return deleted, nil
}
