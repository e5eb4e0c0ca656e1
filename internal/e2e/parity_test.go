package e2e

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/internal/echo"
	"vitrine/op"
)

// TestOperations_AnswerTheSameOverRESTAndMCP calls each with its example, with
// identifiers of nothing, with an unknown argument and with nothing at all. A write
// is taken to its settled state first, so that asking again gives the same answer.
// Reads come before all writes: the index shows a write at any moment.
func TestOperations_AnswerTheSameOverRESTAndMCP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, readOnly := range []bool{true, false} {
		for _, era := range echo.Eras {
			c := w.mcp(era, w.Key)
			for _, o := range w.Catalog.Operations {
				if !o.RESTOnly && o.ReadOnly == readOnly {
					t.Run(string(era)+"/"+o.Name, func(t *testing.T) { w.sameOverBoth(t, c, o) })
				}
			}
		}
	}
}

// sameOverBoth calls an operation over REST and as a tool and compares the answers.
func (w world) sameOverBoth(t *testing.T, c *echo.Client, o op.Operation) {
	good := w.args(o)
	if !o.ReadOnly {
		w.rest(o, w.Key, maps.Clone(good))
	}
	bad := maps.Clone(good)
	bad["nonsense"] = "x"
	cases := map[string]map[string]any{"example": good, "unknown argument": bad}
	if !hasPathArgument(o) { // else there is no such route
		cases["nothing"] = map[string]any{}
	}
	for _, id := range o.Identifiers {
		if value, ok := nowhere[id.Kind]; ok {
			cases["no such "+id.String()] = id.With(good, value)
		}
	}
	for name, args := range cases {
		status, rest := w.rest(o, w.Key, maps.Clone(args))
		if o.Attaches {
			delete(rest, "attachments") // over MCP they are blocks of their own; TestDeck_IsAPDF… compares them
		}
		isError, mcp := w.tool(c, o, maps.Clone(args))
		if isError != (status >= 400) {
			t.Errorf("%s: REST answers %d, MCP isError is %v", name, status, isError)
		}
		if diff := cmp.Diff(volatile(rest), volatile(mcp)); diff != "" {
			t.Errorf("%s: REST (-) and MCP (+) differ: %s", name, diff)
		}
	}
}

func hasPathArgument(o op.Operation) bool {
	for i := range o.Path {
		if o.Path[i] == '{' {
			return true
		}
	}
	return false
}

// TestOperations_EveryExampleWorks: what the documents show must run as it stands there.
func TestOperations_EveryExampleWorks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for o, args := range w.examples(w.Catalog.Operations) {
		if status, answer := w.rest(o, w.Key, args); status >= 300 {
			t.Errorf("%s answered %d %v", o.Name, status, answer)
		}
	}
}
