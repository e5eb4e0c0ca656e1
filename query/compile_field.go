package query

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/mappings"
)

// pred compiles a condition on one field. It decides, it does not score.
func (c *compiler) pred(p *Pred) clause {
	f := p.Field
	if f.Type == TypeMetadata {
		return f.metadata(p)
	}
	if f.Index == mappings.AnnotationsField && c.viewer != "" {
		return shouldMatch(append([]clause{c.predOn(f, p)}, ownAnnotations(p, c.viewer)...)...)
	}
	return c.predOn(f, p)
}

// predOn compiles a condition on the index field of a field.
func (c *compiler) predOn(f *Field, p *Pred) clause {
	switch p.Op {
	case Equal:
		return c.equal(f, p.Value, p.Lo)
	case Contains:
		return wildcard(f.wild(), "*"+f.joined(escapeGlob(p.Value))+"*")
	case Match, MatchPhrase:
		m := clause{"query": expandCompounds(p.Value)}
		if n := slop(p.Value); n > 0 {
			m["slop"] = n
		}
		return clause{"match_phrase": clause{f.Index: m}}
	case Like:
		return f.like(p.Pattern)
	case Exists:
		if f.Exists != "" {
			return term(f.Exists, true)
		}
		return exists(f.Index)
	}
	return f.compare(p)
}

// joined writes a part of a name with any character for what joins its words: detail weaver
// is in detail_weaver_xl. In names of models a hyphen and an underscore join words too, as
// people and programs rename files: neon-haze is neon_haze.
func (f *Field) joined(part string) string {
	if !f.namesModels() {
		return strings.ReplaceAll(part, " ", "?")
	}
	return strings.NewReplacer(" ", "?", "-", "?", "_", "?").Replace(part)
}

// namesModels reports whether the values of a field are names of models.
func (f *Field) namesModels() bool {
	switch f.Index {
	case "model_names", "checkpoint_names", "lora_names", "gt_models":
		return true
	}
	return false
}

func (f *Field) wild() string {
	if f.Wild != "" {
		return f.Wild
	}
	return f.Index
}

func (c *compiler) equal(f *Field, v string, s *Scalar) clause {
	if f.ofRelatives() && slices.Contains(c.hidden, library.AssetHash(v)) {
		return matchNone()
	}
	switch f.Type {
	case TypeTag:
		return term(f.Index, mappings.NormTag(v))
	case TypeEnum:
		if f.Name == "has" && v == "annotation" && c.viewer != "" {
			return shouldMatch(f.terms[v], annotatedBy(c.viewer))
		}
		if f.terms != nil {
			return f.terms[v]
		}
	case TypeBool:
		return term(f.Index, v == "true")
	case TypeInt:
		return term(f.Index, s.integer())
	case TypeFloat:
		return term(f.Index, s.Number)
	case TypeAspect:
		return between(f.Index, s.Number*0.99, s.Number*1.01)
	case TypeDimensions:
		return sides(s, "eq")
	case TypeChain:
		return c.chain(v)
	case TypeParent:
		return term("parent_hs", v)
	case TypeCollection:
		return f.inCollection(v)
	case TypeNode:
		return nodeClause(v)
	case TypeParam:
		return term(f.Index, paramValue(v))
	case TypeName:
		switch {
		case f.Name == "model_name":
			return anyOf(f.Index, modelForms(v))
		case f.Name == "owner" && v == "me":
			return term(f.Index, cmp.Or(c.viewer, v))
		}
	}
	return term(f.Index, v)
}

// inCollection compiles the path of a collection or its collection_h. A run is in its
// experiment itself, so = before an experiment changes nothing.
func (f *Field) inCollection(v string) clause {
	path, exact := strings.CutPrefix(v, exactCollection)
	switch hash := library.AssetHash(path).Valid(); {
	case f.Name == "experiment" && hash:
		return term("experiment_h", path)
	case f.Name == "experiment":
		return term(f.Index, path)
	case exact:
		return term("collection_direct", path)
	case hash:
		return term("collection_h", path)
	}
	return term(f.Index, path)
}

// ofRelatives reports whether a field's value may be an asset whose relatives are found.
func (f *Field) ofRelatives() bool { return f.Type == TypeChain || f.Type == TypeParent }

// RelativesOf lists the assets whose relatives a query asks for, as in chain: and
// parent:, each once.
func (q *Query) RelativesOf() (list []library.AssetHash) {
	Visit(q.Tree, func(n Node, _ bool) bool {
		if p, ok := n.(*Pred); ok && p.Op == Equal && p.Field.ofRelatives() {
			if h := library.AssetHash(p.Value); h.Valid() && !slices.Contains(list, h) {
				list = append(list, h)
			}
		}
		return true
	})
	return list
}

// chain compiles chain:. The family of an asset is found by the lineage root
// that its own document has.
func (c *compiler) chain(v string) clause {
	switch v {
	case "true", "false":
		return term("chain", v == "true")
	}
	h := library.AssetHash(v)
	if c.index == "" {
		return shouldMatch(term("lineage_root", v), term("asset_h", v))
	}
	family := clause{"terms": clause{"lineage_root": clause{
		"index": c.index, "id": mappings.DocID(c.tenant, h), "path": "lineage_root", "routing": mappings.Routing(c.tenant),
	}}}
	return shouldMatch(family, term("asset_h", v))
}

