package e2e

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/api/client"
	"vitrine/op/all"
	"vitrine/service/servicetest"
)

// TestTypedClient_ResponsesOfEveryOperationLoseNothing calls every operation and
// reads the response into the client's struct: what that holds is what was sent.
func TestTypedClient_ResponsesOfEveryOperationLoseNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.Client("")
	for o, args := range w.examples(all.DocumentedCatalog().Operations) {
		var raw json.RawMessage
		if err := c.Do(t.Context(), client.Operations[slices.IndexFunc(client.Operations, func(c client.Operation) bool { return c.Name == o.Name })], args, &raw); err != nil {
			t.Errorf("%s: %v", o.Name, err)
			continue
		}
		method, ok := reflect.TypeOf(c).MethodByName(o.Name)
		if !ok {
			t.Fatalf("%s is no method of the client", o.Name)
		}
		out := reflect.New(method.Type.Out(0))
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		d.DisallowUnknownFields()
		if err := d.Decode(out.Interface()); err != nil {
			t.Errorf("%s: %v", o.Name, err)
			continue
		}
		if diff := cmp.Diff(exactly(t, raw), exactly(t, servicetest.JSON(out.Interface()))); diff != "" {
			t.Errorf("%s (-sent +read): %s", o.Name, diff)
		}
	}
}

// exactly decodes JSON with its numbers as they are written.
func exactly(t *testing.T, raw []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
