package opcli

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"vitrine/library"
	"vitrine/op/all"
)

// FuzzParse reads command lines of every operation, one word per line. Whatever they hold,
// the answer is arguments that can be encoded or an error that names what is wrong, and
// completion has something to say about every beginning.
func FuzzParse(f *testing.F) {
	for _, words := range []string{"--query\nfox", "--limit=5\n--highlight", "--no-include-score", "--filters.status\nDraft\n--filters\n{}", "--tags\na,b\n--tags=c", "--", "-h", "--=x", "--query",
		"--asset-h\n@/dev/null", "--asset_metadata\n{\"a\":[1,{\"b\":null}]}", "--seed\n18446744073709551615", "--limit\n1e400", "--query\n\xff\xfe", "--output\njson\n--key=x", "--filters.tags\n-\n--filters=[]"} {
		f.Add(uint8(0), words)
	}
	catalog := all.DocumentedCatalog()
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		words := strings.Split(text, "\n")
		for _, w := range words {
			if strings.Contains(w, "@") { // a file of this machine
				return
			}
		}
		o := catalog.Operations[int(which)%len(catalog.Operations)]
		call, err := Parse(o, words, strings.NewReader(text))
		var known *library.Error
		switch {
		case err == nil:
			if _, err := json.Marshal(call.Arguments); err != nil {
				t.Errorf("%s %q: the arguments cannot be sent: %v", o.Name, words, err)
			}
		case !errors.As(err, &known) || known.Kind == library.KindInternal || len(known.Fields) == 0 && known.Detail == "":
			t.Errorf("%s %q: an error that says nothing: %v", o.Name, words, err)
		}
		_, _ = Find(catalog, text)
	})
}
