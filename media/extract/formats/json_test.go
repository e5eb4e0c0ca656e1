package formats

import (
	"strings"
	"testing"
)

func TestJSON_OfPythonWritersIsRead(t *testing.T) {
	o := parseObject(`{"a": NaN, "b": -Infinity, "c": "NaN and Infinity", "d": [NaN, 1]}`)
	if o == nil || o["a"] != nil || o["b"] != nil {
		t.Fatalf("bare NaN must read as null: %v", o)
	}
	if got := o.name("c"); got != "NaN and Infinity" {
		t.Errorf("the words of a text were changed to %q", got)
	}
}

func TestJSON_SeedsKeepAll64Bits(t *testing.T) {
	for text, want := range map[string]uint64{
		"18446744073709551615": 18446744073709551615,
		"6952411511246973023":  6952411511246973023,
		"9007199254740993":     9007199254740993,
		"12.0":                 12,
	} {
		if got := parseSeed(text); got == nil || *got != want {
			t.Errorf("%s read as %v", text, got)
		}
	}
	for _, text := range []string{"-1", "", "1.5", "NaN", "1e300", "18446744073709551616", "seed"} {
		if got := parseSeed(text); got != nil {
			t.Errorf("%q read as %d, want nothing", text, *got)
		}
	}
}

func TestJSON_SizesAreReadInEverySpelling(t *testing.T) {
	for _, text := range []string{"1024x768", "1024 x 768", "(1024, 768)", "1024×768", "(1024,768)"} {
		if w, h := parseSize(text); w == nil || *w != 1024 || *h != 768 {
			t.Errorf("%q was not read", text)
		}
	}
	for _, text := range []string{"", "1024", "0x0", "x", "99999999x2"} {
		if w, _ := parseSize(text); w != nil {
			t.Errorf("%q gave a size", text)
		}
	}
}

func TestJSON_WrappedJSONIsUnwrapped(t *testing.T) {
	inner := `{"seed":7}`
	once, _ := unquoteJSON(`"{\"seed\":7}"`)
	twice, _ := unquoteJSON(`"\"{\\\"seed\\\":7}\""`)
	if once != inner || twice != inner {
		t.Errorf("unwrapped to %q and %q", once, twice)
	}
	if got, changed := unquoteJSON(`"a quoted sentence"`); changed || got != `"a quoted sentence"` {
		t.Error("a quoted sentence is no wrapped record")
	}
}

func TestJSON_DeepJSONIsRefusedNotFollowed(t *testing.T) {
	if o := parseObject(`{"a":` + strings.Repeat("[", 200_000)); o != nil {
		t.Error("an endless array was read")
	}
}
