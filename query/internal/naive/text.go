package naive

import (
	"strconv"
	"strings"

	"vitrine/library"
	"vitrine/query"
)

// anywhere are the texts that bare words are looked for in.
var anywhere = []string{"title", "tags", "prompt", "model_names", "description", "filename"}

func (m matcher) text(t *query.Text, negated bool) bool {
	if t.Kind == query.Glob {
		return m.glob(t)
	}
	if m.named(strings.ToLower(t.Value), negated && m.mode == query.Smart) {
		return true
	}
	name := t.Value
	if t.Kind == query.Word && strings.Trim(name, ",;") != "" {
		name = strings.TrimRight(name, ",;")
	}
	switch m.mode {
	case query.Exact:
		return m.exact(name)
	case query.Partial:
		return m.partial(name)
	}
	fields := anywhere
	if negated && m.mode == query.Smart {
		fields = anywhere[:3]
	}
	return m.phraseIn(t.Value, fields...)
}

// named reports whether a text is the asset's hash or the beginning of it, its
// seed, a path to a file of its name, or the file of one of its models.
func (m matcher) named(v string, hashesOnly bool) bool {
	hex := strings.Trim(v, "0123456789abcdef") == ""
	if hex && len(v) >= 8 && len(v) <= 40 && strings.HasPrefix(string(m.d.AssetH), v) {
		return true
	}
	if hashesOnly {
		return false
	}
	if n, err := strconv.ParseUint(v, 10, 64); err == nil && len(v) >= 5 && m.d.Seed != nil && *m.d.Seed == n {
		return true
	}
	i := strings.LastIndexAny(v, `/\`)
	if dot := strings.LastIndexByte(v[i+1:], '.'); i >= 0 && dot > 0 && dot < len(v[i+1:])-1 && Fold(m.d.Filename) == Fold(v[i+1:]) {
		return true
	}
	name := library.FoldModelName(v)
	for _, n := range m.d.ModelNames {
		if !strings.HasSuffix(v, name) && Fold(n) == Fold(name) {
			return true
		}
	}
	return false
}

func (m matcher) phraseIn(v string, fields ...string) bool {
	for _, f := range fields {
		if m.prose[f].phrase(v) {
			return true
		}
	}
	return false
}

func (m matcher) exact(v string) bool {
	d, f := m.d, Fold(v)
	if Fold(d.Title) == f || Fold(d.Filename) == f {
		return true
	}
	for _, t := range d.Tags {
		if strings.ReplaceAll(Fold(t), "_", " ") == strings.ReplaceAll(f, "_", " ") {
			return true
		}
	}
	for _, n := range d.ModelNames {
		if n = Fold(n); n == f || n == library.FoldModelName(f) {
			return true
		}
	}
	return m.phraseIn(v, "title", "description", "prompt")
}

// partial: inside names and titles, at the beginning of tags, and the words of
// the title with the last one begun.
func (m matcher) partial(v string) bool {
	d, f := m.d, Fold(v)
	if len([]rune(v)) < 2 {
		return m.phraseIn(v, "title", "filename", "tags", "model_names")
	}
	if d.Title != "" && (strings.Contains(Fold(d.Title), f) || begun(Fold(d.Title), f)) || strings.Contains(Fold(d.Filename), f) {
		return true
	}
	for _, t := range d.Tags {
		if strings.HasPrefix(strings.ReplaceAll(Fold(t), "_", " "), strings.ReplaceAll(f, "_", " ")) {
			return true
		}
	}
	for _, n := range d.ModelNames {
		if strings.Contains(Fold(n), f) {
			return true
		}
	}
	return false
}

// begun reports whether a title has all words of v, the last one perhaps only begun.
func begun(title, v string) bool {
	have, want := simpleWords(title), simpleWords(v)
	if len(want) == 0 {
		return false
	}
	for i, w := range want {
		found := false
		for _, h := range have {
			found = found || h == w || (i == len(want)-1 && strings.HasPrefix(h, w))
		}
		if !found {
			return false
		}
	}
	return true
}

// simpleWords are the tokens before they are taken apart.
func simpleWords(s string) []string {
	var out []string
	for _, t := range tokens(s) {
		out = append(out, strings.Join(t.parts, "_"))
	}
	return out
}

// glob: whole names, titles and tags; and words of the prose unless the pattern
// begins with a wildcard.
func (m matcher) glob(t *query.Text) bool {
	d := m.d
	whole := append(append([]string(nil), d.Filename), d.ModelNames...)
	if d.Title != "" {
		whole = append(whole, d.Title)
	}
	for _, v := range whole {
		if glob(t.Pattern, Fold(v)) {
			return true
		}
	}
	spaced := strings.Split(strings.ReplaceAll(strings.Join(t.Pattern, "\x01"), "_", " "), "\x01")
	for _, v := range d.Tags {
		if glob(spaced, strings.ReplaceAll(Fold(v), "_", " ")) {
			return true
		}
	}
	if t.Pattern[0] == "" {
		return false
	}
	for _, f := range []string{"title", "prompt", "description"} {
		if m.prose[f].terms(func(w string) bool { return glob(t.Pattern, w) }) {
			return true
		}
	}
	return false
}
