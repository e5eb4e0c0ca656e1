package query

// clause is one OpenSearch query clause, ready to marshal. Clauses are shared
// and never changed once made.
type clause = map[string]any

func term(field string, value any) clause {
	return clause{"term": clause{field: value}}
}

func anyOf(field string, values []any) clause {
	if len(values) == 1 {
		return term(field, values[0])
	}
	return clause{"terms": clause{field: values}}
}

func exists(field string) clause { return clause{"exists": clause{"field": field}} }

func prefix(field, value string) clause { return clause{"prefix": clause{field: value}} }

func bounds(field, op string, value any) clause {
	return clause{"range": clause{field: clause{op: value}}}
}

func between(field string, lo, hi any) clause {
	return clause{"range": clause{field: clause{"gte": lo, "lte": hi}}}
}

func matchAll() clause  { return clause{"match_all": clause{}} }
func matchNone() clause { return clause{"match_none": clause{}} }

// all matches what every clause matches, without scoring.
func all(clauses ...clause) clause {
	if len(clauses) == 1 {
		return clauses[0]
	}
	return clause{"bool": clause{"filter": clauses}}
}

// shouldMatch matches what any clause matches.
func shouldMatch(clauses ...clause) clause {
	if len(clauses) == 1 {
		return clauses[0]
	}
	return clause{"bool": clause{"should": clauses, "minimum_should_match": 1}}
}

func mustNot(clauses ...clause) clause {
	return clause{"bool": clause{"must_not": clauses}}
}

// constantScore gives every match of a clause the same score.
func constantScore(c clause, boost float64) clause {
	return clause{"constant_score": clause{"filter": c, "boost": boost}}
}

// disMax scores a match by its best clause.
func disMax(clauses ...clause) clause {
	if len(clauses) == 1 {
		return clauses[0]
	}
	return clause{"dis_max": clause{"queries": clauses}}
}
