package indexer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"time"

	"vitrine/internal/opensearch"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store/indexstate"
)

// ReconcileReport is what a comparison of library and index found. All differences
// are repaired where they are found, so Remaining is 0 unless the index refuses.
type ReconcileReport struct {
	Documents                // that agree, repaired ones included
	Missing    int64         `json:"missing"`     // live rows without a document
	Stale      int64         `json:"stale"`       // documents older than their row
	Orphans    int64         `json:"orphans"`     // documents of what is in the trash or gone
	Ahead      int64         `json:"ahead"`       // documents newer than their row, as after restoring a backup
	Remaining  int64         `json:"remaining"`   // differences that could not be repaired
	FixedFirst string        `json:"fixed_first"` // what was wrong with the index as a whole and was fixed before, or ""
	Took       time.Duration `json:"-"`
}

// Repaired counts the differences that are gone now.
func (r ReconcileReport) Repaired() int64 {
	return r.Missing + r.Stale + r.Orphans + r.Ahead - r.Remaining
}

// Reconcile compares the version of every asset with that of its document in the
// live index and repairs all differences. It may run at any time beside other
// work; a document that is merely on its way is no difference. An index that is gone
// is made anew and filled first. progress is called with how many assets are compared, of
// how many; it may be nil.
func (x *Indexer) Reconcile(ctx context.Context, progress func(done, total int64)) (ReconcileReport, error) {
	var all ReconcileReport
	if progress == nil {
		progress = func(int64, int64) {}
	}
	err := x.eachIndex(ctx, func(x *Indexer) error {
		one, err := x.reconcileScope(ctx, progress)
		all.add(one)
		return err
	})
	return all, err
}

// add sums up what comparisons of several indices found.
func (r *ReconcileReport) add(o ReconcileReport) {
	r.Count, r.Checksum = r.Count+o.Count, r.Checksum+o.Checksum
	r.Missing, r.Stale, r.Orphans, r.Ahead = r.Missing+o.Missing, r.Stale+o.Stale, r.Orphans+o.Orphans, r.Ahead+o.Ahead
	r.Remaining, r.Took = r.Remaining+o.Remaining, r.Took+o.Took
	r.FixedFirst = cmp.Or(r.FixedFirst, o.FixedFirst)
}

func (x *Indexer) reconcileScope(ctx context.Context, progress func(done, total int64)) (ReconcileReport, error) {
	ensured, err := x.EnsureIndex(ctx)
	if err != nil {
		return ReconcileReport{}, err
	}
	if err := x.Complete(ctx, func(p Progress) { progress(p.Done, p.Total) }); err != nil {
		return ReconcileReport{}, lost(err, ensured.Index)
	}
	live, err := x.liveIndex(ctx) // Complete may have put another one there
	if err != nil {
		return ReconcileReport{}, err
	}
	report, err := x.reconcile(ctx, live, progress)
	report.FixedFirst = ensured.Problem
	if err == nil && report.Ahead > 0 {
		if err = x.setBack(ctx); err == nil {
			err = x.Complete(ctx, func(p Progress) { progress(p.Done, p.Total) })
		}
	}
	return report, lost(err, live)
}

// lost rewords the error of a request that found no index.
func lost(err error, index string) error {
	if errors.Is(err, errIndexGone) || opensearch.IsResponseError(err, opensearch.TypeIndexNotFound) {
		return &library.Error{Kind: library.KindUnavailable, Code: library.CodeIndexUnavailable, RetryAfter: 2 * guardEvery, Cause: err,
			Detail: "The index " + index + " was deleted meanwhile. A running service with the role index makes it anew and fills it; vitrine reconcile does so too."}
	}
	if opensearch.IsResponseError(err, "index_closed_exception") {
		return closed(index)
	}
	return err
}

func (x *Indexer) reconcile(ctx context.Context, index string, progress func(done, total int64)) (ReconcileReport, error) {
	began := time.Now()
	c := &comparison{x: x, index: index, progress: progress}
	if err := x.refresh(ctx, index); err != nil {
		return c.out, err
	}
	tenants, err := c.tenants(ctx)
	if err != nil {
		return c.out, err
	}
	for _, t := range tenants {
		if err := c.tenant(ctx, t); err != nil {
			return c.out, err
		}
	}
	for kind, n := range map[string]int64{"missing": c.out.Missing, "stale": c.out.Stale, "orphan": c.out.Orphans, "ahead": c.out.Ahead} {
		x.metrics.repairs.WithLabelValues(kind).Add(float64(n))
	}
	c.out.Took = time.Since(began)
	return c.out, nil
}

