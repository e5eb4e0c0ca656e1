package clientgen

import (
	"path"
	"reflect"
	"strings"
	"unicode"

	"vitrine/op"
)

// prefixes stand before the names of a package's types where that is not the
// package's own name without a plural s.
var prefixes = map[string]string{"library": "", "run": "Search", "extract": "Extraction"}

// part is a struct type within inputs or outputs.
type part struct {
	t     reflect.Type
	where string // where it was seen first, for its comment
	input bool
}

// generator knows the names of all struct types.
type generator struct {
	parts []part // in the order in which they were seen
	names map[reflect.Type]string
	taken map[string]reflect.Type
}

// newGenerator names every struct type. One that is part of another has the name it
// has in its package behind a prefix of that; any other that of the first operation
// that takes or returns it.
func newGenerator(list []op.Operation) *generator {
	g := &generator{names: map[reflect.Type]string{}, taken: map[string]reflect.Type{}}
	for _, o := range list {
		in, out := o.Types()
		g.collect(in, o.Name+"Input", true)
		g.collect(out, o.Name+"Output", false)
	}
	for _, o := range list {
		in, out := o.Types()
		g.claim(in, o.Name+"Input")
		g.claim(out, o.Name+"Output")
	}
	return g
}

// collect finds the parts of a struct type.
func (g *generator) collect(t reflect.Type, owner string, input bool) {
	for _, f := range fields(t) {
		inner := base(f.Type)
		if inner.Kind() != reflect.Struct || leaf(inner) || g.names[inner] != "" {
			continue
		}
		g.claim(inner, partName(inner))
		where := "what " + owner + " holds as " + f.name + "."
		if doc := f.Tag.Get("doc"); doc != "" {
			where += " " + doc
		}
		g.parts = append(g.parts, part{inner, where, input})
		g.collect(inner, g.names[inner], input)
	}
}

func (g *generator) claim(t reflect.Type, name string) {
	if g.names[t] != "" {
		return
	}
	if other, ok := g.taken[name]; ok {
		panic("clientgen: " + t.String() + " and " + other.String() + " would both be named " + name)
	}
	g.names[t], g.taken[name] = name, t
}

// partName returns the name of a part: search.hit is SearchHit, models.Model is
// Model, assets.storageRef is AssetStorageRef.
func partName(t reflect.Type) string {
	pkg := path.Base(t.PkgPath())
	prefix, special := prefixes[pkg]
	if !special {
		prefix = upperFirst(strings.TrimSuffix(pkg, "s"))
	}
	name := upperFirst(t.Name())
	for _, kind := range []string{"Output", "Input"} {
		if cut := strings.TrimSuffix(name, kind); cut != "" {
			name = cut
		}
	}
	if strings.HasPrefix(name, prefix) {
		return name
	}
	return prefix + name
}

// file returns the file that declares a part.
func file(t reflect.Type) string {
	if dir, pkg := path.Split(t.PkgPath()); strings.HasSuffix(dir, "/op/") {
		return pkg + "_types.gen.go"
	}
	return "types.gen.go"
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// initialisms are written in capitals in the names of fields.
var initialisms = map[string]string{"id": "ID", "ids": "IDs", "url": "URL", "urls": "URLs", "mime": "MIME", "json": "JSON", "ms": "MS", "sha1": "SHA1", "sha256": "SHA256",
	"dsl": "DSL", "cfg": "CFG", "c2pa": "C2PA", "uri": "URI", "html": "HTML", "vae": "VAE", "api": "API", "ip": "IP", "http": "HTTP", "pdf": "PDF", "zip": "ZIP"}

// fieldName returns the Go name of a JSON name in snake_case or camelCase.
func fieldName(name string) string {
	var words []string
	begin := 0
	for i, r := range name {
		if r == '_' || i > begin && unicode.IsUpper(r) {
			words = append(words, name[begin:i])
			begin = i
			if r == '_' {
				begin++
			}
		}
	}
	var b strings.Builder
	for _, w := range append(words, name[begin:]) {
		lower := strings.ToLower(w)
		switch known := initialisms[lower]; {
		case known != "":
			b.WriteString(known)
		case w != "":
			b.WriteString(upperFirst(lower))
		}
	}
	return b.String()
}
