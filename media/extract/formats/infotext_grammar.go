package formats

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"vitrine/internal/jsonscan"
)

// infotext is the text record of the A1111 family, taken apart:
//
//	the prompt, of any number of lines
//	Negative prompt: likewise
//	Steps: 20, Sampler: Euler a, Key: value, Key: "a value, quoted", Key: {json}
//
// Its reference is the "infotext" of AUTOMATIC1111's stable-diffusion-webui.
type infotext struct {
	prompt   string
	negative *string // nil when the text has no negative part
	settings settings
}

// settings are the pairs of the last line, in order; the first of two equal keys counts.
type settings []pair

type pair struct{ key, value string }

func (s settings) get(keys ...string) string {
	for _, key := range keys {
		for _, p := range s {
			if strings.EqualFold(p.key, key) {
				return p.value
			}
		}
	}
	return ""
}

// number is get without what unquoted commas have appended to a number.
func (s settings) number(keys ...string) string {
	value, _, _ := strings.Cut(s.get(keys...), ",")
	return strings.TrimSpace(value)
}

const (
	negativeMark = "Negative prompt:"
	maxSettings  = 1000 // pairs read from one text
	maxKey       = 80   // bytes of a key
)

// core are the settings by which a line is known as the settings line.
var core = map[string]bool{
	"steps": true, "sampler": true, "cfg scale": true, "seed": true, "size": true,
	"model": true, "model hash": true, "schedule type": true, "clip skip": true, "version": true, "denoising strength": true,
}

// parseInfotext takes a text apart. ok tells that it has a settings line, without
// which a text is just a text.
func parseInfotext(text string) (t infotext, ok bool) {
	text = strings.ReplaceAll(strings.Trim(text, "\x00\ufeff"), "\r\n", "\n")
	lines := strings.Split(text, "\n")
	at := settingsLine(lines)
	if at < 0 {
		return parseOneLine(text)
	}
	t.settings = parseSettings(lines[at])
	head := lines[:at]
	if strings.EqualFold(t.settings.get("App"), "SD.Next") {
		head = t.cutTemplates(head)
	}
	t.prompt, t.negative = splitPrompts(head)
	for _, line := range lines[at+1:] { // templates of prompt extensions follow the settings
		t.settings = append(t.settings, trailing(line)...)
	}
	return t, true
}

// cutTemplates takes the texts off before which SD.Next expanded wildcards and
// styles: they follow the prompts that were used.
func (t *infotext) cutTemplates(lines []string) []string {
	for i, line := range lines {
		if !strings.HasPrefix(line, "Template:") && !strings.HasPrefix(line, "Negative template:") {
			continue
		}
		for _, l := range lines[i:] {
			if key, value, ok := strings.Cut(l, ":"); ok && strings.HasSuffix(strings.ToLower(key), "template") {
				t.settings = append(t.settings, pair{key, strings.TrimSpace(value)})
			}
		}
		return lines[:i]
	}
	return lines
}

// settingsFollow reports whether a text that starts like a JSON object is a prompt
// in the form of one, with the settings of an infotext behind it.
func settingsFollow(text string) bool {
	if !looksLikeObject(text) {
		return false
	}
	at := strings.LastIndex(text, "\nSteps: ")
	if at < 0 {
		return false
	}
	line, _, _ := strings.Cut(text[at+1:], "\n")
	return stepsFirst.MatchString(line) && coreCount(line) >= 2
}

// settingsLine finds the line of settings: the last one that starts with a number
// of steps and names another core setting, since "Steps:" may also stand in a
// prompt; else the last that starts with a core setting and names three.
func settingsLine(lines []string) int {
	fallback := -1
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(lines[i])
		if !strings.Contains(line, ":") {
			continue
		}
		n := coreCount(line)
		if n >= 2 && stepsFirst.MatchString(line) {
			return i
		}
		if first, _, _ := strings.Cut(line, ":"); n >= 3 && fallback < 0 && core[strings.ToLower(first)] && generates(line) {
			fallback = i
		}
	}
	return fallback
}

// generates reports whether a line gives one of the numbers that every generation
// has: captions of photographs name a model and a size too.
func generates(line string) bool {
	s := parseSettings(line)
	return slices.ContainsFunc([]string{"Steps", "Seed", "CFG scale"}, func(key string) bool {
		_, err := strconv.ParseFloat(s.number(key), 64)
		return err == nil
	})
}

var stepsFirst = regexp.MustCompile(`^Steps: ?\d`)

func coreCount(line string) int {
	seen := map[string]bool{}
	for _, p := range parseSettings(line) {
		if k := strings.ToLower(p.key); core[k] {
			seen[k] = true
		}
	}
	return len(seen)
}

