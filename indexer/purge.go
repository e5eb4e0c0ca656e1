package indexer

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"vitrine/internal/opensearch"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store/indexstate"
)

// purgePage is how many tombstones are looked at at once.
const purgePage = 2000

// PurgeTombstones deletes, from the live indices, the tombstones of what
// went away longer ago than the retention and reports how many there were. After so long no event
// about such a document can be under way, so nothing could bring an old state back.
// The tombstone of what is in the trash stays as long as the trash keeps it.
func (x *Indexer) PurgeTombstones(ctx context.Context) (int64, error) {
	var total int64
	err := x.eachIndex(ctx, func(x *Indexer) error {
		n, err := x.purgeTombstones(ctx)
		total += n
		return err
	})
	return total, err
}

func (x *Indexer) purgeTombstones(ctx context.Context) (int64, error) {
	generations, err := x.generations(ctx)
	index := nameOf(generations, indexstate.GenerationLive)
	if err != nil || index == "" { // where no index is, no tombstone is
		return 0, err
	}
	if err := x.refresh(ctx, index); err != nil {
		return 0, lost(err, index)
	}
	var total int64
	var after []any
	before := time.Now().Add(-x.cfg.TombstoneRetention)
	for {
		keys, last, err := x.tombstones(ctx, index, after)
		if err != nil || len(keys) == 0 {
			return total, err
		}
		after = last
		old, err := x.def.TombstonesBefore(ctx, before, keys)
		if err != nil {
			return total, err
		}
		n, err := x.purge(ctx, index, old)
		total += n
		if err != nil {
			return total, err
		}
	}
}

// tombstones lists some tombstones that an index holds, and the place to go on from.
func (x *Indexer) tombstones(ctx context.Context, index string, after []any) (keys []indexstate.DocumentKey, last []any, err error) {
	body := map[string]any{
		"size": purgePage, "track_total_hits": false, "_source": false, "stored_fields": "_none_",
		"query": map[string]any{"term": map[string]any{"deleted": true}}, "sort": []string{"tenant_id", x.def.Index.Key},
	}
	if after != nil {
		body["search_after"] = after
	}
	var found struct {
		Hits struct {
			Hits []struct {
				Sort [2]string `json:"sort"`
			} `json:"hits"`
		} `json:"hits"`
	}
	if err := opensearch.Call(ctx, x.search, http.MethodPost, "/"+index+"/_search", body, &found); err != nil {
		return nil, nil, err
	}
	for _, h := range found.Hits.Hits {
		keys = append(keys, indexstate.DocumentKey{Tenant: library.TenantID(h.Sort[0]), Key: h.Sort[1]})
		last = []any{h.Sort[0], h.Sort[1]}
	}
	return keys, last, nil
}

// purge deletes the documents of some tombstones under the versions of the
// tombstones: should the same bytes have come back since, their document is
// newer and stays, and should they come back next minute, it will be taken.
func (x *Indexer) purge(ctx context.Context, index string, page []indexstate.DocumentVersion) (int64, error) {
	if len(page) == 0 {
		return 0, nil
	}
	var body []byte
	for _, a := range page {
		body = fmt.Appendf(body, `{"delete":{"_id":"%s","routing":"%s","version":%d,"version_type":"external_gte"}}`+"\n",
			mappings.DocumentID(a.Tenant, a.Key), mappings.Routing(a.Tenant), a.Version)
	}
	var done struct {
		Items []struct {
			Delete struct {
				Status int `json:"status"`
			} `json:"delete"`
		} `json:"items"`
	}
	if err := opensearch.Call(ctx, x.search, http.MethodPost, "/"+index+"/_bulk", body, &done); err != nil {
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
