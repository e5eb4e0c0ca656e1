package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// fuzzer writes arguments as JSON text: some valid, some wrong in ways that clients,
// fuzzers and attackers send. It writes text and not values, because duplicate keys,
// lone surrogates, numbers without end and invalid UTF-8 are no values.
type fuzzer struct {
	*rand.Rand
	known []string // identifiers that exist
}

func pick[T any](h fuzzer, from []T) T { return from[h.IntN(len(from))] }

func (h fuzzer) chance(percent int) bool { return h.IntN(100) < percent }

// alphabets are what long strings are made of: characters that some notation gives a
// meaning to, and those that take more than one byte.
var alphabets = []string{
	"-", "a", " ", "_", ".", "*", "?", "(", "[", "{", "\\", "\"", "'", "|", "&", "~", "#", "@", "<", ">", "/", ":", ",", "%", "$", "^", "+", "0", "9", "é", "狐", "🦊", "ﬀ", "İ",
	"\u0000", "\u0001", "\u001f", "\u007f", "\u0085", "\u00ad", "\u200b", "\u202e", "\u2028", "\ufeff", "\ufffd", "\U000e0041",
	"a ", "- ", "-a", "a-", "a*", "*a*", "ab_", "(a ", "not ", "a or ", "\"a\" ", "tag:", "x:(", "[a to b] ", "{1,9}", ".*", "(a+)+", "\\d", "\\", "a\n", "../", "%00", "';--",
	"e\u0301", "\u1160", "👩‍👩‍👧",
}

// lengths are around the bounds of what reads text: 100 and 128, 255, half and whole
// of OpenSearch's longest regular expression, terms and database keys, requests.
var lengths = []int{0, 1, 2, 3, 63, 65, 100, 127, 129, 200, 201, 255, 257, 300, 492, 512, 513, 999, 1001, 2049, 4097, 9000, 33000, 70000}

func (h fuzzer) text() string {
	n := pick(h, lengths)
	if h.chance(60) {
		n = min(n, 600)
	}
	var b strings.Builder
	switch h.IntN(3) {
	case 0:
		a := pick(h, alphabets)
		for b.Len() < n {
			b.WriteString(a)
		}
	case 1:
		for b.Len() < n {
			b.WriteString(pick(h, alphabets))
		}
	default:
		for b.Len() < min(n, 600) {
			b.WriteRune(rune(h.IntN(0x3000)))
		}
	}
	return b.String()
}

// phrases are texts that some field of some operation gives a meaning to.
var phrases = []string{
	"*", "-", "--", "\"", "fox", "lora:det", "tag:", "tag:(", "model:ae -model:", "created:2024", "created:>9999-12-31", "created:0000-00-00..", "created:-1d", "created:99999999999d",
	"steps:1..99999999999999999999", "seed:18446744073709551616", "cfg:nan", "width:1e999", "similar:", "similar:da39a3ee5e6b4b0d3255bfef95601890afd80709", "size:>1pb", "has:everything",
	"node:KSampler.cfg=7", "param:a=b=c", "chain:true", "and or not", "a NEAR b", "NOT NOT NOT a", "\"a b\"~999999", "fo?*x*", "/a.*b/", "{!lucene}a", "tenant_id:x", "_id:1", "*:*",
	"2024-02-30T25:61:61Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "-292277022399-01-01T00:00:00Z", "1", "-1", "1e400", "true", "null", "[]", "{}", "0x10",
	"00000000-0000-4000-8000-000000000001", "00000000-0000-0000-0000-000000000000", "da39a3ee5e6b4b0d3255bfef95601890afd80709", "DA39A3EE5E6B4B0D3255BFEF95601890AFD80709",
	"..", "../../etc/passwd", "C:\\a\\b", "a/b/c.png", ".png", "con", "a.png\x00.exe", "http://169.254.169.254/", "file:///etc/passwd", "data:,x", "javascript:alert(1)", "image/png", "image/", "/", "text/html; charset=\"",
	"iVBORw0KGgo=", "====", "aGVsbG8", "YQ==YQ==", "%2e%2e%2f", "%ff", "+", "=1+1", "<script>", "${jndi:ldap://x}", "{{7*7}}", "' OR 1=1 --", "\\u0000", "$1", "__proto__",
}

func (h fuzzer) word() string {
	switch h.IntN(5) {
	case 0:
		return h.text()
	case 1:
		return pick(h, h.known)
	case 2:
		return pick(h, phrases) + h.text()
	case 3:
		return pick(h, phrases) + pick(h, phrases)
	}
	return pick(h, phrases)
}