var inlineSettings = regexp.MustCompile(`(?:^|[\s,])(Steps: ?\d+, ?[A-Z][\w ]*: ?)`)

// parseOneLine reads a text whose line breaks were lost on the way.
func parseOneLine(text string) (t infotext, ok bool) {
	if len(text) > maxLines {
		return t, false
	}
	places := inlineSettings.FindAllStringSubmatchIndex(text, -1)
	if len(places) == 0 {
		return t, false
	}
	at := places[len(places)-1][2]
	if coreCount(text[at:]) < 3 {
		return t, false
	}
	head, negative, found := strings.Cut(text[:at], negativeMark)
	t.prompt = strings.TrimSpace(head)
	if found {
		negative = strings.TrimSpace(negative)
		t.negative = &negative
	}
	t.settings = parseSettings(text[at:])
	return t, true
}

// splitPrompts parts the lines before the settings at the line that starts the
// negative prompt. Lines keep their inner spaces; the ends are trimmed.
func splitPrompts(lines []string) (prompt string, negative *string) {
	for i, line := range lines {
		rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), negativeMark)
		if !ok {
			continue
		}
		n := strings.TrimSpace(strings.Join(append([]string{rest}, lines[i+1:]...), "\n"))
		return strings.TrimSpace(strings.Join(lines[:i], "\n")), &n
	}
	return strings.TrimSpace(strings.Join(lines, "\n")), nil
}

// trailing reads a line after the settings: one pair, or further settings.
func trailing(line string) settings {
	key, value, ok := strings.Cut(strings.TrimSpace(line), ":")
	if !ok || !isKey(key) {
		return nil
	}
	if strings.HasSuffix(key, "emplate") || strings.HasSuffix(key, "prompt") {
		return settings{{key, strings.TrimSpace(value)}}
	}
	return parseSettings(line)
}

// parseSettings reads "Key: value, Key: value". A value is a JSON string, a JSON
// object or array, or runs to the comma before the next key: writers do not
// always quote the commas they should.
func parseSettings(line string) settings {
	var out settings
	open := -1 // where the last value starts, while a further piece may belong to it
	for at := 0; at < len(line) && len(out) < maxSettings; {
		at += len(line[at:]) - len(strings.TrimLeft(line[at:], " \t,"))
		colon := keyEnd(line[at:])
		if colon >= 0 {
			key := strings.TrimSpace(line[at : at+colon])
			at += colon + 1
			at += len(line[at:]) - len(strings.TrimLeft(line[at:], " \t"))
			if n := structured(line[at:]); n > 0 {
				out = append(out, pair{key, unquote(line[at : at+n])})
				at, open = at+n, -1
				continue
			}
			out = append(out, pair{key: key})
			open = at
		}
		end := len(line)
		if comma := strings.IndexByte(line[at:], ','); comma >= 0 {
			end = at + comma
		}
		if open >= 0 {
			out[len(out)-1].value = strings.TrimSpace(line[open:end])
		}
		at = end
	}
	return out
}

// keyEnd returns the index of the colon that ends a key at the start of s, or -1.
func keyEnd(s string) int {
	colon := strings.IndexByte(s[:min(len(s), maxKey)], ':')
	if colon <= 0 || !isKey(s[:colon]) {
		return -1
	}
	if colon+1 < len(s) && !strings.ContainsRune(" \t\"{[", rune(s[colon+1])) && !core[strings.ToLower(s[:colon])] && !strings.EqualFold(s[:colon], "App") {
		return -1 // 16:9, https://…
	}
	return colon
}

func isKey(s string) bool {
	if s == "" || s != strings.TrimSpace(s) {
		return false
	}
	for i, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r >= utf8.RuneSelf:
		case i > 0 && strings.ContainsRune(" -/.+()'&", r):
		default:
			return false
		}
	}
	return true
}

// structured returns the length of the quoted string or JSON value that s starts
// with, when it is closed and a comma or the end follows; else 0.
func structured(s string) int {
	var n int
	switch {
	case strings.HasPrefix(s, `"`):
		n = stringEnd([]byte(s), 0)
		if n < 2 || s[n-1] != '"' {
			return 0
		}
	case strings.HasPrefix(s, "{"), strings.HasPrefix(s, "["):
		budget := jsonscan.MaxValues
		_, rest, ok := jsonscan.Parse(s, &budget)
		if !ok {
			return 0
		}
		n = len(s) - len(rest)
	default:
		return 0
	}
	if after := strings.TrimLeft(s[n:], " \t\n"); after != "" && after[0] != ',' {
		return 0
	}
	return n
}

func unquote(s string) string {
	if strings.HasPrefix(s, `"`) {
		if v, ok := parseJSON(s); ok {
			return v.Text
		}
		return strings.Trim(s, `"`)
	}
	return s
}
