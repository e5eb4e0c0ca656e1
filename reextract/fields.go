package reextract

import (
	"encoding/json"
	"maps"

	"vitrine/library"
)

// compare counts in which fields a lineage differs from the one that is stored. A
// stored one that cannot be decoded holds no values.
func (c *Counts) compare(stored []byte, now *library.Lineage) {
	var before library.Lineage
	if json.Unmarshal(stored, &before) != nil {
		before = library.Lineage{}
	}
	if c.Fields == nil {
		c.Fields = map[string]FieldCounts{}
	}
	was, is := fieldsOf(before), fieldsOf(*now)
	for name := range union(was, is) {
		n := c.Fields[name]
		switch had, value := was[name], is[name]; {
		case had == value:
			continue
		case had == "":
			n.Added++
		case value == "":
			n.Removed++
		default:
			n.Changed++
		}
		c.Fields[name] = n
	}
}

func union(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// fieldsOf returns every field of a lineage that has a value as JSON, those of the
// parameters each for itself. The graphs are left out: the stored document has none.
func fieldsOf(l library.Lineage) map[string]string {
	if l.Workflow != nil {
		slim := *l.Workflow
		slim.JSON, slim.PromptJSON = nil, nil
		l.Workflow = &slim
	}
	parameters := l.Parameters
	l.Parameters = nil
	out := map[string]string{}
	addFields(out, l)
	addFields(out, parameters)
	return out
}

func addFields(out map[string]string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		return
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(b, &fields) != nil {
		return
	}
	for name, value := range fields {
		switch s := string(value); s {
		case "null", "[]", "{}", `""`:
		default:
			out[name] = s
		}
	}
}
