package query

import (
	"strings"
	"testing"
)

const tenTerms = `neon street "rainy night" tag:city -tag:wip model:sdxl created:2024-01.. steps:20..30 (cat OR dog) status:approved`

func BenchmarkParseTenTerms(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(tenTerms, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGrammarOfTenTerms(b *testing.B) {
	r, _ := newReader(tenTerms, Options{})
	tokens := r.repair(r.lex())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parseTokens(tokens); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompileTenTerms(b *testing.B) {
	q, err := Parse(tenTerms, Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(q, Request{Tenant: tenantA}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseAndCompileTenTerms(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		q, err := Parse(tenTerms, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Compile(q, Request{Tenant: tenantA}); err != nil {
			b.Fatal(err)
		}
	}
}

// worst are texts of 4 KB that could make a careless step quadratic.
var worst = map[string]string{
	"words":            strings.Repeat("a ", 256),
	"different words":  worstWords(),
	"nested":           strings.Repeat("(", 32) + strings.Repeat("a ", 250) + strings.Repeat(")", 32),
	"open parens":      strings.Repeat("(", 4096),
	"paren pairs":      strings.Repeat("()", 2048),
	"quotes in words":  "a" + strings.Repeat(`"a`, 2047),
	"open word parens": strings.Repeat("a(", 2048),
	"unknown fields":   strings.Repeat("zzzzzzzzzz:x ", 256),
	"escapes":          strings.Repeat(`\a`, 2048),
	"operators":        strings.Repeat("NOT ", 1024),
	"or":               strings.Repeat("a OR ", 256),
	"minus":            strings.Repeat("-(", 2048),
	"stars":            strings.Repeat("*a", 2048),
	"one phrase":       `"` + strings.Repeat("a ", 2046) + `"`,
	"bad values":       strings.Repeat("status:x ", 256),
	"weights":          strings.Repeat("(a:1.2)", 585),
}

func worstWords() string {
	var b strings.Builder
	for i := range 256 {
		b.WriteString(strings.Repeat(string(rune('a'+i%26)), 1+i/26))
		b.WriteByte(' ')
	}
	return b.String()
}

func BenchmarkWorst(b *testing.B) {
	for name, text := range worst {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if q, err := Parse(text, Options{}); err == nil {
					_, _ = Compile(q, Request{Tenant: tenantA})
				}
			}
		})
	}
}
