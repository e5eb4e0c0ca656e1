package op

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
)

// WriteSnapshots writes one JSON file per operation into dir: all that a client
// sees of it. A changed file in a review is a changed interface.
func WriteSnapshots(dir string, c Catalog) error { return WriteFiles(dir, ".json", snapshots(c)) }

// StaleSnapshots names the files in dir that WriteSnapshots would change, add or
// remove.
func StaleSnapshots(dir string, c Catalog) ([]string, error) {
	return StaleFiles(dir, ".json", snapshots(c))
}

// snapshots renders every operation as indented JSON.
func snapshots(c Catalog) map[string][]byte {
	files := map[string][]byte{}
	for _, o := range c.Operations {
		b, err := json.MarshalIndent(map[string]any{
			"name": o.Name, "title": o.Title, "doc": o.FullDoc(), "domain": o.Domain, "route": o.Method + " " + o.Path, "status": o.SuccessStatus(),
			"permission": o.Permission, "rate": o.Rate, "read_only": o.ReadOnly, "destructive": o.Destructive, "idempotent": o.Idempotent,
			"open_world": o.OpenWorld, "input": o.Input, "output": o.Output}, "", "  ")
		if err != nil {
			panic("op: a snapshot cannot be encoded: " + err.Error())
		}
		files[o.Name+".json"] = append(b, '\n')
	}
	return files
}

// writeFiles makes dir hold exactly these files of the given extension.
func WriteFiles(dir, ext string, files map[string][]byte) error {
	stale, err := StaleFiles(dir, ext, files)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range stale {
		path := filepath.Join(dir, name)
		content, wanted := files[name]
		if !wanted {
			err = os.Remove(path)
		} else {
			err = os.WriteFile(path, content, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// StaleFiles names the files in dir that WriteFiles would change, add or remove.
func StaleFiles(dir, ext string, files map[string][]byte) ([]string, error) {
	var stale []string
	for name, content := range files {
		have, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		if err != nil || !bytes.Equal(have, content) {
			stale = append(stale, name)
		}
	}
	there, err := filepath.Glob(filepath.Join(dir, "*"+ext))
	if err != nil {
		return nil, err
	}
	for _, path := range there {
		if name := filepath.Base(path); files[name] == nil {
			stale = append(stale, name)
		}
	}
	slices.Sort(stale)
	return stale, nil
}
