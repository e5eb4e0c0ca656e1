package outreach

import (
	"cmp"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// KeyKind is one of the things that name a person.
type KeyKind string

// The kinds of keys.
const (
	KeyEmail    KeyKind = "email"
	KeyLinkedIn KeyKind = "linkedin_url"
	KeyProfile  KeyKind = "profile_url"
	KeyHandle   KeyKind = "handle"
	KeyWebsite  KeyKind = "website"
)

// KeyKinds lists the kinds by precedence.
var KeyKinds = []KeyKind{KeyEmail, KeyLinkedIn, KeyProfile, KeyHandle, KeyWebsite}

func (k KeyKind) rank() int { return slices.Index(KeyKinds, k) }

// Key is a normalized key: the same person's has the same value however it was written.
type Key struct {
	Kind  KeyKind
	Value string
}

// Shared reports whether several people may have the key: a company has one website and one
// page on LinkedIn, and a handle without its platform is anybody's.
func (k Key) Shared() bool {
	return k.Kind == KeyHandle || k.Kind == KeyWebsite || k.Kind == KeyLinkedIn && !strings.HasPrefix(k.Value, "linkedin.com/in/")
}

func compareKeys(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Kind.rank(), b.Kind.rank()), cmp.Compare(a.Value, b.Value))
}

// KeyError is the error of a key of a profile that is not valid.
type KeyError struct {
	Field   KeyKind
	Message string
}

// Keys returns the normalized keys of a profile, the strongest first, and what is wrong with
// those that are none. A profile on LinkedIn counts as one wherever it stands.
func (p *Profile) Keys() (keys []Key, wrong []KeyError) {
	for _, kind := range KeyKinds {
		raw := strings.TrimSpace(p.key(kind))
		if raw == "" {
			continue
		}
		k, err := NormalizeKey(kind, raw)
		if err != nil {
			wrong = append(wrong, KeyError{kind, err.Error()})
			continue
		}
		keys = append(keys, k)
	}
	slices.SortFunc(keys, compareKeys)
	return slices.Compact(keys), wrong
}

func (p *Profile) key(kind KeyKind) string {
	switch kind {
	case KeyEmail:
		return p.Email
	case KeyLinkedIn:
		return p.LinkedInURL
	case KeyProfile:
		return p.ProfileURL
	case KeyHandle:
		return p.Handle
	}
	return p.Website
}

// maxKey bounds a normalized key in bytes.
const maxKey = 2000

// NormalizeKey returns the key that a text is. Its errors are sentences for whoever sent it.
func NormalizeKey(kind KeyKind, raw string) (k Key, err error) {
	raw = norm.NFC.String(strings.TrimFunc(strings.ToValidUTF8(raw, "\uFFFD"), unseen))
	if strings.ContainsFunc(raw, func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r) || unseen(r) || r == unicode.ReplacementChar
	}) {
		return k, errors.New("It has spaces or characters that cannot be seen.")
	}
	switch kind {
	case KeyEmail:
		k.Kind = KeyEmail
		k.Value, err = normalizeEmail(raw)
	case KeyHandle:
		k.Kind = KeyHandle
		k.Value, err = normalizeHandle(raw)
	default:
		k, err = normalizeURL(kind, raw)
	}
	if err == nil && len(k.Value) > maxKey {
		err = errors.New("It is too long.")
	}
	return k, err
}

// unseen reports whether a character around or inside a key is there by accident of copying.
func unseen(r rune) bool {
	return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r)
}

var fold = cases.Fold()

// folded returns a text without differences of case and of compatible forms.
func folded(s string) string { return norm.NFKC.String(fold.String(norm.NFKC.String(s))) }

func normalizeEmail(s string) (string, error) {
	bad := errors.New("Expected an address such as ada@example.com.")
	if len(s) > 7 && strings.EqualFold(s[:7], "mailto:") {
		s, _, _ = strings.Cut(s[7:], "?")
	}
	s = strings.TrimSuffix(strings.TrimPrefix(s, "<"), ">")
	at := strings.LastIndexByte(s, '@')
	if at < 1 {
		return "", bad
	}
	local, host := folded(s[:at]), s[at+1:]
	if len(local) > 64 || strings.ContainsAny(local, `@,;:<>()[]\"`) || strings.HasPrefix(local, ".") || strings.HasSuffix(local, ".") || strings.Contains(local, "..") {
		return "", bad
	}
	domain, err := normalizeHost(host)
	if err != nil || net.ParseIP(domain) != nil {
		return "", bad
	}
	return local + "@" + domain, nil
}

// normalizeHost returns a host name in lower case ASCII, without dots at its end.
func normalizeHost(host string) (string, error) {
	host = strings.TrimRight(strings.NewReplacer("。", ".", "．", ".", "｡", ".").Replace(host), ".")
	ascii, err := idna.Lookup.ToASCII(norm.NFKC.String(host))
	if err != nil {
		return "", errors.New("Its host name is none.")
	}
	last := ascii[strings.LastIndexByte(ascii, '.')+1:]
	if addr, err := netip.ParseAddr(ascii); err == nil {
		return addr.String(), nil
	}
	if len(ascii) > 253 || last == ascii || last == "" || strings.Trim(last, "0123456789") == "" || strings.Contains(ascii, "..") || strings.HasPrefix(ascii, ".") {
		return "", errors.New("Its host name is none.")
	}
	return strings.ToLower(ascii), nil
}

