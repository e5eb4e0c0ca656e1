package pipeline

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"vitrine/library"
	"vitrine/pipeline/expr"
)

// The text form of a pipeline: stages with a bar between them, each with its arguments in
// order and others as key=value:
//
//	search "neon" | where steps > 30 | sort created desc | limit 50 | set_tag best
//
// Values are words, numbers, texts in quotes, or JSON. where takes an expression.

// bareWord is a text that stands without quotes.
var bareWord = regexp.MustCompile(`^[\pL_*?/.][\pL\pN_*?./:+-]*$`)

// Text returns stages in the text form.
func Text(stages []library.PipelineStage) string {
	parts := make([]string, len(stages))
	for i, s := range stages {
		parts[i] = stageText(s)
	}
	return strings.Join(parts, " | ")
}

func stageText(s library.PipelineStage) string {
	words := []string{s.Type}
	config := maps.Clone(s.Config)
	if config == nil {
		config = map[string]any{}
	}
	if s.Type == "where" && s.ID+s.Name+s.OnError == "" {
		if text, ok := whereText(config); ok {
			words, config = append(words, text), map[string]any{}
		}
	}
	k := LookupKind(s.Type)
	if k != nil {
		for i, name := range k.Args {
			v, there := config[name]
			if !there || !positional(k, i, v) {
				break
			}
			delete(config, name)
			if list, ok := v.([]any); ok {
				for _, x := range list {
					words = append(words, valueText(x))
				}
				continue
			}
			words = append(words, valueText(v))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(config)) {
		words = append(words, name+"="+valueText(config[name]))
	}
	for _, extra := range [][2]string{{"stage_id", s.ID}, {"stage_name", s.Name}, {"on_error", s.OnError}} {
		if extra[1] != "" {
			words = append(words, extra[0]+"="+valueText(extra[1]))
		}
	}
	return strings.Join(words, " ")
}

// positional reports whether a value can stand as the argument at a place: lists only as the
// one argument that takes several, of texts or numbers and not empty; no text can be taken for
// a key.
func positional(k *Kind, i int, v any) bool {
	list, isList := v.([]any)
	several := severalArgs(k, i)
	if isList != several {
		return false
	}
	if !isList {
		_, isObject := v.(map[string]any)
		return !isObject && v != nil
	}
	return len(list) > 0 && !slices.ContainsFunc(list, func(x any) bool { s, ok := x.(string); return !ok || s == "" && false })
}

// severalArgs reports whether the argument at a place is a list that takes all words.
func severalArgs(k *Kind, i int) bool {
	p := k.Shape.Schema.Properties[k.Args[i]]
	return i == len(k.Args)-1 && p != nil && p.Type == "array"
}

// valueText writes a value: a word where it can be read as one again.
func valueText(v any) string {
	switch v := v.(type) {
	case string:
		if bareWord.MatchString(v) && !slices.Contains([]string{"true", "false", "null"}, v) {
			return v
		}
	case json.Number:
		return string(v)
	}
	raw, err := marshalPlain(v)
	if err != nil {
		return "null"
	}
	return raw
}

// marshalPlain encodes JSON without escapes for HTML.
func marshalPlain(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// comparisons are the operators that a condition has in the text form.
var comparisons = map[string]string{"": "=", "eq": "=", "ne": "!=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "contains": "contains", "starts_with": "starts_with", "ends_with": "ends_with", "matches": "matches"}

// whereText returns a condition as an expression, where reading that gives the same condition.
func whereText(config map[string]any) (string, bool) {
	if e, ok := config["expression"].(string); ok && len(config) == 1 {
		if c, simple := simpleCondition(e); !simple && c == nil && !hasBar(e) && !keyFirst.MatchString(e) && strings.TrimSpace(e) == e && e != "" {
			return e, true
		}
		return "", false
	}
	field, _ := config["field"].(string)
	operator, named := config["operator"].(string)
	symbol, ok := comparisons[operator]
	value, has := config["value"]
	if !ok || !named || operator == "" || !has || len(config) != 3 || !fieldWord.MatchString(field) {
		return "", false
	}
	text := field + " " + symbol + " " + literalText(value)
	back, simple := simpleCondition(text)
	if !simple {
		return "", false
	}
	a, _ := marshalPlain(back)
	b, _ := marshalPlain(config)
	return text, a == b
}

func literalText(v any) string {
	if s, ok := v.(string); ok {
		return expr.Quote(s)
	}
	return valueText(v)
}

var (
	fieldWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[\pL\pN_-]+)*$`)
	keyFirst  = regexp.MustCompile(`^\s*(field|operator|value|all|any|not|query|expression|stage_id|stage_name|on_error)\s*=[^=]`)
	// simple is a field, an operator and one literal.
	simple = regexp.MustCompile(`^\s*([A-Za-z_][A-Za-z0-9_]*(?:\.[\pL\pN_-]+)*)\s*(=|!=|>=|<=|>|<|\bcontains\b|\bstarts_with\b|\bends_with\b|\bmatches\b)\s*("(?:[^"\\]|\\["\\nt])*"|-?(?:0|[1-9]\d*)(?:\.\d+)?|true|false)\s*$`)
)

// simpleCondition reads a comparison of a field with a literal.
func simpleCondition(text string) (map[string]any, bool) {
	m := simple.FindStringSubmatch(text)
	if m == nil {
		return nil, false
	}
	var v any
	if err := decodeExact([]byte(m[3]), &v); err != nil {
		return nil, false
	}
	for name, symbol := range comparisons {
		if symbol == m[2] && name != "" {
			return map[string]any{"field": m[1], "operator": name, "value": v}, true
		}
	}
	return nil, false
}

// hasBar reports whether a text has a bar outside quotes.
func hasBar(text string) bool { return len(splitStages(text)) > 1 }

// segment is a stage of a text, with its place in bytes.
type segment struct {
	text string
	at   int
}

// splitStages splits a text at the bars that stand outside quotes, brackets and braces.
func splitStages(text string) (list []segment) {
	from, depth, quote := 0, 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"':
			quote = c
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == '|' && depth <= 0:
			list, from = append(list, segment{text[from:i], from}), i+1
		}
	}
	return append(list, segment{text[from:], from})
}

// maxText is how long the text form of a pipeline may be.
const maxText = 64 << 10

// ParseText reads the text form. What is wrong is named with its place in the text.
func ParseText(text string) ([]library.PipelineStage, error) {
	if len(text) > maxText {
		return nil, library.Invalid(library.FieldError{Field: "text", Code: "length", Message: fmt.Sprintf("Expected at most %d KiB.", maxText>>10)})
	}
	var stages []library.PipelineStage
	var errs []library.FieldError
	for i, s := range splitStages(text) {
		stage, at, problem, hint := parseSegment(s.text, i)
		if problem != "" {
			errs = append(errs, library.FieldError{Field: "text", Code: "format", Message: problem + position(text, s.at+at), Hint: hint})
			continue
		}
		stages = append(stages, stage)
	}
	if len(errs) > 0 {
		return nil, library.Invalid(errs[:min(len(errs), 20)]...)
	}
	return stages, nil
}

var firstWord = regexp.MustCompile(`^\s*([A-Za-z_][A-Za-z0-9_-]*)(?:\s+|$)`)

// parseSegment reads one stage. A first one that begins with no stage's name is the query of
// a search.
func parseSegment(text string, index int) (s library.PipelineStage, at int, problem, hint string) {
	m := firstWord.FindStringSubmatchIndex(text)
	var k *Kind
	if m != nil {
		k = LookupKind(text[m[2]:m[3]])
	}
	switch {
	case k == nil && index == 0:
		return library.PipelineStage{Type: "search", Config: map[string]any{"query": strings.TrimSpace(text)}}, 0, "", ""
	case strings.TrimSpace(text) == "":
		return s, 0, "A stage is empty.", "Between two bars stands one stage, such as limit 50."
	case k == nil:
		names := make([]string, len(kinds))
		for i, k := range kinds {
			names[i] = k.Type
		}
		return s, len(text) - len(strings.TrimLeft(text, " \t\n")), "There is no such stage.", strings.TrimSpace(hintNear(strings.Fields(text)[0], names) + " There are " + strings.Join(names, ", ") + ".")
	}
	s = library.PipelineStage{Type: k.Type, Config: map[string]any{}}
	rest := text[m[1]:]
	if k.Type == "where" && !keyFirst.MatchString(rest) && strings.TrimSpace(rest) != "" {
		if c, ok := simpleCondition(rest); ok {
			s.Config = c
		} else {
			s.Config["expression"] = strings.TrimSpace(rest)
		}
		return s, 0, "", ""
	}
	offset, problem, hint := parseArgs(&s, k, rest)
	return s, m[1] + offset, problem, hint
}

// parseArgs reads the arguments of a stage.
func parseArgs(s *library.PipelineStage, k *Kind, text string) (at int, problem, hint string) {
	place := 0
	for i := 0; ; {
		for i < len(text) && strings.ContainsRune(" \t\r\n,", rune(text[i])) {
			i++
		}
		if i == len(text) {
			return 0, "", ""
		}
		key := ""
		if m := argKey.FindString(text[i:]); m != "" {
			key = strings.TrimSuffix(m, "=")
			i += len(m)
		}
		v, n, ok := readValue(text[i:])
		if !ok {
			return i, "This value cannot be read.", `A value is a word, a number, a text in "quotes", or JSON.`
		}
		if key == "" {
			if place == len(k.Args) {
				return i, "This stage takes no further argument.", argsHint(k)
			}
			if key = k.Args[place]; severalArgs(k, place) {
				list, _ := s.Config[key].([]any)
				s.Config[key] = append(list, textValue(v, text[i:i+n]))
				i += n
				continue
			}
			place++
		}
		i += n
		if word, isText := v.(string); isText && (key == "stage_id" || key == "stage_name" || key == "on_error") {
			*map[string]*string{"stage_id": &s.ID, "stage_name": &s.Name, "on_error": &s.OnError}[key] = word
			continue
		}
		if _, twice := s.Config[key]; twice {
			return i - n, "The argument " + key + " is there twice.", argsHint(k)
		}
		s.Config[key] = v
	}
}

// textValue returns a member of a list of texts: a number is the text that it is written as.
func textValue(v any, written string) any {
	if _, ok := v.(string); ok {
		return v
	}
	return written
}

func argsHint(k *Kind) string {
	return k.Type + " has " + strings.Join(slices.Sorted(maps.Keys(k.Shape.Schema.Properties)), ", ") + "."
}

var (
	argKey    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	argWord   = regexp.MustCompile(`^[^\s,|"\[\]{}=]+`)
	argNumber = regexp.MustCompile(`^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$`)
)

// readValue reads a value at the beginning of a text and how long it is.
func readValue(text string) (v any, n int, ok bool) {
	if text == "" {
		return nil, 0, false
	}
	switch text[0] {
	case '"', '[', '{':
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			return nil, 0, false
		}
		return v, int(d.InputOffset()), true
	}
	word := argWord.FindString(text)
	switch {
	case word == "":
		return nil, 0, false
	case word == "true" || word == "false":
		return word == "true", len(word), true
	case word == "null":
		return nil, len(word), true
	case argNumber.MatchString(word):
		return json.Number(word), len(word), true
	}
	return word, len(word), true
}