// countDocuments counts the documents of an index that are no tombstones.
func (x *Indexer) countDocuments(ctx context.Context, index string) (int64, error) {
	var found struct {
		Count int64 `json:"count"`
	}
	err := opensearch.Call(ctx, x.search, http.MethodPost, "/"+index+"/_count", map[string]any{"query": map[string]any{"term": map[string]any{"deleted": false}}}, &found)
	return found.Count, err
}

// comparison is one walk through both stores.
type comparison struct {
	x           *Indexer
	index       string
	progress    func(done, total int64)
	done, total int64
	out         ReconcileReport

	inspectOnly bool      // nothing is repaired
	until       time.Time // when an inspection ends, wherever it is; zero: at the end
	oldest      time.Time // the oldest change that the index lacks; zero: none
}

// tenants lists every tenant that has assets or documents.
func (c *comparison) tenants(ctx context.Context) ([]library.TenantID, error) {
	counted, err := c.x.countRows(ctx)
	if err != nil {
		return nil, err
	}
	list, err := c.indexedTenants(ctx)
	if err != nil {
		return nil, err
	}
	list, err = c.x.filterScope(ctx, list)
	if err != nil {
		return nil, err
	}
	for _, t := range counted {
		list = append(list, t.Tenant)
		c.total += t.Documents
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// indexedTenants lists the tenants of all documents that are no tombstones.
func (c *comparison) indexedTenants(ctx context.Context) ([]library.TenantID, error) {
	var list []library.TenantID
	var after map[string]any
	for {
		composite := map[string]any{"size": 1000, "sources": []any{map[string]any{"tenant": map[string]any{"terms": map[string]any{"field": "tenant_id"}}}}}
		if after != nil {
			composite["after"] = after
		}
		var found struct {
			Aggregations struct {
				Tenants struct {
					After   map[string]any `json:"after_key"`
					Buckets []struct {
						Key struct {
							Tenant library.TenantID `json:"tenant"`
						} `json:"key"`
					} `json:"buckets"`
				} `json:"tenants"`
			} `json:"aggregations"`
		}
		err := opensearch.Call(ctx, c.x.search, http.MethodPost, "/"+c.index+"/_search", map[string]any{
			"size": 0, "track_total_hits": false,
			"query": map[string]any{"term": map[string]any{"deleted": false}},
			"aggs":  map[string]any{"tenants": map[string]any{"composite": composite}},
		}, &found)
		if err != nil {
			return nil, err
		}
		for _, b := range found.Aggregations.Tenants.Buckets {
			list = append(list, b.Key.Tenant)
		}
		if after = found.Aggregations.Tenants.After; after == nil {
			return list, nil
		}
	}
}

// tenant compares page by page: a page of assets against the documents between
// its first and its last key, the last page against all that follow.
func (c *comparison) tenant(ctx context.Context, tenant library.TenantID) error {
	after := ""
	for {
		page, err := c.x.def.VersionsAfter(ctx, tenant, after, c.x.cfg.comparePage)
		if err != nil {
			return err
		}
		last := ""
		if len(page) == c.x.cfg.comparePage {
			last = page[len(page)-1].Key
		}
		docs, err := c.documents(ctx, tenant, after, last)
		if err != nil {
			return err
		}
		if err := c.repair(ctx, c.compare(tenant, page, docs)); err != nil {
			return err
		}
		c.done += int64(len(page))
		c.progress(c.done, max(c.total, c.done))
		if last == "" || c.timeIsOver() {
			return nil
		}
		after = last
	}
}

// searchedVersion is what a search shows of a document.
type searchedVersion struct {
	version int64
	deleted bool
}

// documents reads the documents of a tenant with a key above after and up to
// last, or to the end when last is empty.
func (c *comparison) documents(ctx context.Context, tenant library.TenantID, after, last string) (map[string]searchedVersion, error) {
	key, out := c.x.def.Index.Key, make(map[string]searchedVersion, c.x.cfg.comparePage)
	bounds := map[string]any{"gt": after}
	if last != "" {
		bounds["lte"] = last
	}
	body := map[string]any{
		"size": c.x.cfg.comparePage, "track_total_hits": false, "_source": false, "stored_fields": "_none_",
		"docvalue_fields": []string{"doc_version", "deleted"}, "sort": []string{key},
		"query": map[string]any{"bool": map[string]any{"filter": []any{
			map[string]any{"term": map[string]any{"tenant_id": tenant}}, map[string]any{"range": map[string]any{key: bounds}},
		}}},
	}
	for {
		var found struct {
			Hits struct {
				Hits []struct {
					Sort   [1]string `json:"sort"`
					Fields struct {
						Version []int64 `json:"doc_version"`
						Deleted []bool  `json:"deleted"`
					} `json:"fields"`
				} `json:"hits"`
			} `json:"hits"`
		}
		if err := opensearch.Call(ctx, c.x.search, http.MethodPost, "/"+c.index+"/_search?routing="+mappings.Routing(tenant), body, &found); err != nil {
			return nil, err
		}
		hits := found.Hits.Hits
		for _, h := range hits {
			doc := searchedVersion{deleted: slices.Contains(h.Fields.Deleted, true)}
			if len(h.Fields.Version) > 0 {
				doc.version = h.Fields.Version[0]
			}
			out[h.Sort[0]] = doc
		}
		if len(hits) < c.x.cfg.comparePage {
			return out, nil
		}
		body["search_after"] = []any{hits[len(hits)-1].Sort[0]}
	}
}

// compare counts what agrees and gives the assets that do not seem to.
func (c *comparison) compare(tenant library.TenantID, page []indexstate.DocumentVersion, docs map[string]searchedVersion) []indexstate.DocumentKey {
	var suspects []indexstate.DocumentKey
	for _, a := range page {
		doc, ok := docs[a.Key]
		delete(docs, a.Key)
		switch {
		case a.Live && ok && !doc.deleted && doc.version == a.Version:
			c.out.Documents.add(a.DocumentKey, a.Version)
		case a.Live || ok && !doc.deleted:
			suspects = append(suspects, a.DocumentKey)
		}
	}
	for key, doc := range docs {
		if !doc.deleted {
			suspects = append(suspects, indexstate.DocumentKey{Tenant: tenant, Key: key})
		}
	}
	return suspects
}

// add counts one document. The sum does not depend on the order.
func (d *Documents) add(k indexstate.DocumentKey, version int64) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(mappings.DocumentID(k.Tenant, k.Key)))
	_, _ = h.Write(strconv.AppendInt([]byte{':'}, version, 10))
	d.Count++
	d.Checksum += h.Sum64()
}

