package query

import "vitrine/library"

// The searches below ask for a part of what a search finds, or for it joined
// with hits of the vector retriever. Each is a copy that shares its parts.

// Neighbours is the search for the k nearest neighbours of a vector instead of
// for words; see KNN. Its hits have scores, and without a sort of the request
// the nearest comes first.
func (s *Search) Neighbours(config string, vector []float32, k int) (*Search, error) {
	knn, err := s.KNN(config, vector, k)
	if err != nil {
		return nil, err
	}
	out := *s
	out.Query, out.bounds, out.Scored, out.MatchesNothing = knn, nil, true, false
	if s.Ranked {
		out.Sort = bestFirst
	}
	return &out, nil
}

// Union is the search for what the words find together with the given hits of
// the vector retriever, in the order of Sort. It counts exactly what the pages of a
// search by words and meaning hold.
func (s *Search) Union(hashes []library.AssetHash) *Search {
	out := *s
	near := clause{"bool": clause{"filter": []clause{s.KNNFilter, hashIn(hashes)}, "_name": ByMeaning}}
	words := s.Query
	if s.Size == 0 {
		words = s.Matching()
	}
	out.Query, out.bounds = shouldMatch(clause{"bool": clause{"must": []clause{words}, "_name": ByWords}}, near), nil
	out.MatchesNothing = false
	return &out
}

// Only is the search for the given neighbors, in the order of Sort.
func (s *Search) Only(hashes []library.AssetHash) *Search {
	out := *s
	out.Query, out.bounds = clause{"bool": clause{"filter": []clause{s.KNNFilter, hashIn(hashes)}}}, nil
	out.Scored, out.MatchesNothing = false, false
	return &out
}

// NearestFirst is the search of Neighbours in the order of nearness.
func (s *Search) NearestFirst() *Search {
	out := *s
	out.Sort = bestFirst
	return &out
}

// Matching is the query for what the words find, without a score.
func (s *Search) Matching() map[string]any {
	if s.bounds == nil {
		return s.Query
	}
	return s.bounds.wrap(s.inner, false)
}

// Exhaustive reports whether neighbors are compared one by one, so that the query
// for them matches all that have a vector and not the nearest alone.
func (s *Search) Exhaustive() bool { return s.exact }

// Excluding is the search without the given hits: what follows a head of them.
func (s *Search) Excluding(hashes []library.AssetHash) *Search {
	out := *s
	out.Query, out.bounds = clause{"bool": clause{"must": []clause{s.Query}, "must_not": []clause{hashIn(hashes)}}}, nil
	return &out
}

// Fetch is the search for the given hits alone, with the highlights of this one.
// Its order means nothing. That they match was found out before; it repeats what
// every hit fulfils, so what was trashed or made private since is not shown. Those that
// the words find have ByWords among their matched queries.
func (s *Search) Fetch(hashes []library.AssetHash) *Search {
	out := *s
	b := clause{"filter": []clause{hashIn(hashes), s.tenantFilter}}
	if s.Scored {
		b["should"] = []clause{{"constant_score": clause{"filter": s.Matching(), "boost": 0, "_name": ByWords}}}
	}
	out.Query, out.bounds = clause{"bool": b}, nil
	out.Scored, out.Aggs, out.PostFilter = false, nil, nil
	out.Sort = []any{byNumber}
	out.From, out.Size = 0, len(hashes)
	return &out
}

func hashIn(hashes []library.AssetHash) clause {
	values := make([]any, len(hashes))
	for i, h := range hashes {
		values[i] = string(h)
	}
	return clause{"terms": clause{"asset_h": values}}
}

// CountIn counts which of the given documents the words find.
func (s *Search) CountIn(hashes []library.AssetHash) *Search {
	out := *s
	out.Query, out.bounds = clause{"bool": clause{"filter": []clause{hashIn(hashes), s.Matching()}}}, nil
	out.Scored, out.Aggs, out.Highlight, out.PostFilter = false, nil, nil, nil
	out.From, out.Size = 0, 0
	return &out
}

// Among narrows what the words and conditions of a search find to some assets, without a score.
func (s *Search) Among(hashes []library.AssetHash) *Search {
	out := *s
	out.Query, out.bounds = clause{"bool": clause{"filter": []clause{s.Matching(), hashIn(hashes)}}}, nil
	out.Scored, out.Sort = false, newestFirst
	return &out
}
