package run

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"vitrine/library"
	"vitrine/query"
)

// retrieverSize is how many hits each retriever contributes to the top.
const retrieverSize = 200

// fusion is the head of a search by words and meaning.
type fusion struct {
	hashes       []library.AssetHash
	scores       map[library.AssetHash]float64
	total        int64 // the head and what follows it, with uncounted as if the words found none of them
	uncounted    []library.AssetHash
	lexicalTotal int64 // of these, what the words find
	complete     bool  // nothing follows
	took         int64
	lexicalOnly  bool // the index has no answer for the meaning
}

// fuse asks both retrievers at once and joins what they find. A vector retriever
// that fails is a search by words, not an error.
func (s *Searcher) fuse(ctx context.Context, tenant library.TenantID, compiled *query.Search, opts SearchOptions) (fusion, error) {
	near, err := compiled.Neighbours(opts.QueryVector.Config, opts.QueryVector.Vector, retrieverSize)
	if err != nil {
		return fusion{}, err
	}
	parts, err := s.msearch(ctx, tenant, opts.PIT, LexicalRetriever(compiled), KNNRetriever(near), CountRequest(compiled))
	if err != nil {
		return fusion{}, err
	}
	if err := parts[0].err(opts.PIT); err != nil {
		return fusion{}, err
	}
	if err := parts[2].err(opts.PIT); err != nil {
		return fusion{}, err
	}
	if parts[1].err(opts.PIT) != nil {
		return fusion{lexicalOnly: true}, nil //nolint:nilerr // the answer says that it is by words only
	}
	parts[0].Total = parts[2].Total
	return fuseScores(compiled, parts[0].searchResponse, parts[1].searchResponse, opts.QueryVector), nil
}

// KNNRetriever is a search for the hashes and scores of the nearest.
func KNNRetriever(near *query.Search) map[string]any {
	return retrieverBody(near.NearestFirst())
}

// LexicalRetriever is a search for the hashes and scores of what the words find best,
// and of what they find alike the newest. It does not count what it finds: without the
// total, the index passes over what cannot be among the best.
func LexicalRetriever(compiled *query.Search) map[string]any { return retrieverBody(compiled) }

// CountRequest is a search for how many assets the words find, which is quick where
// nothing is ranked.
func CountRequest(compiled *query.Search) map[string]any {
	return map[string]any{"query": compiled.Matching(), "size": 0, "track_total_hits": true, "timeout": "2s"}
}

// retrieverBody is a search for the hashes of the first hits, which come from a column:
// reading _id would unpack the stored document around it, 200 of them, which takes
// longer than finding them.
func retrieverBody(compiled *query.Search) map[string]any {
	body := compiled.Body()
	body["stored_fields"], body["docvalue_fields"] = "_none_", []string{"asset_h"}
	body["from"], body["size"], body["track_total_hits"] = 0, retrieverSize, false
	for _, key := range []string{"_source", "highlight", "aggs",
		"post_filter"} { // selections of facets narrow what is shown, not what is near
		delete(body, key)
	}
	return body
}

// aboveMinSimilarity leaves the neighbours of which it is not by chance that they are near: a
// library has a nearest asset for everything, also for what it does not have. What
// the words find too is ranked by its nearness all the same.
func (m *QueryVector) aboveMinSimilarity(near searchResponse) searchResponse {
	least := (1 + m.MinSimilarity) / 2 // as OpenSearch scores a cosine
	hits := near.Hits
	n, _ := slices.BinarySearchFunc(hits, least, func(h responseHit, least float64) int { return cmp.Compare(least, h.score()) })
	near.Hits = hits[:n]
	return near
}

// fuseScores adds up the scores of both retrievers for each hit, and counts what the pages hold.
func fuseScores(compiled *query.Search, words, near searchResponse, m *QueryVector) fusion {
	found := candidates{}
	byWords, standing := words.shareOfBest()
	share := vectorWeight(standing, compiled.Sentence())
	for i, h := range words.Hits {
		found.add(h.Hash, (1-share)*byWords[i], matchClass(compiled, h))
	}
	total := words.Total
	out := fusion{total: total, lexicalTotal: total, complete: total <= int64(len(words.Hits)), took: max(words.Took, near.Took)}
	byVector, similar := near.minMaxNormalized(), len(m.aboveMinSimilarity(near).Hits)
	for i, h := range near.Hits {
		if found[h.Hash] == nil {
			if i >= similar {
				continue
			}
			out.total++
			if !out.complete {
				out.uncounted = append(out.uncounted, h.Hash)
			}
		}
		found.add(h.Hash, share*byVector[i], matchClass(compiled, h))
	}
	out.hashes, out.scores = found.ranked()
	return out
}

// candidates are the hits of both retrievers.
type candidates map[library.AssetHash]*candidate

type candidate struct {
	hash  library.AssetHash
	class int // of exact hits, which come first: the higher, the earlier
	score float64
}

func (c candidates) add(h library.AssetHash, score float64, class int) {
	if c[h] == nil {
		c[h] = &candidate{hash: h}
	}
	c[h].score += score
	c[h].class = max(c[h].class, class)
}

// ranked returns the candidates from the best to the last, and their scores.
func (c candidates) ranked() (hashes []library.AssetHash, scores map[library.AssetHash]float64) {
	list := slices.SortedFunc(maps.Values(c), func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.class, a.class), cmp.Compare(b.score, a.score), cmp.Compare(a.hash, b.hash))
	})
	hashes, scores = make([]library.AssetHash, len(list)), make(map[library.AssetHash]float64, len(list))
	for i, one := range list {
		hashes[i], scores[one.hash] = one.hash, tailScore+(1-tailScore)*one.score+float64(one.class)
	}
	return hashes, scores
}

// matchClass ranks what people mean when they type the whole of a name.
func matchClass(compiled *query.Search, h responseHit) int {
	switch {
	case strings.EqualFold(compiled.TextForEmbedding, string(h.Hash)):
		return 4
	case slices.Contains(h.Matched, "exact_title"):
		return 3
	case slices.Contains(h.Matched, "exact_filename"):
		return 2
	case slices.Contains(h.Matched, "exact_tag"):
		return 1
	}
	return 0
}

// orderHits puts fetched hits into the order of the head, of which they are the part
// that begins at from.
func (f fusion) orderHits(shown []library.AssetHash, from int, hits []Hit) []Hit {
	at := make(map[library.AssetHash]int, len(shown))
	for i, h := range shown {
		at[h] = i
	}
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Compare(at[a.Document.AssetH], at[b.Document.AssetH]) })
	for i := range hits {
		score, known := f.scores[hits[i].Document.AssetH]
		if !known {
			score = rankScore(from + at[hits[i].Document.AssetH])
		}
		hits[i].Score, hits[i].Sort = &score, nil
	}
	return hits
}

// tailScore is below every score in a head and above every one behind it.
const tailScore = 0.01

// rankScore stands for the score of a hit of which only the place is known.
func rankScore(place int) float64 { return tailScore / float64(place+1) }

func (a searchResponse) hashes() []library.AssetHash {
	out := make([]library.AssetHash, len(a.Hits))
	for i, h := range a.Hits {
		out[i] = h.Hash
	}
	return out
}