// indexedDocument is what a document is at this moment, searchable or not.
type indexedDocument struct {
	ID          string `json:"_id"`
	Found       bool   `json:"found"`
	Version     int64  `json:"_version"`
	SeqNo       int64  `json:"_seq_no"`
	PrimaryTerm int64  `json:"_primary_term"`
	Source      struct {
		Deleted bool `json:"deleted"`
	} `json:"_source"`
}

// getDocuments reads the documents of some assets past any refresh, in their order.
func getDocuments(ctx context.Context, x *Indexer, index string, keys []indexstate.DocumentKey) ([]indexedDocument, error) {
	type doc struct {
		ID      string `json:"_id"`
		Routing string `json:"routing"`
		Source  string `json:"_source"`
	}
	ask := make([]doc, len(keys))
	for i, k := range keys {
		ask[i] = doc{mappings.DocumentID(k.Tenant, k.Key), mappings.Routing(k.Tenant), "deleted"}
	}
	var found struct {
		Docs []indexedDocument `json:"docs"`
	}
	body, err := json.Marshal(map[string]any{"docs": ask})
	if err != nil {
		return nil, err
	}
	if err := opensearch.Call(ctx, x.search, http.MethodPost, "/"+index+"/_mget", body, &found); err != nil {
		return nil, err
	}
	if len(found.Docs) != len(keys) {
		return nil, errMalformedResponse
	}
	return found.Docs, nil
}
