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
	similar      []bool // of hashes, in their order: that it is near in meaning
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
	candidates, all := compiled.Candidates()
	parts, err := s.msearch(ctx, tenant, opts.PIT, LexicalRetriever(candidates), KNNRetriever(near), CountRequest(compiled))
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
	words := lexicalHits{parts[0].searchResponse, all, parts[2].Total}
	return fuseScores(compiled, words, parts[1].searchResponse, opts.QueryVector), nil
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
// the words find too is ranked by its nearness all the same. Beside one that is very
// near, others are similar only if they are not much farther.
func (m *QueryVector) aboveMinSimilarity(near searchResponse) searchResponse {
	hits := near.Hits
	least := (1 + m.MinSimilarity) / 2 // as OpenSearch scores a cosine
	if len(hits) > 0 && m.MinSimilarity > -1 {
		least = max(least, (1+m.ShareOfBest*(2*hits[0].score()-1))/2)
	}
	n, _ := slices.BinarySearchFunc(hits, least, func(h responseHit, least float64) int { return cmp.Compare(least, h.score()) })
	near.Hits = hits[:n]
	return near
}

// lexicalHits are the hits that the words rank best.
type lexicalHits struct {
	searchResponse
	all   bool  // every one has what is required of the words; else its matched queries say so
	total int64 // how many assets have
}

func (l lexicalHits) required(h responseHit) bool {
	return l.all || slices.Contains(h.Matched, query.ByWords)
}

// fuseScores adds up the scores of both retrievers for each hit, and counts what the pages
// hold: what has all that is required of the words, and what is near in meaning. Having
// some of the words only ranks what is near.
func fuseScores(compiled *query.Search, words lexicalHits, near searchResponse, m *QueryVector) fusion {
	found, partly := candidates{}, candidates{}
	byWords, share := words.ofWords(compiled), vectorWeight(compiled)
	for i, h := range words.Hits {
		into := partly
		if words.required(h) {
			into = found
		}
		into.add(h.Hash, (1-share)*byWords[i], matchClass(compiled, h))
	}
	out := fusion{total: words.total, lexicalTotal: words.total, complete: words.total <= int64(len(found)), took: max(words.Took, near.Took)}
	byVector, similar := near.ofMeaning(), len(m.aboveMinSimilarity(near).Hits)
	for i, h := range near.Hits {
		if i < similar && found[h.Hash] == nil {
			out.total++
			if partly[h.Hash] != nil {
				found[h.Hash] = partly[h.Hash]
			} else if len(words.Hits) >= retrieverSize {
				out.uncounted = append(out.uncounted, h.Hash)
			}
		} else if found[h.Hash] == nil {
			continue
		}
		found.add(h.Hash, share*byVector[i], matchClass(compiled, h))
		found[h.Hash].similar = i < similar
	}
	out.rank(found)
	return out
}

// candidates are the hits of both retrievers.
type candidates map[library.AssetHash]*candidate

type candidate struct {
	hash  library.AssetHash
	class int // of exact hits, which come first: the higher, the earlier
	score float64

	similar bool // near in meaning
}

func (c candidates) add(h library.AssetHash, score float64, class int) {
	if c[h] == nil {
		c[h] = &candidate{hash: h}
	}
	c[h].score += score
	c[h].class = max(c[h].class, class)
}

// rank puts the candidates in order, from the best to the last.
func (f *fusion) rank(found candidates) {
	list := slices.SortedFunc(maps.Values(found), func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.class, a.class), cmp.Compare(b.score, a.score), cmp.Compare(a.hash, b.hash))
	})
	most := 1.0 // scores end at 1, so that a class is more than any of them
	for _, one := range list {
		most = max(most, one.score)
	}
	f.hashes, f.similar, f.scores = make([]library.AssetHash, len(list)), make([]bool, len(list)), make(map[library.AssetHash]float64, len(list))
	for i, one := range list {
		f.hashes[i], f.similar[i], f.scores[one.hash] = one.hash, one.similar, tailScore+(1-tailScore)*one.score/most+float64(one.class)
	}
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
		hits[i].Score, hits[i].Sort, hits[i].ByMeaning = &score, nil, f.isSimilar(from+at[hits[i].Document.AssetH])
	}
	return hits
}

// isSimilar reports whether a hit of the head is near in meaning.
func (f fusion) isSimilar(place int) bool { return place < len(f.similar) && f.similar[place] }

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
