package all

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"vitrine/op"
	"vitrine/query"
)

// Places of the generated documents, from the root of the source.
const (
	referenceDir = "docs/reference"
	languagePage = "docs/query-language.md"
	snapshotDir  = "op/all/testdata/snapshots"
	readme       = "README.md"
)

// Marks between which the README's table of tools is generated.
const (
	tableBegin = "<!-- tools:begin -->\n"
	tableEnd   = "<!-- tools:end -->"
)

// WriteDocuments writes every document that is generated from the code, below the
// root of the source: the reference pages, the page of the query language, the
// README's table of tools, and the snapshots of the interface.
func WriteDocuments(root string) error {
	c := Described()
	if err := op.WriteReference(filepath.Join(root, referenceDir), c); err != nil {
		return err
	}
	if err := op.WriteSnapshots(filepath.Join(root, snapshotDir), c); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, languagePage), []byte(query.Reference()), 0o644); err != nil {
		return err
	}
	page, err := readmeWithTable(root, c)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, readme), []byte(page), 0o644)
}

// StaleDocuments names the generated documents that are not what the code says.
func StaleDocuments(root string) ([]string, error) {
	c := Described()
	pages, err := op.StaleReference(filepath.Join(root, referenceDir), c)
	if err != nil {
		return nil, err
	}
	snapshots, err := op.StaleSnapshots(filepath.Join(root, snapshotDir), c)
	if err != nil {
		return nil, err
	}
	stale := append(pages, snapshots...)
	if have, err := os.ReadFile(filepath.Join(root, languagePage)); err != nil || string(have) != query.Reference() {
		stale = append(stale, languagePage)
	}
	want, err := readmeWithTable(root, c)
	if err != nil {
		return nil, err
	}
	if have, err := os.ReadFile(filepath.Join(root, readme)); err != nil || string(have) != want {
		stale = append(stale, readme)
	}
	return stale, nil
}

// readmeWithTable gives the README with its table of tools renewed.
func readmeWithTable(root string, c op.Catalogue) (string, error) {
	raw, err := os.ReadFile(filepath.Join(root, readme))
	if err != nil {
		return "", err
	}
	before, rest, ok := strings.Cut(string(raw), tableBegin)
	_, after, closed := strings.Cut(rest, tableEnd)
	if !ok || !closed {
		return "", fmt.Errorf("%s lacks the marks %s and %s around its table of tools", readme, strings.TrimSpace(tableBegin), tableEnd)
	}
	return before + tableBegin + op.ToolTable(c) + tableEnd + after, nil
}
