package run

import (
	"fmt"
	"html"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vitrine/internal/randtest"
	"vitrine/mappings"
	"vitrine/query"
)

func mark(s string) string {
	return strings.NewReplacer("[", query.MarkStart, "]", query.MarkEnd).Replace(s)
}

func TestHighlight_TellPlacesInBytesAndCharacters(t *testing.T) {
	t.Parallel()
	got := parseHighlights(map[string][]string{mappings.Highlighted("prompt"): {mark("🦊 <b>[Füchse]</b> & ein [Fuchs]")}}, &mappings.Document{Prompt: "\n 🦊"})
	want := map[string]Highlight{"prompt": {
		Fragments: []string{"🦊 &lt;b&gt;<em>Füchse</em>&lt;/b&gt; &amp; ein <em>Fuchs</em>"},
		Matches:   []Match{{Offset: 10, Length: 7, RuneOffset: 7, RuneLength: 6}, {Offset: 28, Length: 5, RuneOffset: 24, RuneLength: 5}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := parseHighlights(map[string][]string{mappings.Highlighted("title"): {"nothing is marked"}}, &mappings.Document{}); len(got) != 0 {
		t.Errorf("without a match there is %v", got)
	}
}

func TestHighlight_OfALongTextThreePiecesAreShown(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 9 {
		fmt.Fprintf(&b, "%s [cat%d] ", strings.Repeat("word ", 60), i)
	}
	h := parseHighlights(map[string][]string{mappings.Highlighted("prompt"): {mark(b.String())}}, &mappings.Document{})["prompt"]
	if len(h.Matches) != 9 || len(h.Fragments) != 3 {
		t.Fatalf("%d matches, %d pieces", len(h.Matches), len(h.Fragments))
	}
	for i, f := range h.Fragments {
		if !strings.Contains(f, fmt.Sprintf("<em>cat%d</em>", i)) || !strings.HasPrefix(f, "… word") || !strings.HasSuffix(f, "word …") || len(f) > 400 {
			t.Errorf("piece %d is %q", i, f)
		}
	}
}

// A text without blanks is cut between any two characters, so a match can lie across
// the end of a piece.
func TestHighlights_MatchAcrossTheEndOfAPieceIsShownWhole(t *testing.T) {
	t.Parallel()
	for _, between := range []int{0, 50, 60, 65, 66, 67, 70, 400} {
		text := mark("[狐]" + strings.Repeat("森", between) + "[" + strings.Repeat("猫", 40) + "]" + strings.Repeat("空", 200) + "[鳥]" + strings.Repeat("海", 200))
		h := parseHighlights(map[string][]string{mappings.Highlighted("prompt"): {text}}, &mappings.Document{})["prompt"]
		all := strings.Join(h.Fragments, "")
		for _, want := range []string{"狐", strings.Repeat("猫", 40), "鳥"} {
			if strings.Count(all, "<em>"+want+"</em>") != 1 {
				t.Errorf("with %d characters between, %q is not shown once in %q", between, want, h.Fragments)
			}
		}
	}
}

func TestHighlight_HoldWhateverTheText(t *testing.T) {
	t.Parallel()
	randtest.Check(t, func(t *rapid.T) {
		var marked, plain strings.Builder
		var words []string
		for i := range rapid.IntRange(1, 12).Draw(t, "parts") {
			s := rapid.StringOfN(rapid.RuneFrom([]rune("aé狐🦊 <&\n")), 1, 120, -1).Draw(t, "part")
			plain.WriteString(s)
			if i%2 == 1 {
				words = append(words, s)
				s = query.MarkStart + s + query.MarkEnd
			}
			marked.WriteString(s)
		}
		h := parseHighlights(map[string][]string{mappings.Highlighted("prompt"): {marked.String()}}, &mappings.Document{})["prompt"]
		if len(h.Matches) != len(words) {
			t.Fatalf("%d matches of %d", len(h.Matches), len(words))
		}
		text, runes := plain.String(), []rune(plain.String())
		for i, m := range h.Matches {
			if text[m.Offset:m.Offset+m.Length] != words[i] || string(runes[m.RuneOffset:m.RuneOffset+m.RuneLength]) != words[i] {
				t.Fatalf("match %d is at %+v in %q", i, m, text)
			}
		}
		for _, f := range h.Fragments {
			shown := strings.TrimSuffix(strings.TrimPrefix(f, "… "), " …")
			shown = html.UnescapeString(strings.NewReplacer("<em>", "", "</em>", "").Replace(shown))
			if !utf8.ValidString(f) || !strings.Contains(text, shown) {
				t.Fatalf("%q is no piece of %q", f, text)
			}
		}
	})
}
