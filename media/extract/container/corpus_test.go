package container

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// corpus is where the sample files of real writers are kept, beside the project.
const corpus = "../../../../shared/corpus"

// hiddenOnly names the files whose only metadata hides in the alpha channel.
var hiddenOnly = map[string]bool{
	"sd-webui/d3x-at__AUTOMATIC1111__automatic1111_stealth.png": true,
}

type corpusFile struct {
	File     string         `json:"file"`
	Expected map[string]any `json:"expected"`
}

func corpusFiles(t *testing.T) []corpusFile {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(corpus, "manifest.json"))
	if err != nil {
		t.Skip("the corpus of sample files is not beside this checkout (../shared/corpus)")
	}
	var m struct{ Files []corpusFile }
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m.Files
}

// TestCorpus_IsReadWhole holds that every file of the corpus gives its size, and
// chunks of metadata when its manifest expects any values from it.
func TestCorpus_IsReadWhole(t *testing.T) {
	for _, c := range corpusFiles(t) {
		t.Run(c.File, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join(corpus, c.File))
			if err != nil {
				t.Fatal(err)
			}
			f, err := Read(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			if f.Width <= 0 || f.Height <= 0 || f.MIME == "" {
				t.Errorf("got %q, %d×%d pixels; a picture has a type and a size", f.MIME, f.Width, f.Height)
			}
			if f.Truncated || len(f.Warnings) > 0 {
				t.Errorf("truncated %v, warnings %q; the file is whole", f.Truncated, f.Warnings)
			}
			if expectsValues(c) && len(f.Chunks) == 0 && !hiddenOnly[c.File] {
				t.Errorf("no chunks; the manifest expects %d values", len(c.Expected))
			}
		})
	}
}

// expectsValues reports whether the manifest expects anything that stands in a
// chunk: a value that is neither null nor an empty list.
func expectsValues(c corpusFile) bool {
	for _, v := range c.Expected {
		if list, isList := v.([]any); v != nil && (!isList || len(list) > 0) {
			return true
		}
	}
	return false
}
