package query

import (
	"errors"
	"io"

	"github.com/alecthomas/participle/v2"
	plex "github.com/alecthomas/participle/v2/lexer"

	"vitrine/library"
)

// The grammar, over repaired tokens. A production's Pos.Offset is the index of
// its first token.

type gOr struct {
	Ands []*gAnd `parser:"@@ ( Or @@ )*"`
}

type gAnd struct {
	Terms []*gTerm `parser:"@@ ( And? @@ )*"`
}

type gTerm struct {
	Pos   plex.Position
	Nots  []string `parser:"@Not*"`
	Field *gField  `parser:"( @@"`
	Group *gOr     `parser:"| Open @@ Close"`
	Leaf  *gLeaf   `parser:"| @@ )"`
}

type gField struct {
	Pos   plex.Position
	Name  string `parser:"@Field"`
	Group *gOr   `parser:"( Open @@ Close"`
	Leaf  *gLeaf `parser:"| @@ )"`
}

type gLeaf struct {
	Pos  plex.Position
	Text string `parser:"@( Word | Phrase | Bad )"`
}

var tokenTypes = map[string]plex.TokenType{
	"EOF": plex.EOF, "Word": typeOf(tokWord), "Phrase": typeOf(tokPhrase), "Field": typeOf(tokField), "Bad": typeOf(tokBad),
	"Open": typeOf(tokOpen), "Close": typeOf(tokClose), "And": typeOf(tokAnd), "Or": typeOf(tokOr), "Not": typeOf(tokNot),
}

func typeOf(k tokenKind) plex.TokenType { return plex.TokenType(k) + 1 }

// ourLexer gives participle its token types; texts never pass through it.
type ourLexer struct{}

func (ourLexer) Symbols() map[string]plex.TokenType { return tokenTypes }

func (ourLexer) Lex(string, io.Reader) (plex.Lexer, error) {
	return nil, errors.New("query: participle is fed repaired tokens only")
}

var grammar = participle.MustBuild[gOr](participle.Lexer(ourLexer{}))

// feed hands repaired tokens to participle.
type feed struct {
	tokens []token
	next   int
}

func (f *feed) Next() (plex.Token, error) {
	i := f.next
	if i >= len(f.tokens) {
		return plex.Token{Type: plex.EOF, Pos: plex.Position{Offset: i}}, nil
	}
	f.next++
	// The values are not looked at; they only have to be there.
	return plex.Token{Type: typeOf(f.tokens[i].kind), Value: "x", Pos: plex.Position{Offset: i}}, nil
}

// parseTokens runs the grammar. It fails only if the repair has a defect.
func parseTokens(tokens []token) (*gOr, error) {
	lex, err := plex.Upgrade(&feed{tokens: tokens})
	if err == nil {
		var g *gOr
		if g, err = grammar.ParseFromLexer(lex); err == nil {
			return g, nil
		}
	}
	f := library.NewFault(library.KindInvalid, library.CodeQuerySyntax, "The query cannot be read. Simplify it, for example by removing parentheses.")
	f.Cause = err
	return nil, f
}