// quoted writes a string as JSON, sometimes with what JSON allows and text does not.
func (h fuzzer) quoted(s string) string {
	b, _ := json.Marshal(s)
	out := string(b)
	switch h.IntN(20) {
	case 0:
		return out[:len(out)-1] + `\ud800"`
	case 1:
		return out[:len(out)-1] + "\xff\xfe\xc0\x80\""
	case 2:
		return out[:len(out)-1] + `\udc00\ud800\u0000"`
	}
	return out
}

var numbers = []string{
	"0", "-0", "1", "-1", "2", "10", "100", "101", "1000", "10000", "10001", "2147483647", "2147483648", "-2147483649", "9007199254740993", "9223372036854775807",
	"9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616", "1e19", "1e308", "-1e308", "1e400", "1e-400", "0.1", "-0.0", "3.0", "2.5",
	"1E+2", "123456789012345678901234567890", strings.Repeat("9", 400), "0." + strings.Repeat("1", 400), "1e" + strings.Repeat("9", 30),
}

// nested writes arrays or objects in each other.
func (h fuzzer) nested() string {
	n := pick(h, []int{2, 20, 60, 63, 64, 65, 200})
	if h.chance(50) {
		return strings.Repeat("[", n) + strings.Repeat("]", n)
	}
	return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n)
}

// anything writes a value of any type.
func (h fuzzer) anything() string {
	switch h.IntN(9) {
	case 0:
		return pick(h, numbers)
	case 1:
		return h.nested()
	case 2:
		return pick(h, []string{"true", "false", "null", "[]", "{}", "[null]", "[[]]", `{"":""}`, `{"a":{"$ne":1}}`})
	case 3:
		n := pick(h, []int{1, 2, 50, 101, 1000})
		return "[" + strings.TrimSuffix(strings.Repeat(h.quoted(pick(h, phrases))+",", n), ",") + "]"
	case 4:
		return "{" + h.quoted(h.word()) + ":" + pick(h, numbers) + "}"
	}
	return h.quoted(h.word())
}

// value writes a value for a schema: of its type for the most part, and then within
// its bounds for about half.
func (h fuzzer) value(s *huma.Schema, depth int) string {
	if s == nil || depth > 6 || h.chance(12) {
		return h.anything()
	}
	if len(s.Enum) > 0 && h.chance(70) {
		b, _ := json.Marshal(pick(h, s.Enum))
		return string(b)
	}
	switch s.Type {
	case huma.TypeObject:
		return h.object(s, depth+1)
	case huma.TypeArray:
		n := pick(h, []int{0, 1, 1, 2, 3, 5, 20, 100, 101, 200})
		parts := make([]string, n)
		for i := range parts {
			if i > 0 && h.chance(60) { // the same again
				parts[i] = parts[i-1]
				continue
			}
			parts[i] = h.value(s.Items, depth+1)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case huma.TypeInteger, huma.TypeNumber:
		if s.Maximum != nil && h.chance(40) {
			return fmt.Sprintf("%.0f", *s.Maximum-float64(h.IntN(3)))
		}
		if h.chance(30) {
			return fmt.Sprint(h.IntN(20))
		}
		return pick(h, numbers)
	case huma.TypeBoolean:
		return pick(h, []string{"true", "false", "true", "false", "null", `"true"`, "1"})
	}
	if h.chance(35) {
		return h.quoted(pick(h, h.known))
	}
	return h.quoted(h.word())
}

// object writes an object of a schema: required fields mostly, others sometimes, and
// now and then one twice, in another spelling, or one that nobody knows.
func (h fuzzer) object(s *huma.Schema, depth int) string {
	var fields []string
	add := func(name, value string) { fields = append(fields, h.plainly(name)+":"+value) }
	for _, name := range sortedNames(s.Properties) {
		chance := 30
		if slices.Contains(s.Required, name) {
			chance = 95
		}
		if !h.chance(chance) {
			continue
		}
		add(name, h.value(s.Properties[name], depth))
		switch h.IntN(40) {
		case 0:
			add(name, h.value(s.Properties[name], depth))
		case 1:
			add(camel(name), h.value(s.Properties[name], depth))
		}
	}
	if len(s.Properties) == 0 || h.chance(8) {
		add(h.word(), h.anything())
	}
	h.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return "{" + strings.Join(fields, ",") + "}"
}

func sortedNames(properties map[string]*huma.Schema) []string {
	return slices.Sorted(maps.Keys(properties))
}

func (h fuzzer) plainly(name string) string {
	b, _ := json.Marshal(name)
	return string(b)
}

func camel(name string) string {
	parts := strings.Split(name, "_")
	for i, p := range parts {
		if i > 0 && p != "" {
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, "")
}