// nodeClause compiles a node class, Class.input or Class.input=value.
func nodeClause(v string) clause {
	if strings.Contains(v, "=") {
		return term("gt_node_props", paramValue(v))
	}
	if strings.Contains(v, ".") {
		return shouldMatch(term("gt_nodes", v), prefix("gt_node_props", v+"="))
	}
	return term("gt_nodes", v)
}

// paramValue writes the value of key=value, or a bare one, as it is indexed.
func paramValue(v string) string {
	key, value, ok := strings.Cut(v, "=")
	if !ok {
		return mappings.CanonicalNumber(v)
	}
	return mappings.Param(strings.TrimSpace(key), strings.TrimSpace(value))
}

// like compiles a glob over a field.
func (f *Field) like(parts []string) clause {
	switch f.Type {
	case TypeText:
		return f.likeText(parts)
	case TypeEnum:
		var values []any
		for _, v := range f.matching(parts) {
			values = append(values, v)
		}
		return anyOf(f.Index, values)
	case TypeTag:
		spaced := make([]string, len(parts))
		for i, p := range parts {
			spaced[i] = strings.ReplaceAll(p, "_", " ")
		}
		parts = spaced
	case TypeNode:
		if strings.Contains(strings.Join(parts, ""), "=") {
			return likeKeyword("gt_node_props", "gt_node_props", parts)
		}
	case TypeCollection:
		if first, exact := strings.CutPrefix(parts[0], exactCollection); exact {
			parts = append([]string{first}, parts[1:]...)
			if f.Name == "collection" {
				return likeKeyword("collection_direct", "collection_direct", parts)
			}
		}
	}
	return likeKeyword(f.Index, f.wild(), parts)
}

// likeKeyword uses the cheaper prefix clause where the only wildcard is at the end.
func likeKeyword(index, wild string, parts []string) clause {
	if len(parts) == 2 && parts[1] == "" {
		return prefix(index, parts[0])
	}
	return wildcard(wild, joinGlob(parts))
}

// likeText matches the whole value or one of its words.
func (f *Field) likeText(parts []string) clause {
	var list []clause
	if f.Wild != "" {
		list = append(list, wildcard(f.Wild, joinGlob(parts)))
	}
	if parts[0] != "" {
		list = append(list, wildcard(f.Index, joinGlob(folded(parts))))
	}
	return shouldMatch(list...)
}

// compare compiles comparisons and ranges.
func (f *Field) compare(p *Pred) clause {
	if f.Type == TypeDimensions {
		return compareSides(p)
	}
	return clause{"range": clause{f.Index: p.limits(f.bound)}}
}

// limits returns the limits of a comparison or range; bound writes one, with last telling
// whether it is the last moment of a date that counts.
func (p *Pred) limits(bound func(s *Scalar, last bool) any) clause {
	r := clause{}
	switch p.Op {
	case Greater:
		r["gt"] = bound(p.Lo, true)
	case GreaterEq:
		r["gte"] = bound(p.Lo, false)
	case Less:
		r["lt"] = bound(p.Hi, false)
	case LessEq:
		r["lte"] = bound(p.Hi, true)
	case Between:
		if p.Lo != nil {
			r["gte"] = bound(p.Lo, false)
		}
		if p.Hi != nil {
			r["lte"] = bound(p.Hi, true)
		}
	}
	return r
}

// bound writes a scalar; of a date, its last millisecond or its first.
func (f *Field) bound(s *Scalar, last bool) any {
	switch {
	case f.Type == TypeDate && last:
		return instant(s.End)
	case f.Type == TypeDate:
		return instant(s.Start)
	case f.Type == TypeInt:
		return s.integer()
	}
	return s.Number
}

// integer writes a whole number exactly: a float would round seeds.
func (s *Scalar) integer() any {
	if s.Number < 0 {
		return int64(s.Number)
	}
	return s.Integer
}

func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func compareSides(p *Pred) clause {
	switch p.Op {
	case Greater:
		return sides(p.Lo, "gt")
	case GreaterEq:
		return sides(p.Lo, "gte")
	case Less:
		return sides(p.Hi, "lt")
	case LessEq:
		return sides(p.Hi, "lte")
	}
	var list []clause
	if p.Lo != nil {
		list = append(list, sides(p.Lo, "gte"))
	}
	if p.Hi != nil {
		list = append(list, sides(p.Hi, "lte"))
	}
	return all(list...)
}

// sides compares width and height; a side that may be anything is left out.
func sides(s *Scalar, op string) clause {
	var list []clause
	for _, side := range [...]struct {
		index string
		n     int
	}{{"width", s.W}, {"height", s.H}} {
		switch {
		case side.n == 0:
		case op == "eq":
			list = append(list, term(side.index, side.n))
		default:
			list = append(list, bounds(side.index, op, side.n))
		}
	}
	return all(list...)
}
