package query

import (
	"slices"
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
	bounds, err := newTenantFilter(req)
	if err != nil {
		return nil, err
	}
	s := &Search{From: req.Offset, Size: req.Limit, Ranked: len(req.Sort) == 0, exact: req.Shared}
	tree := s.takeSimilar(q.Tree)
	if err := s.similarTo(req.SimilarTo); err != nil {
		return nil, err
	}
	if err := s.compileTree(strings.TrimSpace(q.Text), tree, req, bounds); err != nil {
		return nil, err
	}
	if err := s.addFacets(req); err != nil {
		return nil, err
	}
	if s.Sort, err = sortBy(req.Sort, s.Scored, q.Tree); err != nil {
		return nil, err
	}
	return s, nil
}

// compileTree fills the queries for words and for neighbors.
func (s *Search) compileTree(typed string, tree Node, req Request, bounds *tenantFilter) error {
	c := &compiler{mode: req.Mode, tenant: req.Tenant, index: req.Index, viewer: req.Viewer, hidden: req.Hidden, typed: typed, words: countWords(tree), clauses: bounds.clauses, preds: map[*Pred]clause{}, leftOut: req.LeftOut}
	s.bounds, s.viewer, s.inner = bounds, req.Viewer, c.tree(tree)
	s.rank(c, tree)
	s.candidates = c.candidates(tree)
	if c.clauses > maxClauses {
		return tooComplex("In mode %s the query expands to %d clauses; at most %d are allowed. Use fewer words or fewer wildcards.", c.mode, c.clauses, maxClauses)
	}
	constant, _ := tree.(*Const)
	s.MatchesNothing = constant != nil && !constant.Value
	s.Scored = hasPositiveText(tree)
	s.Query = s.ranked(nil)
	s.TextForEmbedding = semanticText(tree)
	s.tenantFilter = bounds.wrap(nil, false)
	conditions := c.vectorFilter(tree, s.SimilarTo)
	s.KNNFilter, s.conditional = bounds.wrap(conditions, false), conditions != nil || len(bounds.filter) > bounds.own
	for _, t := range c.relaxable(tree) {
		if !slices.ContainsFunc(s.relax, func(w relaxableWord) bool { return w.text == t.Value }) {
			s.relax = append(s.relax, relaxableWord{t.Value, (&compiler{mode: req.Mode, tenant: req.Tenant}).text(t, filtering)})
		}
	}
	if req.Highlight {
		s.Highlight = c.highlight(tree)
	}
	return nil
}

// compiler turns a tree into one clause. What it makes knows nothing of the
// tenant: the tenant filter goes around it afterwards.
type compiler struct {
	mode    Mode
	tenant  library.TenantID
	index   string
	viewer  string              // owner id of the caller
	hidden  []library.AssetHash // see Request.Hidden
	typed   string              // the query as it came
	words   int                 // text leaves of the tree that may be negated or not
	clauses int                 // made so far, as the index counts them
	preds   map[*Pred]clause    // made so far: both retrievers have the same conditions
	leftOut []string            // words that need not match
	broad   bool                // compile what has any of the words
	narrows bool                // some words are required beside others
}

// tree compiles what an asset must fulfil. The constant ALL gives nil. In the modes
// that rank by class it scores; in the others it only decides, and rankers score.
func (c *compiler) tree(n Node) clause {
	if k, ok := n.(*Const); ok {
		if k.Value {
			return nil
		}
		return matchNone()
	}
	if c.mode == Exact || c.mode == Partial {
		return c.node(n, scoring)
	}
	return c.node(n, filtering)
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
			case c.ranksAll() && u != excluding && onlyText(x):
				text = append(text, x)
			default:
				must = append(must, c.node(x, u))
			}
		}
	}
	must = append(must, c.group(text, len(text) == len(n.Children), u)...)
	if u != scoring {
		filter, must = append(filter, must...), nil
	}
	b := clause{}
	put(b, "filter", filter)
	put(b, "must", must)
	put(b, "must_not", mustNot)
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
