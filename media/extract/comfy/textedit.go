package comfy

import (
	"regexp"
	"strings"
)

// edited handles nodes that change a text: replace, take out, trim, cut, change case.
func (r *texts) edited(n *node, side role) (s string, ok, done bool) {
	if n.has("tidy_tags") && n.has("text_a") {
		s, ok = r.stringFunction(n, side)
		return s, ok, true
	}
	in := n.in("string", "text", "Text", "input", "prompt")
	if in == nil {
		return "", false, false
	}
	find, repl := n.in("find", "regex_pattern", "find_string", "find1", "Find", "old", "search"), n.in("replace", "replacement", "replace_string", "replace1", "Replace", "new")
	switch {
	case find != nil && repl != nil:
		s, ok = r.replaced(n, in, find, repl, side)
		for i := '2'; i <= '9' && ok && n.has("find"+string(i)); i++ {
			s, ok = r.replacedIn(n, s, n.in("find"+string(i)), n.in("replace"+string(i)), side)
		}
	case find != nil && n.like("extracts_text"):
		s, ok = r.taken(n, in, find, side)
	case n.like("trims_text") && !n.like("no_trim"):
		s, ok = r.of(in, side)
		s = strings.TrimSpace(s)
	case n.like("cuts_text"):
		s, ok = r.of(in, side)
		from, to := r.values.whole(n, []string{"start"}), r.values.whole(n, []string{"end"})
		s = substring(s, from, to)
	case n.like("changes_case"):
		s, ok = r.of(in, side)
		mode, _ := r.values.scalar(n.in("mode", "case"), "mode")
		s = convertCase(s, mode)
	default:
		return "", false, false
	}
	return s, ok, true
}

// replaced returns a text in which a node put one text for another. ComfyUI's own
// node of regular expressions has a limit of replacements.
func (r *texts) replaced(n *node, in, find, repl *input, side role) (string, bool) {
	s, ok := r.of(in, side)
	if !ok {
		return "", false
	}
	return r.replacedIn(n, s, find, repl, side)
}

func (r *texts) replacedIn(n *node, s string, find, repl *input, side role) (string, bool) {
	f, known := r.of(find, side)
	to, toKnown := r.of(repl, side)
	switch {
	case !known && find != nil && find.linked() || !toKnown && repl != nil && repl.linked():
		r.notes.warn("words of a prompt were replaced by others that are not in the file")
		return "", false
	case f == "":
		return s, true
	}
	if !n.like("regex") && !n.on("use_regex") {
		return replaceText(s, f, to)
	}
	re := r.regexp(n, f)
	if re == nil {
		return "", false
	}
	most := -1
	if count := r.values.whole(n, []string{"count"}); count != nil && *count > 0 {
		most = *count
	}
	return replaceAll(re, s, pythonTemplate(to), most)
}

// taken returns what ComfyUI's RegexExtract took out of a text.
func (r *texts) taken(n *node, in, find *input, side role) (string, bool) {
	s, ok := r.of(in, side)
	f, _ := r.of(find, side)
	re := r.regexp(n, f)
	if !ok || re == nil {
		return "", false
	}
	mode, _ := r.values.scalar(n.in("mode"), "mode")
	group, most := 0, 1
	switch strings.ToLower(mode) {
	case "all matches":
		group, most = min(1, re.NumSubexp()), -1 // as findall: the first group, where there is one
	case "first group", "all groups":
		if i := r.values.whole(n, []string{"group_index"}); i != nil {
			group = *i
		} else {
			group = 1
		}
		if strings.EqualFold(mode, "all groups") {
			most = -1
		}
	}
	if group < 0 || group > re.NumSubexp() {
		return "", true
	}
	var out []string
	for _, m := range re.FindAllStringSubmatch(s, most) {
		out = append(out, m[group])
	}
	return strings.Join(out, "\n"), true
}

// stringFunction computes StringFunction of the custom scripts: it appends three
// texts, or replaces the second in the first by the third. A second text between
// slashes is a regular expression.
func (r *texts) stringFunction(n *node, side role) (string, bool) {
	var parts [3]string
	for i, name := range []string{"text_a", "text_b", "text_c"} {
		s, ok := r.of(n.in(name), side)
		if !ok && n.in(name) != nil {
			return "", false
		}
		parts[i] = s
	}
	action, _ := r.values.scalar(n.in("action"), "action")
	tidy, _ := r.values.scalar(n.in("tidy_tags"), "tidy_tags")
	s, ok := parts[0], true
	switch {
	case action != "replace":
		s = joinFilled(parts[:], truthy(tidy))
	case len(parts[1]) > 2 && parts[1][0] == '/' && strings.HasSuffix(parts[1], "/"):
		re := r.regexp(n, parts[1][1:len(parts[1])-1])
		if re == nil {
			return "", false
		}
		s, ok = replaceAll(re, s, pythonTemplate(parts[2]), -1)
	case parts[1] != "":
		s, ok = replaceText(s, parts[1], parts[2])
	}
	if truthy(tidy) {
		s = strings.ReplaceAll(manySpaces.ReplaceAllString(s, " "), " ,", ",")
		s = strings.TrimSpace(manyCommas.ReplaceAllString(s, ","))
	}
	return s, ok
}

var (
	manySpaces = regexp.MustCompile(`\s{2,}`)
	manyCommas = regexp.MustCompile(`,{2,}`)
)

