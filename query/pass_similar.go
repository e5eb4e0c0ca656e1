package query

import "vitrine/library"

// resolveSimilar keeps similar: where it can be answered, once and beside other
// conditions. Under NOT or OR, or a second time, it is a bad value: one cannot
// rank by likeness and by its opposite.
func (r *reader) resolveSimilar(n Node) Node {
	seen := false
	return r.similarIn(n, true, &seen)
}

func (r *reader) similarIn(n Node, allowed bool, seen *bool) Node {
	switch n := n.(type) {
	case *And:
		for i, c := range n.Children {
			n.Children[i] = r.similarIn(c, allowed, seen)
		}
	case *Or:
		for i, c := range n.Children {
			n.Children[i] = r.similarIn(c, false, seen)
		}
	case *Not:
		n.Child = r.similarIn(n.Child, false, seen)
	case *Pred:
		if n.Field.Name != "similar" {
			return n
		}
		if allowed && !*seen {
			*seen = true
			return n
		}
		w := r.warn(BadValue, n.at, "similar: may be used once, and not with NOT or OR; the clause matches nothing")
		w.Field = n.Field.Name
		w.Suggestion = "run a second search for it"
		return bad(n.at)
	}
	return n
}

// takeSimilar takes the similar: condition out of a tree.
func (s *Search) takeSimilar(n Node) Node {
	found := false
	rest := Map(n, func(n Node, _ bool) Node {
		p, ok := n.(*Pred)
		if !ok || p.Field.Name != "similar" {
			return n
		}
		found = true
		s.SimilarTo = library.AssetHash(p.Value)
		return &Const{Value: true, at: p.at}
	})
	if !found {
		return n
	}
	return simplify(rest)
}

// similarTo adds the asset that the request names beside the text.
func (s *Search) similarTo(h library.AssetHash) error {
	if h != "" && s.SimilarTo != "" && h != s.SimilarTo {
		return library.Invalid(library.FieldError{Field: "similar_to_asset_h", Code: "conflict",
			Message: "The query names another asset with similar:.", Hint: "Name one asset, here or in the query."})
	}
	if h != "" {
		s.SimilarTo = h
	}
	return nil
}
