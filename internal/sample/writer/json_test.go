package writer

import (
	"math"
	"testing"
)

func TestJSON_DialectsPrintAsTheirTools(t *testing.T) {
	value := object{{"a", list{1, pyFloat(1), pyFloat(0.85), 0.4, true, nil}}, {"b", object{}}, {"c", "é \"x\"\n🎨"}, {"d", uint64(math.MaxUint64)}}
	tests := map[string]struct {
		d    dialect
		want string
	}{
		"python":  {pythonJSON, `{"a": [1, 1.0, 0.85, 0.4, true, null], "b": {}, "c": "\u00e9 \"x\"\n\ud83c\udfa8", "d": 18446744073709551615}`},
		"compact": {compactJSON, `{"a":[1,1.0,0.85,0.4,true,null],"b":{},"c":"é \"x\"\n🎨","d":18446744073709551615}`},
		"net": {netJSON, "{\n  \"a\": [\n    1,\n    1.0,\n    0.85,\n    0.4,\n    true,\n    null\n  ],\n  \"b\": {},\n" +
			"  \"c\": \"\\u00e9 \\\"x\\\"\\n\\ud83c\\udfa8\",\n  \"d\": 18446744073709551615\n}"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.d.String(value); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