func joinFilled(parts []string, tags bool) string {
	var filled []string
	for _, p := range parts {
		if p != "" {
			filled = append(filled, p)
		}
	}
	if tags {
		return strings.Join(filled, ", ")
	}
	return strings.Join(filled, "")
}

// Bounds of a regular expression of a graph.
const (
	maxPattern = 1 << 10 // bytes
	maxGroups  = 16
)

// regexp reads a node's regular expression, which is Python's, or returns nil with a
// warning. ComfyUI's own nodes look past case unless they are told not to.
func (r *texts) regexp(n *node, pattern string) *regexp.Regexp {
	flags := "(?"
	for _, f := range []struct {
		input, letter string
		usual         bool
	}{{"case_insensitive", "i", n.about != nil && n.about.pack == "comfy-core"}, {"multiline", "m", false}, {"dotall", "s", false}} {
		on := f.usual
		if v, ok := r.values.scalar(n.in(f.input), f.input); ok {
			on = truthy(v)
		}
		if on {
			flags += f.letter
		}
	}
	if flags == "(?" {
		flags = ""
	} else {
		flags += ")"
	}
	if len(pattern) <= maxPattern {
		re, err := regexp.Compile(flags + unicodeClasses(pattern))
		if err == nil && re.NumSubexp() <= maxGroups {
			return re
		}
	}
	r.notes.warn("a text was changed by a regular expression that cannot be followed")
	return nil
}

// unicodeClasses writes the classes of letters and digits as they are in Python,
// where they are those of all scripts.
func unicodeClasses(pattern string) string {
	var b strings.Builder
	inside := false
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == '\\' && i+1 < len(pattern):
			i++
			switch next := pattern[i]; {
			case next == 'd':
				b.WriteString(`\p{Nd}`)
			case next == 'w' && inside:
				b.WriteString(`\pL\pM\pN_`)
			case next == 'w':
				b.WriteString(`[\pL\pM\pN_]`)
			default:
				b.WriteString(pattern[i-1 : i+1])
			}
			continue
		case c == '[':
			inside = true
		case c == ']':
			inside = false
		}
		b.WriteByte(c)
	}
	return b.String()
}

// literally writes a text as a template that stands for itself.
func literally(s string) string { return strings.ReplaceAll(s, "$", "$$") }

// pythonTemplate writes Python's template of a replacement as Go's.
func pythonTemplate(s string) string {
	return pythonMark.ReplaceAllStringFunc(literally(s), func(mark string) string {
		switch mark {
		case `\n`:
			return "\n"
		case `\t`:
			return "\t"
		case `\\`:
			return `\`
		}
		group := strings.TrimPrefix(mark, `\`)
		if name, named := strings.CutPrefix(group, "g<"); named {
			group = strings.TrimSuffix(name, ">")
		}
		return "${" + group + "}"
	})
}

var pythonMark = regexp.MustCompile(`\\(\\|n|t|[0-9]{1,2}|g<[0-9A-Za-z_]{1,32}>)`)

// replaceText replaces a text by another, within the bounds of replaceAll. Both are
// valid UTF-8, as all that is read from a graph.
func replaceText(s, find, repl string) (string, bool) {
	return replaceAll(regexp.MustCompile(regexp.QuoteMeta(find)), s, literally(repl), -1)
}

// replaceAll replaces the first most matches, or all when most is negative. It gives
// up on a text that grows beyond what texts may.
func replaceAll(re *regexp.Regexp, s, template string, most int) (string, bool) {
	var out []byte
	end, marks := 0, strings.Count(template, "$")
	for _, m := range re.FindAllStringSubmatchIndex(s, most) {
		if len(out)+len(template)+marks*(m[1]-m[0]) > 2*maxText {
			return "", false
		}
		out = append(out, s[end:m[0]]...)
		out = re.ExpandString(out, template, s, m)
		end = m[1]
	}
	return string(append(out, s[end:]...)), true
}

func substring(s string, from, to *int) string {
	rs := []rune(s)
	a, b := 0, len(rs)
	if from != nil {
		a = min(max(*from, 0), len(rs))
	}
	if to != nil {
		b = min(max(*to, a), len(rs))
	}
	return string(rs[a:b])
}

func convertCase(s, mode string) string {
	switch strings.ToLower(mode) {
	case "uppercase", "upper":
		return strings.ToUpper(s)
	case "lowercase", "lower":
		return strings.ToLower(s)
	}
	return s
}

// optionText matches the words of choices and the names of hosted models, of which no
// prompt consists: "true", "720p", "16:9", "kling-v2-6".
var optionText = regexp.MustCompile(`^(?i:true|false|none|null|auto|enable[d]?|disable[d]?|fixed|randomize|increment|decrement|\d+(\.\d+)?[kp]?|\d+[:x]\d+|[a-z]+(-[a-z0-9.]+)*-v?\d[a-z0-9.-]*|[a-z]+(-[a-z0-9]+)+-(image|video|pro|turbo|lite)(-[a-z]+)?)$`)

// proseLike reports whether a text may be a prompt: files' names, choices, numbers and
// the names of samplers end in a text field where a table of names is of another
// version of a class.
func proseLike(text string) bool {
	t := strings.TrimSpace(text)
	return !isWeightFile(t) && !optionText.MatchString(t) && !samplerNamesKnown[t] && !schedulerNamesKnown[t]
}
