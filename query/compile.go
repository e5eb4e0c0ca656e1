package query

import (
	"strings"
	"time"

	"vitrine/library"
)

// Compile turns a query and the request around it into OpenSearch request parts.
// The error is a *library.Error: VALIDATION_FAILED for a bad request, and
// QUERY_TOO_COMPLEX for a query that expands to more clauses than the index takes.
func Compile(q *Query, req Request) (*Search, error) {
	if req.Mode == "" {
		req.Mode = Smart
	}
	if req.Zone == nil {
		req.Zone = time.UTC
	}
	if err := req.check(); err != nil {
		return nil, err
	}
	wall, err := newTenantFilter(req)
	if err != nil {
		return nil, err
	}
	s := &Search{From: req.Offset, Size: req.Limit, Ranked: len(req.Sort) == 0}
	tree := s.takeSimilar(q.Tree)
	if err := s.similarTo(req.SimilarTo); err != nil {
		return nil, err
	}
	if err := s.compileTree(strings.TrimSpace(q.Text), tree, req, wall); err != nil {
		return nil, err
	}
	if err := s.addFacets(req); err != nil {
		return nil, err
	}
	if s.Sort, err = sortBy(req.Sort, s.Scored); err != nil {
		return nil, err
	}
	return s, nil
}

// compileTree fills the query arms. A query of very many words is compiled again
// over fewer text fields rather than refused.
func (s *Search) compileTree(typed string, tree Node, req Request, wall *tenantFilter) error {
	c := &compiler{mode: req.Mode, tenant: req.Tenant, index: req.Index, typed: typed, words: countWords(tree), preds: map[*Pred]clause{}}
	var inner clause
	for _, c.tier = range textTiers {
		c.clauses = wall.clauses
		if inner = c.scored(tree); c.clauses <= maxClauses {
			break
		}
	}
	if c.clauses > maxClauses {
		return tooComplex("In mode %s the query expands to %d clauses; at most %d are allowed. Use fewer words or fewer wildcards.", c.mode, c.clauses, maxClauses)
	}
	if c.tier.narrow {
		s.Warnings = append(s.Warnings, Warning{Code: NarrowedFields, Message: "the query has so many words that only " + strings.Join(c.tier.names(), ", ") + " are searched for them", Suggestion: "use fewer words"})
	}
	constant, _ := tree.(*Const)
	s.MatchesNothing = constant != nil && !constant.Value
	s.Scored = hasPositiveText(tree)
	s.Query = wall.wrap(inner, s.Scored)
	s.TextForEmbedding = semanticText(tree)
	s.tenantFilter = wall.wrap(nil, false)
	s.KNNFilter = wall.wrap(c.vectorFilter(tree, s.SimilarTo), false)
	if req.Highlight {
		s.Highlight = highlight(inner, tree)
	}
	return nil
}

// compiler turns a tree into one clause. What it makes knows nothing of the
// tenant: the wall goes around it afterwards.
type compiler struct {
	mode    Mode
	tenant  library.TenantID
	index   string
	typed   string // the query as it came
	tier    *textTier
	words   int              // text leaves of the tree that may be negated or not
	clauses int              // made so far, as the index counts them
	preds   map[*Pred]clause // made so far: both arms have the same conditions
}

// scored compiles the tree for the lexical arm. The constant ALL gives nil.
func (c *compiler) scored(n Node) clause {
	if k, ok := n.(*Const); ok {
		if k.Value {
			return nil
		}
		return matchNone()
	}
	inner := c.node(n, scoring)
	if c.mode == Smart || c.mode == FullText {
		if whole := c.exactMatches(semanticText(n)); whole != nil {
			return clause{"bool": clause{"must": []clause{inner}, "should": whole}}
		}
	}
	return inner
}

// vectorFilter compiles what a nearest neighbour must also fulfil: the tree with
// its positive text taken as true, because the vector answers for it. Beside
// similar: the words stay conditions.
func (c *compiler) vectorFilter(n Node, similar library.AssetHash) clause {
	if similar == "" {
		n = simplify(Map(n, func(n Node, negated bool) Node {
			if t, ok := n.(*Text); ok && !negated {
				return &Const{Value: true, at: t.at}
			}
			return n
		}))
	}
	var list []clause
	switch k, ok := n.(*Const); {
	case !ok:
		list = append(list, c.node(n, filtering))
	case !k.Value:
		return matchNone()
	}
	if similar != "" {
		list = append(list, mustNot(term("asset_h", string(similar))))
	}
	if len(list) == 0 {
		return nil
	}
	return all(list...)
}

