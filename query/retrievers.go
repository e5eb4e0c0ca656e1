package query

import "vitrine/library"

// The searches below ask for a part of what a search finds, or for it joined
// with hits of the vector arm. Each is a copy that shares its parts.

// Neighbours is the search for the k nearest neighbours of a vector instead of
// for words; see KNN. Its hits have scores, and without a sort of the request
// the nearest comes first.
func (s *Search) Neighbours(config string, vector []float32, k int) (*Search, error) {
	knn, err := s.KNN(config, vector, k)
	if err != nil {
		return nil, err
	}
	out := *s
	out.Query, out.Scored, out.MatchesNothing = knn, true, false
	if s.Ranked {
		out.Sort = bestFirst
	}
	return &out, nil
}

// Union is the search for what the words find together with the given hits of
// the vector arm, in the order of Sort. It counts exactly what the pages of a
// search by words and meaning hold.
func (s *Search) Union(hashes []library.AssetHash) *Search {
	out := *s
	near := clause{"bool": clause{"filter": []clause{s.KNNFilter, hashIn(hashes)}}}
	out.Query = shouldMatch(s.Query, near)
	out.MatchesNothing = false
	return &out
}

// Excluding is the search without the given hits: what follows a head of them.
func (s *Search) Excluding(hashes []library.AssetHash) *Search {
	out := *s
	out.Query = clause{"bool": clause{"must": []clause{s.Query}, "must_not": []clause{hashIn(hashes)}}}
	return &out
}

// Fetch is the search for the given hits alone, with the highlights of this one.
// Its order means nothing. That they match was found out before; it repeats what
// every hit fulfils, so what was trashed or made private since is not shown.
func (s *Search) Fetch(hashes []library.AssetHash) *Search {
	out := *s
	out.Query = clause{"bool": clause{"filter": []clause{hashIn(hashes), s.tenantFilter}}}
	out.Scored, out.Aggs, out.PostFilter = false, nil, nil
	out.Sort = byHash
	out.From, out.Size = 0, len(hashes)
	return &out
}

var byHash = []any{clause{"asset_h": clause{"order": "asc"}}}

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
	out.Query = clause{"bool": clause{"filter": []clause{hashIn(hashes), s.Query}}}
	out.Scored, out.Aggs, out.Highlight, out.PostFilter = false, nil, nil, nil
	out.From, out.Size = 0, 0
	return &out
}
