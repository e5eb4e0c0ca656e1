package naive

import (
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/mappings"
	"vitrine/query"
)

// values returns what a document has in a field whose values are compared whole or
// in part: the member that is written under the name of the index field.
func values(f *query.Field, d *mappings.Document) []string {
	switch f.Name {
	case "tag":
		return d.Tags
	case "collection":
		all := append(append([]string(nil), d.CollectionPaths...), d.CollectionH...)
		for _, direct := range d.CollectionDirect {
			all = append(all, "="+direct)
		}
		return all
	case "experiment":
		all := append(append([]string(nil), d.ExperimentPaths...), d.ExperimentH...)
		for _, e := range all {
			all = append(all, "="+e)
		}
		return all
	}
	v := member(d, f.Index)
	if v.Kind() == reflect.String {
		if v.String() == "" {
			return nil
		}
		return []string{v.String()}
	}
	return v.Interface().([]string)
}

// numbers returns the numbers a document has in a field.
func numbers(f *query.Field, d *mappings.Document) []float64 {
	v := member(d, f.Index)
	if list, ok := v.Interface().([]float64); ok {
		return list
	}
	optional := v.Kind() == reflect.Pointer
	if optional {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	n := v.Convert(reflect.TypeFor[float64]()).Float()
	if n == 0 && !optional {
		return nil
	}
	return []float64{n}
}

// member finds the member of a document by the name that its tag gives it.
func member(d *mappings.Document, name string) reflect.Value {
	i, ok := members[name]
	if !ok {
		panic("naive: no member of a document is written as " + name)
	}
	return reflect.ValueOf(d).Elem().Field(i)
}

var members = func() map[string]int {
	all := map[string]int{}
	typ := reflect.TypeFor[mappings.Document]()
	for i := range typ.NumField() {
		key, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		all[key] = i
	}
	return all
}()

// Values returns what a document has in a field as query texts may ask for it; nothing
// of fields whose values are not written as they are.
func Values(f *query.Field, d *mappings.Document) []string {
	switch f.Type {
	case query.TypeInt, query.TypeFloat:
		var list []string
		for _, n := range numbers(f, d) {
			list = append(list, strconv.FormatFloat(n, 'f', -1, 64))
		}
		return list
	case query.TypeDate:
		if at := member(d, f.Index).Interface().(*time.Time); at != nil {
			return []string{at.Format(time.DateOnly)}
		}
	case query.TypeName, query.TypePart, query.TypeTag, query.TypeEnum, query.TypeMIME, query.TypeParam, query.TypeNode, query.TypeMetadata:
		if f.Index != "" {
			return values(f, d)
		}
	}
	return nil
}

func matchPred(p *query.Pred, d *mappings.Document, prose map[string]analyzed) bool {
	name := p.Field.Name
	switch p.Field.Type {
	case query.TypeInt, query.TypeFloat, query.TypeAspect:
		return numeric(p, numbers(p.Field, d))
	case query.TypeDate:
		return dated(p, member(d, p.Field.Index).Interface().(*time.Time))
	case query.TypeDimensions:
		return sized(p, d)
	case query.TypeBool:
		return member(d, p.Field.Index).Bool() == (p.Value == "true")
	case query.TypeChain:
		return d.Chain == (p.Value == "true")
	case query.TypeNode:
		return node(p, d)
	case query.TypeText:
		return inProse(p, d, prose[name])
	case query.TypeParent:
		return parent(p, d)
	case query.TypeMetadata:
		return metadata(p, d)
	}
	switch name {
	case "has":
		return has(p.Value, d)
	case "is":
		return is(p.Value, d)
	}
	if p.Op == query.Exists && p.Field.Exists != "" {
		return member(d, p.Field.Exists).Bool()
	}
	list := values(p.Field, d)
	if p.Op == query.Exists {
		return len(list) > 0
	}
	for _, v := range list {
		if whole, want := Fold(v), Fold(p.Value); compare(p, name, whole, want) {
			return true
		}
	}
	return false
}

// part reports whether a name holds a text, in which a blank is any character.
func part(name, text []rune) bool {
	for i := 0; i+len(text) <= len(name); i++ {
		j := 0
		for j < len(text) && (text[j] == ' ' || text[j] == name[i+j]) {
			j++
		}
		if j == len(text) {
			return true
		}
	}
	return false
}

func compare(p *query.Pred, name, v, want string) bool {
	pattern := p.Pattern
	if name == "tag" {
		v, want = strings.ReplaceAll(v, "_", " "), strings.ReplaceAll(want, "_", " ")
		pattern = strings.Split(strings.ReplaceAll(strings.Join(pattern, "\x01"), "_", " "), "\x01")
	}
	switch p.Op {
	case query.Contains:
		switch name {
		case "model", "checkpoint", "lora", "graphtool_model":
			want = strings.NewReplacer("-", " ", "_", " ").Replace(want)
		}
		return part([]rune(v), []rune(want))
	case query.Like:
		return glob(pattern, v)
	}
	if name == "parameters" {
		want = strings.TrimSuffix(want, ".0")
	}
	if name == "model_name" {
		return library.FoldModelName(v) == library.FoldModelName(want)
	}
	return v == want
}

// glob compares a whole value with a pattern.
func glob(parts []string, v string) bool {
	key := strings.Join(parts, "\x01")
	re := globs[key]
	if re == nil {
		quoted := make([]string, len(parts))
		for i, p := range parts {
			quoted[i] = regexp.QuoteMeta(Fold(p))
		}
		re = regexp.MustCompile(`(?s)^` + strings.Join(quoted, ".*") + `$`)
		globs[key] = re
	}
	return re.MatchString(v)
}

var globs = map[string]*regexp.Regexp{}

func inProse(p *query.Pred, d *mappings.Document, a analyzed) bool {
	switch p.Op {
	case query.Exists:
		return len(a.at) > 0
	case query.Like:
		if p.Field.Name == "title" && d.Title != "" && glob(p.Pattern, Fold(d.Title)) {
			return true
		}
		return p.Pattern[0] != "" && a.terms(func(t string) bool { return glob(p.Pattern, t) })
	}
	return a.phrase(p.Value)
}

func numeric(p *query.Pred, list []float64) bool {
	for _, n := range list {
		var ok bool
		switch p.Op {
		case query.Equal:
			ok = n == p.Lo.Number
			if p.Field.Type == query.TypeAspect {
				ok = math.Abs(n-p.Lo.Number) <= p.Lo.Number*0.01
			}
		case query.Greater:
			ok = n > p.Lo.Number
		case query.Less:
			ok = n < p.Hi.Number
		default:
			ok = (p.Lo == nil || n >= p.Lo.Number) && (p.Hi == nil || n <= p.Hi.Number)
		}
		if ok {
			return true
		}
	}
	return false
}

func dated(p *query.Pred, at *time.Time) bool {
	switch {
	case at == nil:
		return false
	case p.Op == query.Exists:
		return true
	case p.Op == query.Greater:
		return at.After(p.Lo.End)
	case p.Op == query.Less:
		return at.Before(p.Hi.Start)
	}
	return (p.Lo == nil || !at.Before(p.Lo.Start)) && (p.Hi == nil || !at.After(p.Hi.End))
}

func sized(p *query.Pred, d *mappings.Document) bool {
	ok := func(want *query.Scalar, f func(have, want int) bool) bool {
		return want == nil || ((want.W == 0 || f(d.Width, want.W)) && (want.H == 0 || f(d.Height, want.H)))
	}
	switch {
	case d.Width == 0:
		return false
	case p.Op == query.Exists:
		return true
	case p.Op == query.Equal:
		return ok(p.Lo, func(a, b int) bool { return a == b })
	case p.Op == query.Greater:
		return ok(p.Lo, func(a, b int) bool { return a > b })
	case p.Op == query.Less:
		return ok(p.Hi, func(a, b int) bool { return a < b })
	}
	return ok(p.Lo, func(a, b int) bool { return a >= b }) && ok(p.Hi, func(a, b int) bool { return a <= b })
}

// node compares node classes, or Class.input=value with numbers by value.
func node(p *query.Pred, d *mappings.Document) bool {
	list := d.GTNodes
	if strings.Contains(p.Value+strings.Join(p.Pattern, ""), "=") {
		list = d.GTNodeProps
	}
	for _, v := range list {
		v = Fold(v)
		switch {
		case p.Op == query.Exists:
			return true
		case p.Op == query.Like && glob(p.Pattern, v):
			return true
		case p.Op == query.Equal && v == strings.TrimSuffix(p.Value, ".0"):
			return true
		}
	}
	if p.Op == query.Equal && !strings.Contains(p.Value, "=") && strings.Contains(p.Value, ".") {
		for _, v := range d.GTNodeProps {
			if strings.HasPrefix(Fold(v), p.Value+"=") {
				return true
			}
		}
	}
	return false
}

func parent(p *query.Pred, d *mappings.Document) bool {
	if p.Op == query.Exists {
		return d.HasParent
	}
	if p.Op == query.Equal {
		for _, h := range d.ParentHs {
			if string(h) == p.Value {
				return true
			}
		}
		return false
	}
	for _, v := range d.ParentNames {
		if compare(p, "parent", Fold(v), Fold(p.Value)) {
			return true
		}
	}
	return false
}

func has(what string, d *mappings.Document) bool {
	switch what {
	case "prompt":
		return d.Prompt != ""
	case "parent":
		return d.HasParent
	case "workflow":
		return d.HasWorkflow
	case "tags":
		return len(d.Tags) > 0
	case "title":
		return d.Title != ""
	}
	for _, f := range mappings.Fields() {
		if f.Has == what {
			return !member(d, f.Name).IsZero()
		}
	}
	panic("naive: has:" + what + " is not known")
}

func is(what string, d *mappings.Document) bool {
	switch what {
	case "approved":
		return d.Status == library.StatusApproved
	case "untagged":
		return len(d.Tags) == 0
	case "video":
		return d.MediaType == "video"
	case "square":
		return d.Aspect != nil && *d.Aspect >= 0.98 && *d.Aspect <= 1.02
	case "landscape":
		return d.Aspect != nil && *d.Aspect > 1.02
	case "duplicate":
		return d.Duplicate
	}
	panic("naive: is:" + what + " is not known")
}
