package deck

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// fontSums are the SHA-256 sums of the fonts as their packages have them.
var fontSums = map[string]string{
	"Inter-Regular":     "a414b48aa577ef2c62ebb135341ddeef33ee26a4f5dc9f787f93c1aab08ebb50",
	"Inter-SemiBold":    "f30e9d2574c3bec5144347ff965f9841c8f06857f0b7383000f8c9489a161841",
	"DejaVuSans":        "7da195a74c55bef988d0d48f9508bd5d849425c1770dba5d7bfc6ce9ed848954",
	"DroidSansFallback": "56d3edfb377a8bc3c4b77f4476405c770173c0e31221ad7c77d0a8e1f3039a3e",
}

func TestFonts_AreThoseOfTheirPackagesAndHaveTheirLicenses(t *testing.T) {
	t.Parallel()
	files, err := fontFiles.ReadDir("fonts")
	if err != nil || len(files) != len(fontSums) {
		t.Fatalf("%d fonts: %v", len(files), err)
	}
	for name, want := range fontSums {
		data, err := fontData(name)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s is another font", name)
		}
		family, _, _ := strings.Cut(name, "-")
		if text, err := os.ReadFile("fonts/" + family + "-LICENSE.txt"); err != nil || !strings.Contains(string(text), "icense") && !strings.Contains(string(text), "ermission") {
			t.Errorf("%s has no license: %v", name, err)
		}
	}
}

// TestFonts_HaveTheCharactersOfTheWritingsThatAreAnnounced counts characters that become boxes.
func TestFonts_HaveTheCharactersOfTheWritingsThatAreAnnounced(t *testing.T) {
	t.Parallel()
	regular, bold, err := faces()
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string][2]rune{"Latin": {0x21, 0x7e}, "Latin-1": {0xa1, 0xff}, "Latin Extended-A": {0x100, 0x17f}, "Vietnamese": {0x1ea0, 0x1ef9}, "Greek": {0x3b1, 0x3c9}, "Cyrillic": {0x400, 0x45f},
		"Hiragana": {0x3041, 0x3093}, "Katakana": {0x30a1, 0x30f6}, "Hangul": {0xac00, 0xd7a3}, "Han": {0x4e00, 0x9fa5}, "arrows": {0x2190, 0x21ff}} {
		for c := r[0]; c <= r[1]; c++ {
			if c != 0xad && (!regular.Has(c) || !bold.Has(c)) { // a soft hyphen is not seen
				t.Errorf("%s: no font has %U", name, c)
				break
			}
		}
	}
	if regular.Has('\U0001F9FF') || regular.Has(0x13000) {
		t.Error("a character that no font has is said to be there")
	}
}
