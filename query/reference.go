package query

import (
	"fmt"
	"strings"
)

// Reference is the language as one Markdown page: operators, every field with
// its values and an example, the modes and the limits. It is printed from the
// field table, so it cannot miss a field.
func Reference() string {
	var b strings.Builder
	b.WriteString(referenceHead)
	group := ""
	for _, f := range Fields() {
		if f.Group != group {
			group = f.Group
			fmt.Fprintf(&b, "\n### %s\n\n| Field | Finds | Values | Example |\n|---|---|---|---|\n", group)
		}
		name := "`" + f.Name + "`"
		for _, a := range f.Aliases {
			name += ", `" + a + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | `%s` |\n", name, cell(f.Doc), cell(strings.Join(f.Accepts(), ", ")), cell(f.Example))
	}
	fmt.Fprintf(&b, referenceTail, MaxBytes, MaxLeaves, MaxDepth, MaxGlobs, MaxStars, MinGlobText)
	return b.String()
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

const referenceHead = `# Search language

Bare words and "quoted phrases" are searched in titles, tags, prompts, model names, descriptions and file names, and in smart mode by meaning. ` + "`field:value`" + ` filters.

| Write | To mean |
|---|---|
| ` + "`red cat`" + `, ` + "`red AND cat`" + ` | both |
| ` + "`red OR cat`" + ` | any of them; binds looser than AND |
| ` + "`NOT red`" + `, ` + "`-red`" + ` | not this word, phrase, field or group |
| ` + "`(a OR b) c`" + ` | a group |
| ` + "`\"red cat\"`" + ` | these words in this order |
| ` + "`port*`" + ` | a wildcard; ` + "`?`" + ` is an ordinary character |
| ` + "`tag:portrait`" + `, ` + "`tag:\"red hair\"`" + ` | a field has this value |
| ` + "`tag:(a OR b)`" + ` | the field of the whole group |
| ` + "`tag:*`" + `, ` + "`-tag:*`" + ` | the field has a value, has none |
| ` + "`steps:20..30`" + `, ` + "`created:2024-02..`" + ` | a range, ends included, an end may be open |
| ` + "`cfg:>=7`" + ` | a comparison: > >= < <= |
| ` + "`\\*`" + `, ` + "`\\(`" + ` | the character itself |

AND, OR and NOT are operators in capitals only; one that stands alone is a word, with a warning. Punctuation that stands alone is left out. Field names may be written in any case. ` + "`(words:1.2)`" + ` is read as the words, ` + "`<lora:name:0.8>`" + ` as the name. An unknown field is left out and its value searched as text, with a warning. A value that a field cannot have matches nothing, with a warning. A field without a value is ignored, with a warning.

` + "`metadata.client:acme`" + ` searches what was kept with an asset as asset_metadata, by key: the keys of objects within are joined by dots (` + "`metadata.shot.lens:50mm`" + `), case does not matter, and blanks, colons and other marks of a key are written ` + "`_`" + `. ` + "`metadata.rating:>=4`" + ` and ` + "`metadata.due:2026-01..2026-03`" + ` compare numbers and dates (YYYY-MM-DD), ` + "`metadata:acme`" + ` looks under all keys, ` + "`has:metadata.client`" + ` finds whatever has the key, and GetFacets counts the facet ` + "`metadata.client`" + `. Plain words do not search metadata.

## Fields
`

const referenceTail = `
## Modes

| Mode | A word matches |
|---|---|
| exact | a whole title, file name, tag or model name, or the words in order in title, description or prompt |
| partial | any part of a file name, title or model name; the beginning of a tag |
| fuzzy | as fulltext, with one or two slips per word |
| fulltext | the word anywhere; where nothing has all words, some are left out, and the answer names them |
| boolean | the word anywhere, the query exactly as written; slips are errors |
| smart | as fulltext, and pictures that mean the same |

Where nothing has all words, modes fulltext and smart leave out as few as possible, and the answer names them in ` + "`relaxed`" + `. A phrase in quotes is never left out. In mode smart each result tells by ` + "`matched`" + ` whether it has the words, only means the same, or both, and ` + "`total_by_words`" + ` counts those that have them. To tag or change all results, take those that have the words: a similar one may be there by chance.

## Limits

%d bytes, %d words and values, %d levels of parentheses, %d values with a wildcard, each with at most %d; a wildcard needs at least %d other characters.
`

// summaryFields are the fields that Summary names: what most queries need. The
// reference has them all, and a query with a mistyped one is answered with the nearest.
var summaryFields = []string{"title", "description", "filename", "tag", "status", "mime_type", "created", "tool", "prompt", "negative_prompt",
	"model", "lora", "base_model", "seed", "steps", "cfg", "sampler", "scheduler", "width", "height", "size", "collection", "has", "is"}

// Summary describes the language in at most 500 characters, for the description of a
// tool that takes a query: every client pays for it in every conversation.
func Summary() string {
	return `Words and "phrases" search titles, tags, prompts, models; field:value filters. AND, OR, NOT, -x, (groups), wild*, "quoted values", a..b, tag:* = has any. Dates YYYY[-MM[-DD]] or 7d. Example: neon street tag:(city OR night) -status:Rejected created:2024-01.. model:sdxl. Fields: ` +
		strings.Join(summaryFields, " ") + "; more in vitrine://query/language."
}
