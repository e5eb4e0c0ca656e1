package indexer

import (
	"math"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"time"

	"vitrine/internal/jsonscan"
	"vitrine/library"
	"vitrine/mappings"
)

// appendDocument writes a document as JSON. It says the same as encoding/json
// would, which a test holds it to for every field, at a fraction of the time:
// on a machine that also runs OpenSearch, that time is taken from indexing.
func appendDocument(dst []byte, d *mappings.Document) []byte {
	w := &jsonWriter{append(dst, '{')}
	if d.Deleted {
		w.always("tenant_id", string(d.TenantID))
		w.always("asset_h", string(d.AssetH))
		w.number("doc_version", d.DocVersion)
		w.flag("deleted", true)
		return w.end()
	}
	v := reflect.ValueOf(d).Elem()
	for i := range memberWriters {
		m := &memberWriters[i]
		m.write(w, m.key, v.Field(m.index))
	}
	w.b = d.AppendDerived(w.b)
	w.vectors(d.Vectors)
	return w.end()
}

// memberWriter writes one member of mappings.Document under the key of its tag.
type memberWriter struct {
	index int
	key   string
	write func(w *jsonWriter, key string, v reflect.Value)
}

// memberWriters has the writer of every member that has a key, made once from its type
// and its tag.
var memberWriters = func() []memberWriter {
	var list []memberWriter
	typ := reflect.TypeFor[mappings.Document]()
	for i := range typ.NumField() {
		key, omit, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		if key == "-" {
			continue
		}
		list = append(list, memberWriter{i, key, writerOf(typ.Field(i).Type, omit == "omitempty")})
	}
	return list
}()

// writerOf returns how values of a type are written. An optional one is left out where
// it is empty; the others are written always, and are strings, numbers and booleans.
func writerOf(typ reflect.Type, optional bool) func(*jsonWriter, string, reflect.Value) {
	switch kind := typ.Kind(); {
	case kind == reflect.String && optional:
		return func(w *jsonWriter, k string, v reflect.Value) { w.text(k, v.String()) }
	case kind == reflect.String:
		return func(w *jsonWriter, k string, v reflect.Value) { w.always(k, v.String()) }
	case kind == reflect.Bool && !optional:
		return func(w *jsonWriter, k string, v reflect.Value) { w.flag(k, v.Bool()) }
	case (kind == reflect.Int || kind == reflect.Int64) && optional:
		return func(w *jsonWriter, k string, v reflect.Value) { w.count(k, v.Int()) }
	case kind == reflect.Int || kind == reflect.Int64:
		return func(w *jsonWriter, k string, v reflect.Value) { w.number(k, v.Int()) }
	case optional:
		if write := optionalWriters[typ]; write != nil {
			return write
		}
	}
	panic("indexer: a document has a member of a type that nothing writes: " + typ.String())
}

var optionalWriters = map[reflect.Type]func(*jsonWriter, string, reflect.Value){
	reflect.TypeFor[*int]():       func(w *jsonWriter, k string, v reflect.Value) { w.int(k, v.Interface().(*int)) },
	reflect.TypeFor[*uint64]():    func(w *jsonWriter, k string, v reflect.Value) { w.seed(k, v.Interface().(*uint64)) },
	reflect.TypeFor[*float64]():   func(w *jsonWriter, k string, v reflect.Value) { w.float(k, v.Interface().(*float64)) },
	reflect.TypeFor[*time.Time](): func(w *jsonWriter, k string, v reflect.Value) { w.time(k, v.Interface().(*time.Time)) },
	reflect.TypeFor[[]string]():   func(w *jsonWriter, k string, v reflect.Value) { appendList(w, k, *v.Addr().Interface().(*[]string)) },
	reflect.TypeFor[[]float64]():  func(w *jsonWriter, k string, v reflect.Value) { w.floats(k, *v.Addr().Interface().(*[]float64)) },
	reflect.TypeFor[[]library.AssetHash](): func(w *jsonWriter, k string, v reflect.Value) {
		appendList(w, k, *v.Addr().Interface().(*[]library.AssetHash))
	},
}

// vectors writes one field per embedding configuration, in order of its name.
func (w *jsonWriter) vectors(all map[string][]float32) {
	configs := make([]string, 0, len(all))
	for c := range all {
		configs = append(configs, c)
	}
	sort.Strings(configs)
	for _, c := range configs {
		w.key(mappings.VectorField(c))
		w.b = append(w.b, '[')
		for i, f := range all[c] {
			if i > 0 {
				w.b = append(w.b, ',')
			}
			w.b = strconv.AppendFloat(w.b, float64(f), 'g', -1, 32)
		}
		w.b = append(w.b, ']')
	}
}

// jsonWriter appends the members of one JSON object.
type jsonWriter struct{ b []byte }

func (w *jsonWriter) end() []byte { return append(w.b, '}') }

// key needs no escaping: keys are field names.
func (w *jsonWriter) key(k string) {
	if w.b[len(w.b)-1] != '{' {
		w.b = append(w.b, ',')
	}
	w.b = append(w.b, '"')
	w.b = append(w.b, k...)
	w.b = append(w.b, '"', ':')
}

func (w *jsonWriter) always(k, v string) {
	w.key(k)
	w.b = jsonscan.AppendString(w.b, v)
}

func (w *jsonWriter) text(k, v string) {
	if v != "" {
		w.always(k, v)
	}
}

func (w *jsonWriter) number(k string, v int64) {
	w.key(k)
	w.b = strconv.AppendInt(w.b, v, 10)
}

func (w *jsonWriter) count(k string, v int64) {
	if v != 0 {
		w.number(k, v)
	}
}

func (w *jsonWriter) int(k string, v *int) {
	if v != nil {
		w.number(k, int64(*v))
	}
}

func (w *jsonWriter) seed(k string, v *uint64) {
	if v != nil {
		w.key(k)
		w.b = strconv.AppendUint(w.b, *v, 10)
	}
}

func (w *jsonWriter) flag(k string, v bool) {
	w.key(k)
	w.b = strconv.AppendBool(w.b, v)
}

// float leaves out what JSON cannot hold.
func (w *jsonWriter) float(k string, v *float64) {
	if v != nil && !math.IsNaN(*v) && !math.IsInf(*v, 0) {
		w.key(k)
		w.b = strconv.AppendFloat(w.b, *v, 'g', -1, 64)
	}
}

func (w *jsonWriter) floats(k string, list []float64) {
	if len(list) == 0 {
		return
	}
	w.key(k)
	w.b = append(w.b, '[')
	for i, f := range list {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = strconv.AppendFloat(w.b, f, 'g', -1, 64)
	}
	w.b = append(w.b, ']')
}

func (w *jsonWriter) time(k string, t *time.Time) {
	if t != nil {
		w.key(k)
		w.b = append(w.b, '"')
		w.b = t.UTC().AppendFormat(w.b, time.RFC3339Nano)
		w.b = append(w.b, '"')
	}
}

func appendList[S ~string](w *jsonWriter, k string, list []S) {
	if len(list) == 0 {
		return
	}
	w.key(k)
	w.b = append(w.b, '[')
	for i, s := range list {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = jsonscan.AppendString(w.b, string(s))
	}
	w.b = append(w.b, ']')
}
