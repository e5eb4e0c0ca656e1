package query

import "vitrine/mappings"

// ownAnnotations compiles a condition on annotations for the private ones of the caller,
// which nobody else finds. Words with a wildcard are not looked for in them: the words that
// fit would be those of everybody's.
func ownAnnotations(p *Pred, viewer string) []clause {
	switch p.Op {
	case Exists:
		return []clause{annotatedBy(viewer)}
	case Match, MatchPhrase:
		return []clause{{"intervals": clause{mappings.PrivateAnnotationsField: clause{"all_of": clause{
			"ordered": true,
			"intervals": []clause{
				interval(mappings.AnnotationAuthor(viewer), 0),
				interval(expandCompounds(p.Value), slop(p.Value)),
			},
			"filter": clause{"not_containing": interval(mappings.AnnotationEnd, 0)},
		}}}}}
	}
	return nil
}

// interval matches words that follow each other with at most so many between them.
func interval(text string, gaps int) clause {
	return clause{"match": clause{"query": text, "ordered": true, "max_gaps": gaps, "analyzer": "prompt_search"}}
}

// annotatedBy compiles that somebody has a private annotation on an asset.
func annotatedBy(viewer string) clause {
	return term(mappings.AnnotationAuthorsField, viewer)
}
