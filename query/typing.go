package query

import (
	"strings"

	"vitrine/library"
)

// typed reads the value of a field. What it cannot read becomes a clause that
// matches nothing, with a warning.
func (r *reader) typed(f *Field, t token) Node {
	if strings.TrimFunc(t.text, isBlank) == "" {
		return r.emptyValue(f, t)
	}
	if t.kind == tokWord && t.plain && f.Type != TypeText && strings.Contains(t.text, "?") {
		r.warnQuestionMark(t, f.Name)
	}
	if len(t.stars) > 0 && f.globs() {
		return r.globValue(f, t)
	}
	switch f.Type {
	case TypeInt, TypeFloat, TypeDate, TypeDimensions, TypeAspect:
		if len(t.stars) == 1 && t.text == "*" {
			return &Pred{Field: f, Op: Exists, at: t.at}
		}
		return r.scalarValue(f, t)
	case TypeText:
		if t.kind == tokPhrase {
			return &Pred{Field: f, Op: MatchPhrase, Value: oneLine(t.text), at: t.at}
		}
		return &Pred{Field: f, Op: Match, Value: t.text, at: t.at}
	case TypePart:
		return &Pred{Field: f, Op: Contains, Value: f.foldName(t.text), at: t.at}
	case TypeEnum:
		return r.enumValue(f, t)
	case TypeBool, TypeChain, TypeHash:
		if f.Type == TypeBool && len(t.stars) == 1 && t.text == "*" {
			return &Pred{Field: f, Op: Exists, at: t.at}
		}
		return r.wordValue(f, t)
	case TypeTag:
		return equal(f, oneLine(fold(t.text)), t)
	case TypeMIME:
		return mimeValue(f, t)
	case TypeParent:
		if h := strings.ToLower(t.text); library.AssetHash(h).Valid() {
			return equal(f, h, t)
		}
		return &Pred{Field: f, Op: Contains, Value: fold(t.text), at: t.at}
	case TypeCollection:
		return equal(f, collectionValue(t.text), t)
	case TypeNode:
		return r.nodeValue(f, t)
	case TypeMetadata:
		return r.metadataValue(f, t)
	}
	return nameNode(f, t)
}

// collectionValue returns a path as collections have it, or a collection_h. A leading =
// stays: it asks for the collection without those below it.
func collectionValue(text string) string {
	path, exact := strings.CutPrefix(fold(text), exactCollection)
	value := library.CollectionPath(path)
	if value == "" {
		value = strings.Trim(strings.ReplaceAll(path, "/", "."), ".")
	}
	if exact {
		return exactCollection + value
	}
	return value
}

// exactCollection before the path of a collection leaves out what is below it.
const exactCollection = "="

// emptyValue ignores a field that has no value yet.
func (r *reader) emptyValue(f *Field, t token) Node {
	r.warnEmpty(f, t.at)
	return ignored(t.at)
}

func (r *reader) warnEmpty(f *Field, at span) {
	w := r.warn(EmptyValue, at, "%s: has no value and was ignored", f.Name)
	w.Field, w.Suggestion = f.Name, f.Example
}

// foldName is fold, and for fields with models' names takes the folder and the
// weight file's ending off, which the index leaves out: names are mostly pasted.
// A path of a file stands for its last part.
func (f *Field) foldName(s string) string {
	switch f.Index {
	case "filename":
		if file := baseFilename(fold(s)); file != "" {
			return file
		}
	default:
		if !f.namesModels() {
			break
		}
		if name := library.FoldModelName(s); name != "" {
			return fold(name)
		}
	}
	return fold(s)
}

// globs reports whether values of the field may have wildcards.
func (f *Field) globs() bool {
	switch f.Type {
	case TypeText, TypeName, TypePart, TypeTag, TypeMIME, TypeNode, TypeParam, TypeCollection, TypeParent, TypeMetadata:
		return true
	case TypeEnum:
		return f.terms == nil
	}
	return false
}

func (r *reader) globValue(f *Field, t token) Node {
	parts := lowered(pattern(t))
	n := literals(parts)
	if n < MinGlobText {
		if n > 0 {
			r.shortGlob(t, f.Name)
		}
		return &Pred{Field: f, Op: Exists, at: t.at}
	}
	if f.Type == TypeText && f.Wild == "" && parts[0] == "" {
		return r.badValue(f, t, "a glob over "+f.Name+" must begin with a letter, as in port*")
	}
	if f.Type == TypeEnum && len(f.matching(parts)) == 0 {
		return r.badValue(f, t, "allowed are "+strings.Join(f.Values, ", "))
	}
	if f.Index == "sampler" {
		for i := range parts {
			parts[i] = strings.NewReplacer("++", "pp", " ", "_").Replace(parts[i]) // as in canonical names
		}
	}
	if f.Type == TypeCollection {
		for i := range parts {
			parts[i] = strings.ReplaceAll(parts[i], "/", ".")
		}
	}
	return &Pred{Field: f, Op: Like, Pattern: parts, at: t.at}
}

