package extract

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vitrine/library"
	"vitrine/media/extract/container"
)

// rewraps are ways in which converters carry a file's records into another container.
var rewraps = map[string]func(container.File) container.File{
	"text chunks in one EXIF object": func(f container.File) container.File {
		bundle := map[string]string{}
		for _, c := range f.Chunks {
			if !strings.HasPrefix(c.Place, "png:tEXt") && !strings.HasPrefix(c.Place, "png:iTXt") {
				return f // only text chunks are carried this way
			}
			bundle[c.Key] = c.Text
		}
		b, _ := json.Marshal(bundle)
		f.Chunks = []container.Chunk{{Place: "jpeg:exif", Key: "UserComment", Text: string(b)}}
		return f
	},
	"text chunks as tags of a video": func(f container.File) container.File { return replaced(f, "mkv:tag") },
	"EXIF comment as a PNG text": func(f container.File) container.File {
		f = replaced(f, "png:iTXt")
		for i := range f.Chunks {
			if f.Chunks[i].Key == "UserComment" {
				f.Chunks[i].Key = "parameters"
			}
		}
		return f
	},
	"line ends of Windows": func(f container.File) container.File {
		f = replaced(f, "png:iTXt")
		for i, c := range f.Chunks {
			if !strings.HasPrefix(strings.TrimSpace(c.Text), "{") {
				f.Chunks[i].Text = strings.ReplaceAll(strings.ReplaceAll(c.Text, "\r\n", "\n"), "\n", "\r\n")
			}
		}
		return f
	},
	"padding behind every text": func(f container.File) container.File {
		f = replaced(f, "png:tEXt")
		for i := range f.Chunks {
			f.Chunks[i].Text = "\ufeff" + f.Chunks[i].Text + "\x00\x00"
		}
		return f
	},
	"JSON indented anew": func(f container.File) container.File {
		f = replaced(f, "png:tEXt")
		for i, c := range f.Chunks {
			var v json.RawMessage
			if json.Unmarshal([]byte(c.Text), &v) == nil {
				b, _ := json.MarshalIndent(v, "", "\t")
				f.Chunks[i].Text = string(b)
			}
		}
		return f
	},
}

// replaced returns the file's texts at another place.
func replaced(f container.File, place string) container.File {
	var chunks []container.Chunk
	for _, c := range f.Chunks {
		if c.Text != "" {
			chunks = append(chunks, container.Chunk{Place: place, Key: c.Key, Text: c.Text})
		}
	}
	f.Chunks = chunks
	return f
}

// TestRewrap_ContainersDoNotMatter reads the corpus's records out of other containers:
// what a file says of its making depends on what is written, not on where.
func TestRewrap_ContainersDoNotMatter(t *testing.T) {
	dir, files := readManifest(t)
	for _, entry := range files {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(entry.File)))
		if err != nil {
			t.Fatal(err)
		}
		res := read(t, data, Options{Filename: filepath.Base(entry.File)})
		if !res.Lineage.HasGenerationData() {
			continue
		}
		file := container.File{MIME: res.MIMEType, Width: res.Width, Height: res.Height, Chunks: res.Chunks}
		for name, rewrap := range rewraps {
			got, _ := FromChunks(rewrap(file), Options{Filename: filepath.Base(entry.File)})
			if d := cmp.Diff(essence(res.Lineage), essence(got), sameSpaces); d != "" {
				t.Errorf("%s, %s (-file +rewrapped):\n%s", entry.File, name, d)
			}
		}
	}
}

// essence is a lineage without what depends on the place of the record.
func essence(l library.Lineage) library.Lineage {
	l.Evidence, l.Conflicts, l.Warnings, l.Extra, l.C2PA = nil, nil, nil, nil, nil
	if l.Workflow != nil {
		w := *l.Workflow
		w.JSON, w.PromptJSON = nil, nil
		l.Workflow = &w
	}
	return l
}

var sameSpaces = cmp.Options{cmpopts.EquateEmpty(), cmp.Transformer("spaces", func(s string) string { return strings.Join(strings.Fields(s), " ") })}
