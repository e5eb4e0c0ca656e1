package outreach_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"vitrine/outreach"
)

// TestNormalizeKey_TheSameAddressHasOneKey has groups of writings of one address; no two
// groups are the same.
func TestNormalizeKey_TheSameAddressHasOneKey(t *testing.T) {
	t.Parallel()
	seen := map[outreach.Key]string{}
	for _, group := range []struct {
		kind  outreach.KeyKind
		texts []string
	}{
		{outreach.KeyEmail, []string{"ada@example.com", " Ada@Example.COM ", "mailto:ada@example.com?subject=x", "<ADA@example.com.>", "ada@example。com", "ａｄａ@example.com", "\u200bada@example.com\ufeff"}},
		{outreach.KeyEmail, []string{"ada+fair@example.com"}},
		{outreach.KeyEmail, []string{"a.da@example.com"}},
		{outreach.KeyEmail, []string{"jörg@müller.example", "JÖRG@xn--mller-kva.example", "jo\u0308rg@MU\u0308LLER.example"}},
		{outreach.KeyEmail, []string{"strasse@example.com", "STRASSE@example.com", "straße@example.com"}},
		{outreach.KeyLinkedIn, []string{"https://www.linkedin.com/in/ada-example", "http://de.linkedin.com/in/Ada-Example/", "linkedin.com/in/ada-example/en", "linkedin.com/in/ada-example/de-de/?originalSubdomain=de&trk=x#top",
			"in/ada-example", "//uk.linkedin.com//in/ADA-EXAMPLE//", "https://m.linkedin.com/mwlite/in/ada-example", "www.linkedin.com./in/ada-example"}},
		{outreach.KeyLinkedIn, []string{"linkedin.com/in/j%C3%B6rg-m", "linkedin.com/in/jörg-m", "linkedin.com/in/jo\u0308rg-m", "linkedin.com/in/J%C3%96RG-M"}},
		{outreach.KeyLinkedIn, []string{"linkedin.com/company/ada-example", "https://fr.linkedin.com/company/ada-example/about/"}},
		{outreach.KeyLinkedIn, []string{"linkedin.com/pub/ada/1/2/3", "https://www.linkedin.com/pub/Ada/1/2/3/"}},
		{outreach.KeyProfile, []string{"https://github.com/Ada", "github.com/ada/", "http://www.GitHub.com/ada?utm_source=x"}},
		{outreach.KeyProfile, []string{"https://x.com/ada?s=20&t=abc", "https://twitter.com/Ada", "mobile.twitter.com/ada/"}},
		{outreach.KeyProfile, []string{"https://forum.example.com/user?id=7&utm_campaign=q", "forum.example.com/user?id=7"}},
		{outreach.KeyProfile, []string{"https://forum.example.com/user?id=8"}},
		{outreach.KeyProfile, []string{"https://art.example.com/Ada"}},
		{outreach.KeyProfile, []string{"https://art.example.com/ada"}},
		{outreach.KeyHandle, []string{"@Ada", "ada", "@ada/"}},
		{outreach.KeyHandle, []string{"GitHub:Ada", "github:@ada"}},
		{outreach.KeyWebsite, []string{"https://www.example.com/", "example.com", "HTTP://EXAMPLE.COM.:80/?q=1#x", "https://example.com:443"}},
		{outreach.KeyWebsite, []string{"https://example.com/studio/", "example.com/studio"}},
		{outreach.KeyWebsite, []string{"example.com:8080"}},
		{outreach.KeyWebsite, []string{"müller.example", "https://xn--mller-kva.example/", "MÜLLER.example."}},
	} {
		for i, text := range group.texts {
			k, err := outreach.NormalizeKey(group.kind, text)
			if err != nil {
				t.Errorf("%s %q: %v", group.kind, text, err)
				continue
			}
			if other, taken := seen[k]; taken && i == 0 {
				t.Errorf("%q has the key of %q", text, other)
			} else if !taken && i > 0 {
				t.Errorf("%q has the key %v, unlike %q", text, k, group.texts[0])
			}
			seen[k] = text
		}
	}
}

// TestNormalizeKey_WhatNamesNobodyIsRefused has texts that are no keys.
func TestNormalizeKey_WhatNamesNobodyIsRefused(t *testing.T) {
	t.Parallel()
	for kind, texts := range map[outreach.KeyKind][]string{
		outreach.KeyEmail:    {"ada", "@example.com", "ada@", "ada@localhost", "ada@@example.com", "a da@example.com", "a..b@example.com", ".a@example.com", "ada@127.0.0.1", "ada@example..com", "ada,ben@example.com", strings.Repeat("a", 65) + "@example.com", "ada@exa_mple.com"},
		outreach.KeyLinkedIn: {"https://example.com/in/ada", "linkedin.com", "linkedin.com/in/", "linkedin.com/feed/update/1", "https://evil-linkedin.com/in/ada", "linkedin.com.evil.example/in/ada"},
		outreach.KeyProfile:  {"https://github.com/", "ftp://example.com/ada", "javascript:alert(1)", "https://user:pass@example.com/ada", "https:///ada"},
		outreach.KeyHandle:   {"@", "a b", ":ada", "github:", "<script>"},
		outreach.KeyWebsite:  {"localhost", "exa mple.com", "http://", "linkedin.com", "a\u0000b.example"},
	} {
		for _, text := range texts {
			if k, err := outreach.NormalizeKey(kind, text); err == nil {
				t.Errorf("%s %q has the key %v", kind, text, k)
			}
		}
	}
}

// TestProfileKeys_AProfileOnLinkedInCountsWhereverItStands looks at the order and kinds of keys.
func TestProfileKeys_AProfileOnLinkedInCountsWhereverItStands(t *testing.T) {
	t.Parallel()
	p := outreach.Profile{Website: "example.com", ProfileURL: "https://linkedin.com/in/ada", LinkedInURL: "https://de.linkedin.com/in/Ada/de", Email: "ada@example.com"}
	keys, wrong := p.Keys()
	if len(wrong) > 0 || len(keys) != 3 || keys[0].Kind != outreach.KeyEmail || keys[1] != (outreach.Key{Kind: outreach.KeyLinkedIn, Value: "linkedin.com/in/ada"}) || keys[2].Kind != outreach.KeyWebsite {
		t.Errorf("keys %v, wrong %v", keys, wrong)
	}
}

// FuzzNormalizeKey: a key is valid text of bounded length, and normalizing it again leaves it as it is.
func FuzzNormalizeKey(f *testing.F) {
	for _, s := range []string{"ada@example.com", "https://de.linkedin.com/in/Ada/?x=%zz", "//x.com/a%2Fb", "ß@ß.ß", "xn--a@xn--a", "a\xff@b.c", "HTTPS://[::1]:80/x", "%2e%2e/in/x", "linkedin.com/in/a%3Fb", "@ſ:K", "http://a.b/?b=1&a=2;c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, kind := range outreach.KeyKinds {
			k, err := outreach.NormalizeKey(kind, s)
			if err != nil {
				continue
			}
			if !utf8.ValidString(k.Value) || k.Value == "" || len(k.Value) > 2000 || strings.ContainsRune(k.Value, 0) {
				t.Fatalf("%s %q has the key %q", kind, s, k.Value)
			}
			if again, err := outreach.NormalizeKey(kind, strings.ToUpper(s)); kind == outreach.KeyEmail && err == nil && strings.ToLower(strings.ToUpper(s)) == strings.ToLower(s) && isASCII(s) && again != k {
				t.Fatalf("%q has %v, in capitals %v", s, k, again)
			}
		}
	})
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
