package embed

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vitrine/internal/randtest"
	"vitrine/internal/testenv"
)

// The token numbers are those that the authors' tokenizer gives for this vocabulary.
func TestWordPiece_TokensAreThoseOfTheModelsOwnTokenizer(t *testing.T) {
	w := openModel(t, testenv.Model(t)).split
	for _, c := range []struct {
		name, text string
		want       []int32
	}{
		{"plain", "This is an example sentence", []int32{101, 2023, 2003, 2019, 2742, 6251, 102}},
		{"marks", "A fox, painted in watercolour; 4k!", []int32{101, 1037, 4419, 1010, 4993, 1999, 2300, 25778, 8162, 1025, 1018, 2243, 999, 102}},
		{"accents", "Éclair café naïve Ångström", []int32{101, 14925, 19771, 2099, 7668, 15743, 17076, 15687, 102}},
		{"Chinese and kana", "猫と犬 a 東京タワー", []int32{101, 100, 1666, 1908, 1037, 1879, 1755, 1709, 30262, 30265, 102}},
		{"hangul", "김치 볶음밥", []int32{101, 1455, 30019, 30023, 30001, 30019, 100, 102}},
		{"emoji", "\U0001f98a fox \U0001f469\u200d\U0001f680 moon", []int32{101, 100, 4419, 100, 4231, 102}},
		{"parts of words", "unaffable Übermensch", []int32{101, 14477, 20961, 3468, 19169, 3549, 11624, 102}},
		{"prompt", "<lora:detail_tweaker:0.8> (masterpiece:1.2)", []int32{101, 1026, 8840, 2527, 1024, 6987, 1035, 1056, 8545, 22626, 1024, 1014, 1012, 1022, 1028, 1006, 17743, 1024, 1015, 1012, 1016, 1007, 102}},
		{"blanks", "a\u0009b\u000ac\u00a0d\u3000e", []int32{101, 1037, 1038, 1039, 1040, 1041, 102}},
		{"controls", "x\u0000y\u200bz\ufffdq", []int32{101, 1060, 2100, 2480, 4160, 102}},
		{"odd capitals", "ǅ İstanbul ß ﬁ", []int32{101, 100, 9960, 1096, 1984, 102}},
		{"loose accents", "e\u0301 cafe\u0301", []int32{101, 1041, 7668, 102}},
		{"symbols", "don't $5 ^_^ ~x~ `y`", []int32{101, 2123, 1005, 1056, 1002, 1019, 1034, 1035, 1034, 1066, 1060, 1066, 1036, 1061, 1036, 102}},
		{"Greek, Cyrillic, Devanagari", "ελληνικά кот हिन्दी", []int32{101, 1159, 29727, 29727, 24824, 16177, 18199, 29726, 14608, 1189, 14150, 22919, 1339, 29877, 29863, 29861, 29878, 102}},
		{"tags", "1girl, best_quality, 8k", []int32{101, 1015, 15239, 1010, 2190, 1035, 3737, 1010, 1022, 2243, 102}},
		{"rare ideographs", "\U00020000 㐀", []int32{101, 100, 100, 102}},
		{"unassigned", "ab\U000621a5cd", []int32{101, 100, 102}},
		{"private use", "ab\ue000cd", []int32{101, 5925, 2094, 102}},
		{"formats", "ab\u00ad\u2066cd", []int32{101, 5925, 2094, 102}},
		{"nothing", "", []int32{101, 102}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, w.encode(c.text)); diff != "" {
				t.Errorf("%q (-want +got):\n%s", c.text, diff)
			}
		})
	}
}

func tinyTokens(t testing.TB, limit int, keepCase bool) *wordpiece {
	t.Helper()
	w, err := readVocabulary(strings.NewReader(tinyVocabulary), limit, keepCase)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWordPiece_LongTextsAreCutAtTheLimit(t *testing.T) {
	w := tinyTokens(t, 8, false)
	if diff := cmp.Diff([]int32{2, 4, 5, 4, 5, 4, 5, 3}, w.encode(strings.Repeat("red fox ", 1000))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int32{2, 4, 4, 4, 4, 4, 5, 3}, w.encode("red red red red red foxs")); diff != "" {
		t.Errorf("a word across the limit (-want +got):\n%s", diff)
	}
}

func TestWordPiece_AWordTooLongIsUnknownAsAWhole(t *testing.T) {
	w := tinyTokens(t, 300, false)
	if diff := cmp.Diff([]int32{2, 1, 4, 3}, w.encode("a"+strings.Repeat("s", 100)+" red")); diff != "" {
		t.Errorf("101 characters (-want +got):\n%s", diff)
	}
	if got := w.encode("a" + strings.Repeat("s", 99)); len(got) != 102 {
		t.Errorf("100 characters became %d tokens, want 102", len(got))
	}
}

func TestWordPiece_NoTextEndsItsOwnSequence(t *testing.T) {
	w := tinyTokens(t, 32, false)
	if got := w.encode("red [SEP] [CLS] [PAD] fox"); slices.Contains(got[1:len(got)-1], w.end) || slices.Contains(got[1:], w.start) {
		t.Errorf("%v holds a token that marks an end or a start", got)
	}
}

func TestWordPiece_AVocabularyWithCaseKeepsIt(t *testing.T) {
	if got := tinyTokens(t, 32, true).encode("Red red"); got[1] != 1 || got[2] != 4 {
		t.Errorf("%v; want Red to be unknown and red known", got)
	}
}

// Whatever the text, the sequence fits the model.
func TestWordPiece_EverySequenceFitsTheModel(t *testing.T) {
	w := tinyTokens(t, 16, false)
	randtest.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`([a-dA-D!,\s]|red|fox|s){0,60}`),
			rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) })).Draw(t, "text")
		ids := w.encode(text)
		if len(ids) < 2 || len(ids) > 16 || ids[0] != w.start || ids[len(ids)-1] != w.end {
			t.Fatalf("%q became %v", text, ids)
		}
		for _, id := range ids {
			if id < 0 || id > 14 {
				t.Fatalf("%q became %v", text, ids)
			}
		}
	})
}

func TestWordPiece_TheTextOfAnAsset(t *testing.T) {
	for name, c := range map[string]struct {
		title, prompt, description string
		tags                       []string
		want                       string
	}{
		"a prompt stands alone":   {"Fox 3", " red fox ", "mine", []string{"x"}, "red fox"},
		"else what people say":    {"Fox", "  ", "in the garden", []string{"red", "snow"}, "Fox. in the garden. red, snow"},
		"nothing":                 {"", "", " ", nil, ""},
		"bytes that are no UTF-8": {"", "a\xffb", "", nil, "ab"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Text(c.title, c.prompt, c.description, c.tags); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	if got := Text("", strings.Repeat("猫", 3000), "", nil); len(got) > maxTextBytes || !utf8.ValidString(got) || len(got) < maxTextBytes-3 {
		t.Errorf("a long prompt became %d bytes", len(got))
	}
}
