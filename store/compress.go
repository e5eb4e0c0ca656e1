package store

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"sync"
)

// workflowTexts is how a lineage row keeps the workflow graphs: as the texts they are,
// because a file may hold a graph that is not quite JSON (a bare NaN).
type workflowTexts struct {
	Editor   string `json:"workflow,omitempty"`
	Executed string `json:"prompt,omitempty"`
}

// maxUnpacked bounds what a stored column may expand to; extraction never lets
// more than this in.
const maxUnpacked = 256 << 20

// pack encodes v as gzip of JSON. Speed matters more than size here: an import
// packs every file's metadata.
func pack(v any) ([]byte, error) {
	var b bytes.Buffer
	w := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(w)
	w.Reset(&b)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// gzipWriters keeps compressors: a fresh one takes more time, and memory that has to
// be cleared and collected, than what it compresses.
var gzipWriters = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}}

func unpack(packed []byte, v any) error {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	return json.NewDecoder(io.LimitReader(r, maxUnpacked)).Decode(v)
}

// jsonb encodes v for a jsonb column, which cannot hold the character U+0000:
// it is left out wherever a string has it.
func jsonb(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if !bytes.Contains(raw, []byte(`\u0000`)) {
		return raw, nil
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			continue
		}
		if bytes.HasPrefix(raw[i:], []byte(`\u0000`)) {
			i += len(`\u0000`) - 1
			continue
		}
		out = append(out, raw[i], raw[i+1]) // an escape is never the last byte of valid JSON
		i++
	}
	return out, nil
}
