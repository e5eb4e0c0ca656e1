package mcp

import (
	"encoding/json"
	"slices"
	"strings"
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

// BenchmarkResult encodes the answer to a search with 20 results, as this package does and
// as mcp-go would by itself: docs/design/mcp.md says why it is not left to mcp-go.
func BenchmarkResult(b *testing.B) {
	hit := map[string]any{"asset_h": strings.Repeat("0a", 20), "title": "a fox in \"snow\"", "tags": []string{"fox", "winter"}, "models": []string{"sdxl"}, "relevance_score": 12.5,
		"prompt": "a red fox in the snow, photo, 35mm, detailed fur, golden hour, shallow depth of field, frost on the grass"}
	encoded, err := op.EncodeOutput(map[string]any{"data": slices.Repeat([]map[string]any{hit}, 20), "total": 20})
	if err != nil {
		b.Fatal(err)
	}
	lines := strings.Repeat(strings.Repeat("0a", 20)+" | a fox in snow | fox winter | a red fox in the snow, photo, 35mm\n", 20)
	encode := func(b *testing.B, result *mcp.CallToolResult) []byte {
		message, err := json.Marshal(mcp.NewJSONRPCResultResponse(mcp.NewRequestId(1), result))
		if err != nil {
			b.Fatal(err)
		}
		return message
	}
	b.Run("ours", func(b *testing.B) {
		for b.Loop() {
			var r responseWriter
			r.fill(encode(b, r.result(encoded, lines)))
		}
	})
	b.Run("mcp-go", func(b *testing.B) {
		for b.Loop() {
			encode(b, &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(lines)}, StructuredContent: json.RawMessage(encoded)})
		}
	})
}
