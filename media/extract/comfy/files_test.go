package comfy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/media/extract/container"
)

// inputOf reads the two documents out of a file of the corpus. Writers put them
// under several keys, with the document's name before it or not.
func inputOf(t testing.TB, file string) Input {
	t.Helper()
	f, err := os.Open(filepath.Join(corpus, file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	c, err := container.Read(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	in := Input{FileWidth: c.Width, FileHeight: c.Height, Filename: filepath.Base(file), MIME: c.MIME}
	for _, chunk := range c.Chunks {
		key, text := strings.ToLower(chunk.Key), chunk.Text
		for _, name := range []string{"prompt", "workflow"} {
			if rest, ok := strings.CutPrefix(strings.ToLower(text), name+":"); ok {
				key, text = name, strings.TrimSpace(text[len(text)-len(rest):])
			}
		}
		switch {
		case key == "prompt" && in.Prompt == nil:
			in.Prompt = []byte(text)
		case key == "workflow" && in.Workflow == nil:
			in.Workflow = []byte(text)
		case strings.HasPrefix(text, `{"prompt":`):
			in.Prompt = []byte(text)
		}
	}
	return in
}
