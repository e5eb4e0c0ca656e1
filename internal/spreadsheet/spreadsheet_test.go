package spreadsheet

import (
	"encoding/csv"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestWrite_TextsAreNoFormulasAndNumbersStayExact(t *testing.T) {
	var b strings.Builder
	err := Write(&b, []string{"model", "count", "=x"}, [][]any{
		{"=HYPERLINK(\"x\")", int64(1_500_000), true},
		{" +1", json.Number("9223372036854775809"), nil},
		{"a \"b\",\nc", 1.5e9, []string{"x", "y"}},
		{"＝1", -0.25, json.Number("-3")},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	want := [][]string{{"model", "count", "'=x"}, {"'=HYPERLINK(\"x\")", "1500000", "true"}, {"' +1", "9223372036854775809", ""},
		{"a \"b\",\nc", "1500000000", `["x","y"]`}, {"'＝1", "-0.25", "-3"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if !strings.HasPrefix(b.String(), "model,count,'=x\r\n") {
		t.Errorf("the lines do not end as RFC 4180 wants: %q", b.String())
	}
}
