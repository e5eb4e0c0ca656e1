package mcp

import (
	"encoding/json"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"pgregory.net/rapid"

	"vitrine/internal/randtest"
	"vitrine/op"
)

// TestResults_ReadsTheSameAsTextAndStructured holds for any text in it, also where
// mcp-go's own encoding is passed by.
func TestResults_ReadsTheSameAsTextAndStructured(t *testing.T) {
	randtest.Check(t, func(t *rapid.T) {
		value := map[string]any{rapid.String().Draw(t, "key"): rapid.String().Draw(t, "value"), "n": "\\\"\n\t\u2028<&>"}
		encoded, err := op.EncodeOutput(value)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "indented") {
			if encoded, err = json.MarshalIndent(value, "\r", "\t"); err != nil {
				t.Fatal(err)
			}
		}
		var r responseWriter
		message, err := json.Marshal(mcp.NewJSONRPCResultResponse(mcp.NewRequestId("a\"b"), r.result(encoded, "")))
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			ID     string
			Result struct {
				Content           []struct{ Type, Text string }
				StructuredContent json.RawMessage
			}
		}
		if err := json.Unmarshal(r.fill(message), &got); err != nil {
			t.Fatalf("the filled message is no JSON: %v", err)
		}
		if got.ID != `a"b` || len(got.Result.Content) != 1 || got.Result.Content[0].Type != "text" {
			t.Fatalf("the message around the result has changed: %+v", got)
		}
		if got.Result.Content[0].Text != string(encoded) || string(got.Result.StructuredContent) != string(encoded) {
			t.Fatalf("text %q and structured %q should both be %q", got.Result.Content[0].Text, got.Result.StructuredContent, encoded)
		}
	})
}