// fold is the form in which whole values are compared: lower case, outer blanks
// gone. Accents are folded by the index.
func fold(s string) string { return strings.ToLower(strings.TrimFunc(s, isBlank)) }

func equal(f *Field, v string, t token) Node {
	return &Pred{Field: f, Op: Equal, Value: v, at: t.at}
}

// badValue makes the clause match nothing. why says what is allowed.
func (r *reader) badValue(f *Field, t token, why string) Node {
	return r.badBecause(f, t, why, f.Example)
}

func (r *reader) badBecause(f *Field, t token, why, suggestion string) Node {
	w := r.warn(BadValue, t.at, "%s: cannot be %s: %s; the clause matches nothing", f.Name, excerpt(t.text), why)
	w.Field, w.Suggestion = f.Name, suggestion
	return bad(t.at)
}

func (r *reader) enumValue(f *Field, t token) Node {
	if v := f.enum(t.text); v != "" {
		return equal(f, v, t)
	}
	if key := metadataField(strings.TrimFunc(t.text, isBlank)); key != nil && f.Name == "has" {
		return &Pred{Field: key, Op: Exists, at: t.at}
	}
	suggestion := f.Example
	if v := nearest(squeeze(t.text), f.Values, squeeze); v != "" {
		suggestion = f.Name + ":" + v
	}
	return r.badBecause(f, t, "allowed are "+strings.Join(f.Values, ", "), suggestion)
}

// enum finds a value without regard to case, blanks, hyphens and underscores.
func (f *Field) enum(s string) string {
	s = squeeze(s)
	for _, v := range f.Values {
		if squeeze(v) == s {
			return v
		}
	}
	return ""
}

// matching lists the values of an enum that a glob covers.
func (f *Field) matching(parts []string) []string {
	var out []string
	for _, v := range f.Values {
		if globMatch(parts, strings.ToLower(v)) {
			out = append(out, v)
		}
	}
	return out
}

func squeeze(s string) string {
	return strings.Map(func(c rune) rune {
		if c == '_' || c == '-' || isBlank(c) {
			return -1
		}
		return c
	}, strings.ToLower(s))
}

// globMatch reports whether a whole string matches a pattern.
func globMatch(parts []string, s string) bool {
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return s == first
	}
	if !strings.HasPrefix(s, first) {
		return false
	}
	s = s[len(first):]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(s, p)
		if i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return strings.HasSuffix(s, last)
}

// wordValue reads booleans and asset hashes.
func (r *reader) wordValue(f *Field, t token) Node {
	v := fold(t.text)
	if f.Type != TypeHash {
		switch v {
		case "true", "yes", "1", "on":
			return equal(f, "true", t)
		case "false", "no", "0", "off":
			return equal(f, "false", t)
		}
	}
	if f.Type != TypeBool && library.AssetHash(v).Valid() {
		return equal(f, v, t)
	}
	return r.badValue(f, t, "write "+strings.Join(f.Accepts(), " or "))
}

// mimeValue reads a media type; image means image/*, png means */png.
func mimeValue(f *Field, t token) Node {
	v := fold(t.text)
	switch {
	case strings.Contains(v, "/"):
		return equal(f, v, t)
	case v == "image", v == "video", v == "audio", v == "model", v == "text", v == "application":
		return &Pred{Field: f, Op: Like, Pattern: []string{v + "/", ""}, at: t.at}
	}
	if v == "jpg" {
		v = "jpeg"
	}
	return &Pred{Field: f, Op: Like, Pattern: []string{"", "/" + v}, at: t.at}
}

// nodeValue reads a node class or one of its inputs; inputs are compared whole.
func (r *reader) nodeValue(f *Field, t token) Node {
	v := fold(t.text)
	if !strings.Contains(v, "=") && strings.ContainsAny(v, "<>") {
		return r.badValue(f, t, "a node input is compared with = only; steps:, cfg: and similar fields support < and >")
	}
	return equal(f, v, t)
}