func normalizeHandle(s string) (string, error) {
	platform, name, both := strings.Cut(s, ":")
	if !both {
		platform, name = "", s
	}
	name = strings.Trim(folded(name), "@/")
	if name == "" || strings.ContainsAny(name, "/?&<>\"") || both && platform == "" {
		return "", errors.New("Expected a handle such as @ada or github:ada.")
	}
	if platform = folded(platform); platform != "" {
		return platform + ":" + name, nil
	}
	return name, nil
}

// sameHosts maps hosts that show the same profiles.
var sameHosts = map[string]string{"twitter.com": "x.com", "mobile.twitter.com": "x.com", "mobile.x.com": "x.com", "m.facebook.com": "facebook.com", "fb.com": "facebook.com", "old.reddit.com": "reddit.com"}

// caseless are hosts whose profiles are the same in any case.
var caseless = []string{"x.com", "facebook.com", "github.com", "gitlab.com", "instagram.com", "reddit.com", "civitai.com", "huggingface.co", "bsky.app", "tiktok.com", "youtube.com"}

// normalizeURL returns the key of an address on the web: without scheme, www, port, query
// of trackers, fragment and slashes at the end.
func normalizeURL(kind KeyKind, s string) (Key, error) {
	bad := errors.New("Expected an address such as https://example.com/ada.")
	if kind == KeyLinkedIn && (strings.HasPrefix(s, "in/") || strings.HasPrefix(s, "/in/")) {
		s = "linkedin.com/" + strings.TrimPrefix(s, "/")
	}
	if !strings.Contains(s, "://") {
		s = "https://" + strings.TrimPrefix(s, "//")
	}
	u, err := url.Parse(s)
	if err != nil || !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https") || u.User != nil {
		return Key{}, bad
	}
	host, err := normalizeHost(u.Hostname())
	if err != nil {
		return Key{}, bad
	}
	host = strings.TrimPrefix(host, "www.")
	if other, ok := sameHosts[host]; ok {
		host = other
	}
	if port := u.Port(); port != "" && port != "80" && port != "443" {
		host += ":" + port
	}
	if !utf8.ValidString(u.Path) || strings.ContainsFunc(u.Path, unicode.IsControl) {
		return Key{}, bad
	}
	path := norm.NFC.String(u.Path) // decoded: %C3%A9 and é are one
	if onLinkedIn(host) {
		if kind == KeyWebsite && strings.Trim(path, "/") == "" {
			return Key{}, errors.New("LinkedIn itself is nobody's website.")
		}
		return linkedIn(path)
	}
	if kind == KeyLinkedIn {
		return Key{}, errors.New("Expected a profile on linkedin.com, such as https://www.linkedin.com/in/ada.")
	}
	path = cleanPath(path)
	if kind == KeyProfile && path == "" && u.RawQuery == "" {
		return Key{}, errors.New("Expected the address of a profile, not of a whole site.")
	}
	if slices.Contains(caseless, host) {
		path = folded(path)
	}
	value := host + path
	if q := u.Query(); kind == KeyProfile {
		for name := range q {
			if tracks(name) {
				q.Del(name)
			}
		}
		if len(q) > 0 {
			value += "?" + q.Encode() // sorted
		}
	}
	return Key{kind, value}, nil
}

// cleanPath returns a path without empty parts and a slash at its end.
func cleanPath(path string) string {
	var parts []string
	for p := range strings.SplitSeq(path, "/") {
		if p != "" && p != "." {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "/" + strings.Join(parts, "/")
}

// tracks reports whether a parameter of a query is about the visit, not about what is shown.
func tracks(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "utm_") || slices.Contains([]string{"fbclid", "gclid", "igsh", "igshid", "ref", "ref_src", "ref_url", "s", "si", "t", "source", "trk", "lang", "locale", "hl", "mc_cid", "mc_eid"}, name)
}

func onLinkedIn(host string) bool {
	return host == "linkedin.com" || strings.HasSuffix(host, ".linkedin.com")
}

// linkedIn returns the key of a page on LinkedIn: its kind and name, whatever the country of
// the host, the language at the end of the path and the query.
func linkedIn(path string) (Key, error) {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	if len(parts) > 0 && strings.EqualFold(parts[0], "mwlite") {
		parts = parts[1:]
	}
	if len(parts) < 2 {
		return Key{}, errors.New("Expected a profile such as https://www.linkedin.com/in/ada.")
	}
	kind, name := strings.ToLower(parts[0]), strings.TrimSpace(folded(parts[1]))
	switch kind {
	case "in", "company", "school", "showcase":
	case "pub": // of before 2014: the name and three numbers
		name = folded(strings.Join(parts[1:], "/"))
	default:
		return Key{}, errors.New("Expected a profile, company or school on LinkedIn, such as https://www.linkedin.com/in/ada.")
	}
	if name == "" {
		return Key{}, errors.New("Expected a profile such as https://www.linkedin.com/in/ada.")
	}
	return Key{KeyLinkedIn, "linkedin.com/" + kind + "/" + name}, nil
}