// clauseContext is what a clause is compiled for.
type clauseContext uint8

const (
	scoring   clauseContext = iota // it may add to the score
	filtering                      // it only decides
	excluding                      // it stands under a NOT
)

func (c *compiler) node(n Node, u clauseContext) clause {
	switch n := n.(type) {
	case *And:
		return c.and(n, u)
	case *Or:
		return c.or(n, u)
	case *Not:
		c.clauses++ // a NOT alone starts from everything
		return mustNot(c.node(n.Child, excluding))
	case *Text:
		return c.text(n, u)
	case *Pred:
		c.clauses++
		if n.Op == Match || n.Op == MatchPhrase {
			c.clauses += weight(n.Value)
		}
		x, made := c.preds[n]
		if !made {
			x = c.pred(n)
			c.preds[n] = x
		}
		return x
	case *anyValue:
		c.clauses++
		return n.clause()
	case *Const:
		if n.Value {
			return matchAll()
		}
	}
	return matchNone()
}

// and puts conditions into filter, negations into must_not, and text where it
// can score.
func (c *compiler) and(n *And, u clauseContext) clause {
	var text []Node
	var filter, must, mustNot []clause
	for _, child := range n.Children {
		switch x := child.(type) {
		case *Pred:
			filter = append(filter, c.node(x, filtering))
		case *Not:
			c.clauses++
			mustNot = append(mustNot, c.node(x.Child, excluding))
		case *Text:
			text = append(text, x)
		default:
			switch {
			case !hasPositiveText(x):
				filter = append(filter, c.node(x, filtering))
			case c.mode == Smart && u != excluding && onlyText(x):
				text = append(text, x)
			default:
				must = append(must, c.node(x, u))
			}
		}
	}
	groupMust, should := c.group(text, len(text) == len(n.Children), u)
	must = append(must, groupMust...)
	if u != scoring {
		filter, must = append(filter, must...), nil
	}
	b := clause{}
	put(b, "filter", filter)
	put(b, "must", must)
	put(b, "must_not", mustNot)
	put(b, "should", should)
	if len(should) > 0 && len(must)+len(filter) == 0 {
		b["minimum_should_match"] = 1
	}
	return clause{"bool": b}
}

func put(b clause, key string, list []clause) {
	if len(list) > 0 {
		b[key] = list
	}
}

// or collects the values of one field into one terms clause.
func (c *compiler) or(n *Or, u clauseContext) clause {
	children := groupValues(n.Children)
	list := make([]clause, len(children))
	for i, child := range children {
		x := c.node(child, u)
		if u == scoring && !hasPositiveText(child) {
			x = constantScore(x, 1)
		}
		list[i] = x
	}
	return shouldMatch(list...)
}

// hasPositiveText reports whether anything below a node can score.
func hasPositiveText(n Node) bool {
	found := false
	Visit(n, func(n Node, negated bool) bool {
		if _, ok := n.(*Text); ok && !negated {
			found = true
		}
		return !found
	})
	return found
}

// onlyText reports whether a subtree is made of nothing but positive text.
func onlyText(n Node) bool {
	only := true
	Visit(n, func(n Node, _ bool) bool {
		switch n.(type) {
		case *Not, *Pred, *Const:
			only = false
		}
		return only
	})
	return only
}

func countWords(n Node) int {
	words := 0
	Visit(n, func(n Node, _ bool) bool {
		if t, ok := n.(*Text); ok {
			words += 1 + strings.Count(t.Value, " ")
		}
		return true
	})
	return words
}

// semanticText joins the positive words and phrases of a tree in their order. Where
// all of them are marks, there is no meaning.
func semanticText(n Node) string {
	var words []string
	Visit(n, func(n Node, negated bool) bool {
		if t, ok := n.(*Text); ok && !negated && t.Kind != Glob {
			words = append(words, t.Value)
		}
		return true
	})
	if text := strings.Join(words, " "); hasWord(text) {
		return text
	}
	return ""
}
