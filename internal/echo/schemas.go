package echo

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"vitrine/op"
)

// CheckSchemas compiles every input and output schema as strict clients do, and
// tries the examples against them. mcp-go itself passes over a schema that does
// not compile without a word.
func CheckSchemas(t testing.TB, c op.Catalog) {
	t.Helper()
	for _, o := range c.Operations {
		compile(t, o.Name+" output", op.SchemaJSON(o.Output))
		in := compile(t, o.Name+" input", op.SchemaJSON(o.Input))
		if o.Example == nil || in == nil {
			continue
		}
		raw, err := op.EncodeOutput(o.Example)
		if err != nil {
			t.Errorf("%s: the example cannot be encoded: %v", o.Name, err)
			continue
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err == nil {
			err = in.Validate(v)
		}
		if err != nil {
			t.Errorf("%s: the example breaks the schema: %v", o.Name, err)
		}
	}
}

func compile(t testing.TB, what string, schema []byte) *jsonschema.Schema {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return nil
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("schema.json", v); err != nil {
		t.Errorf("%s: %v", what, err)
		return nil
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return nil
	}
	return s
}
