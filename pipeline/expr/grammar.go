// Package expr is the small language of conditions and computed values in pipelines:
// steps > 30 and tool = "comfyui", or round(width / height, 2).
//
// In goes a text and the types of the fields that it may name; out comes a checked expression
// that is evaluated against the fields of one asset at a time. It is total: every expression
// has a value for every asset, missing where something is missing or cannot be, and its
// work is bounded by its length. Nothing in it reads or changes anything else.
package expr

import (
	"errors"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// The bounds of an expression.
const (
	MaxLength = 2000 // bytes
	maxDepth  = 32   // of parentheses and functions in each other
	maxResult = 10_000
)

type gOr struct {
	Pos   lexer.Position
	Parts []*gAnd `parser:"@@ ( 'or' @@ )*"`
}

type gAnd struct {
	Parts []*gNot `parser:"@@ ( 'and' @@ )*"`
}

type gNot struct {
	Not  bool      `parser:"@'not'?"`
	Test *gCompare `parser:"@@"`
}

type gCompare struct {
	Pos   lexer.Position
	Left  *gSum   `parser:"@@"`
	Not   bool    `parser:"( ( @'not' (?= 'in' ) )?"`
	In    []*gSum `parser:"  ( 'in' '(' @@ ( ',' @@ )* ')'"`
	Op    string  `parser:"  | @( '=' '='? | '!=' | '<>' | '<=' | '>=' | '<' | '>' | 'contains' | 'starts_with' | 'ends_with' | 'matches' )"`
	Right *gSum   `parser:"    @@ ) )?"`
}

type gSum struct {
	Left *gProduct `parser:"@@"`
	Rest []*gAdded `parser:"@@*"`
}

type gAdded struct {
	Pos  lexer.Position
	Op   string    `parser:"@( '+' | '-' )"`
	Term *gProduct `parser:"@@"`
}

type gProduct struct {
	Left *gUnary        `parser:"@@"`
	Rest []*gMultiplied `parser:"@@*"`
}

type gMultiplied struct {
	Pos  lexer.Position
	Op   string  `parser:"@( '*' | '/' | '%' )"`
	Term *gUnary `parser:"@@"`
}

type gUnary struct {
	Pos   lexer.Position
	Minus bool      `parser:"@'-'?"`
	Value *gOperand `parser:"@@"`
}

type gOperand struct {
	Pos    lexer.Position
	Number *string `parser:"  @Number"`
	Text   *string `parser:"| @String"`
	Call   *gCall  `parser:"| @@"`
	Field  *string `parser:"| @Ident"`
	Group  *gOr    `parser:"| '(' @@ ')'"`
}

type gCall struct {
	Pos  lexer.Position
	Name string `parser:"@Ident '('"`
	Args []*gOr `parser:"( @@ ( ',' @@ )* )? ')'"`
}

var tokens = lexer.MustSimple([]lexer.SimpleRule{
	{Name: "Number", Pattern: `\d+(?:\.\d+)?(?:[eE][+-]?\d+)?`},
	{Name: "String", Pattern: `"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`},
	{Name: "Ident", Pattern: `[A-Za-z_][A-Za-z0-9_]*(?:\.[\p{L}\p{N}_-]+)*|\x60[^\x60]+\x60`},
	{Name: "Op", Pattern: `!=|<>|<=|>=|[-+*/%=<>(),]`},
	{Name: "Space", Pattern: `\s+`},
})

var grammar = participle.MustBuild[gOr](participle.Lexer(tokens), participle.Elide("Space"), participle.UseLookahead(2), participle.CaseInsensitive("Ident"))

// SyntaxError is where and why a text is no expression.
type SyntaxError struct {
	Offset  int // in bytes, from 0
	Message string
	Hint    string
}

func (e *SyntaxError) Error() string { return e.Message }

func parse(text string) (*gOr, error) {
	if len(text) > MaxLength {
		return nil, &SyntaxError{MaxLength, "Expected at most 2,000 characters.", "Split it into two stages."}
	}
	if strings.TrimSpace(text) == "" {
		return nil, &SyntaxError{0, "The expression is empty.", `Write a condition such as steps > 30 and tool = "comfyui".`}
	}
	if at, deep := tooDeep(text); deep {
		return nil, &SyntaxError{at, "Parentheses are nested more than 32 levels deep.", "Split it into two stages."}
	}
	tree, err := grammar.ParseString("", text)
	var wrong participle.Error
	if errors.As(err, &wrong) {
		at := wrong.Position().Offset
		found := "the end"
		if at < len(text) {
			found = `"` + head(text[at:]) + `"`
		}
		return nil, &SyntaxError{at, "This cannot be read at " + found + ".",
			`Write comparisons such as steps > 30, title contains "fox" or status in ("Draft", "Rejected"), joined by and, or, not. Texts stand in quotes.`}
	}
	return tree, err
}

// head returns the first word of a text, shortened.
func head(s string) string {
	if i := strings.IndexAny(s, " \t\n"); i > 0 {
		s = s[:i]
	}
	return strings.ToValidUTF8(s[:min(len(s), 20)], "")
}

// tooDeep reports where parentheses, or signs and negations, are nested too deep for the
// parser, which calls itself.
func tooDeep(text string) (at int, deep bool) {
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '(':
			if depth++; depth > maxDepth {
				return i, true
			}
		case c == ')':
			depth--
		}
	}
	return 0, false
}

// unquote returns the text of a quoted one: a backslash takes the next character as it is,
// but \n and \t.
func unquote(s string) string {
	var b strings.Builder
	s = s[1 : len(s)-1]
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		switch i++; s[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// Quote returns a text as an expression writes it.
func Quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s) + `"`
}
