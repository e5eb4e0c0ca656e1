package sample

import (
	"os"
	"path/filepath"

	"vitrine/internal/sample/writer"
)

// write makes the file of an entry below dir and tells what is in it.
func (e *entry) write(dir string) (Truth, error) {
	content := e.picture
	if e.row.form == nil {
		content = e.oddBytes
	}
	data, truth, err := content()
	if err != nil {
		return Truth{}, err
	}
	truth.Path, truth.Writer, truth.Size = e.path, e.row.name, int64(len(data))
	full := filepath.Join(dir, filepath.FromSlash(e.path))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return Truth{}, err
	}
	if err := os.WriteFile(full, data, 0o644); err != nil {
		return Truth{}, err
	}
	return truth, os.Chtimes(full, e.when, e.when)
}

// picture draws the entry and saves it in its own form.
func (e *entry) picture() ([]byte, Truth, error) { return e.save(e.row.form) }

func (e *entry) save(form *writer.Form) ([]byte, Truth, error) {
	job := e.job
	job.Rand = e.rand()
	data, facts, err := form.Save(e.spec.Draw(e.w, e.h), &job)
	truth := Truth{
		Kind: e.spec.Kind.Name, Subject: e.spec.Subject.Tag, Colour: e.spec.Palette.Tag, Time: e.spec.Time.Tag,
		Manner: string(e.manner), Facts: facts,
	}
	if e.source != nil {
		if form.NeedsParent {
			truth.ParentPath = e.source.path
		} else {
			truth.SourcePath = e.source.path
		}
	}
	return data, truth, err
}

func formNamed(name string) *writer.Form {
	for _, s := range shares {
		if s.name == name {
			return s.form
		}
	}
	return nil
}
