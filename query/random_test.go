package query

import (
	"strings"

	"pgregory.net/rapid"

	"vitrine/query/internal/samples"
)

// queryText draws query texts: soups of pieces, with and without blanks between,
// and now and then any characters at all.
func queryText(most int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 9).Draw(t, "kind") == 0 {
			return rapid.StringN(0, 40, 200).Draw(t, "any")
		}
		var b strings.Builder
		for range rapid.IntRange(0, most).Draw(t, "pieces") {
			b.WriteString(rapid.SampledFrom(samples.Pieces).Draw(t, "piece"))
			b.WriteString(rapid.SampledFrom([]string{" ", " ", " ", "", " OR "}).Draw(t, "gap"))
		}
		return b.String()
	})
}
