package query

import (
	"errors"
	"io"

	"github.com/alecthomas/participle/v2"
	plex "github.com/alecthomas/participle/v2/lexer"

	"vitrine/library"
)

// The grammar, over repaired tokens:
//
//	or   = and { OR and }
//	and  = term { term }
//	term = LEAVES | OPEN or CLOSE
//
// What binds tighter is in the tokens already: a leaf or an opening parenthesis
// knows its field and whether it is negated, AND says no more than standing side
// by side, and leaves side by side are handed over as one token. participle
// spends microseconds per token and alternative, so few of both are what keeps
// parsing quick.

type gOr struct {
	Ands []*gAnd `parser:"@@ ( Or @@ )*"`
}

// gAnd reads its own tokens, as participle lets a production do: a list of
// alternatives is where participle's lookahead costs most.
type gAnd struct {
	Terms []gTerm
}

// gTerm holds the index of its first leaf, or of its opening parenthesis.
type gTerm struct {
	First int
	Group *gOr // nil: a run of leaves
}

// Parse implements participle.Parseable.
func (g *gAnd) Parse(lex *plex.PeekingLexer) error {
	for {
		t := lex.Peek()
		switch t.Type {
		case leafType:
			lex.Next()
			g.Terms = append(g.Terms, gTerm{First: t.Pos.Offset})
		case openType:
			lex.Next()
			group, err := grammar.ParseFromLexer(lex, participle.AllowTrailing(true))
			if err != nil {
				return err
			}
			if lex.Next().Type != closeType {
				return errUnclosed
			}
			g.Terms = append(g.Terms, gTerm{First: t.Pos.Offset, Group: group})
		default:
			if len(g.Terms) == 0 {
				return participle.NextMatch
			}
			return nil
		}
	}
}

var errUnclosed = errors.New("query: a group has no end")

const (
	leafType plex.TokenType = iota + 1
	openType
	closeType
	orType
)

var tokenTypes = map[string]plex.TokenType{
	"EOF": plex.EOF, "Leaves": leafType, "Open": openType, "Close": closeType, "Or": orType,
}

func typeOf(k tokenKind) plex.TokenType {
	switch k {
	case tokOpen:
		return openType
	case tokClose:
		return closeType
	case tokOr:
		return orType
	}
	return leafType
}

// tokenLexer gives participle its token types; texts never pass through it.
type tokenLexer struct{}

func (tokenLexer) Symbols() map[string]plex.TokenType { return tokenTypes }

func (tokenLexer) Lex(string, io.Reader) (plex.Lexer, error) {
	return nil, errors.New("query: participle is fed repaired tokens only")
}

var grammar = participle.MustBuild[gOr](participle.Lexer(tokenLexer{}))

// tokenSource hands repaired tokens to participle, a run of leaves as one; the offset of
// each is its index.
type tokenSource struct {
	tokens []token
	next   int
}

func (f *tokenSource) Next() (plex.Token, error) {
	i := f.next
	if i >= len(f.tokens) {
		return plex.Token{Type: plex.EOF, Pos: plex.Position{Offset: i}}, nil
	}
	kind := typeOf(f.tokens[i].kind)
	f.next++
	if kind == leafType {
		f.next = endOfLeaves(f.tokens, i)
	}
	return plex.Token{Type: kind, Pos: plex.Position{Offset: i}}, nil
}

func endOfLeaves(tokens []token, i int) int {
	for i < len(tokens) && typeOf(tokens[i].kind) == leafType {
		i++
	}
	return i
}

// parseTokens runs the grammar. It fails only if the repair has a defect.
func parseTokens(tokens []token) (*gOr, error) {
	lex, err := plex.Upgrade(&tokenSource{tokens: tokens})
	if err == nil {
		var g *gOr
		if g, err = grammar.ParseFromLexer(lex); err == nil {
			return g, nil
		}
	}
	f := library.NewError(library.KindInvalid, library.CodeQuerySyntax, "The query cannot be parsed. Simplify it, for example by removing parentheses.")
	f.Cause = err
	return nil, f
}
