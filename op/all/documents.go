package all

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vitrine/internal/clientgen"
	"vitrine/op"
	"vitrine/query"
)

// Places of the generated documents, from the root of the source.
const (
	referenceDir = "docs/guide/reference"
	languagePage = "docs/guide/query-language.md"
	snapshotDir  = "op/all/testdata/snapshots"
	clientDir    = "api/client"
	readme       = "README.md"

	clientExt = ".gen.go"
)

// WriteDocuments writes every document that is generated from the code, below the
// root of the source: the reference pages, the page of the query language, the
// README's table of tools, the snapshots of the interface, and the typed Go client.
func WriteDocuments(root string) error {
	c := DocumentedCatalog()
	if err := op.WriteReference(filepath.Join(root, referenceDir), c); err != nil {
		return err
	}
	if err := op.WriteSnapshots(filepath.Join(root, snapshotDir), c); err != nil {
		return err
	}
	if err := WriteClient(filepath.Join(root, clientDir)); err != nil {
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

// WriteClient writes the generated files of package api/client into dir.
func WriteClient(dir string) error {
	return op.WriteFiles(dir, clientExt, clientgen.Files(DocumentedCatalog()))
}

// StaleDocuments names the generated documents that are not what the code says.
func StaleDocuments(root string) ([]string, error) {
	c := DocumentedCatalog()
	pages, err := op.StaleReference(filepath.Join(root, referenceDir), c)
	if err != nil {
		return nil, err
	}
	snapshots, err := op.StaleSnapshots(filepath.Join(root, snapshotDir), c)
	if err != nil {
		return nil, err
	}
	client, err := op.StaleFiles(filepath.Join(root, clientDir), clientExt, clientgen.Files(c))
	if err != nil {
		return nil, err
	}
	stale := slices.Concat(pages, snapshots, client)
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

// readmeWithTable returns the README with its table of tools renewed.
func readmeWithTable(root string, c op.Catalog) (string, error) {
	raw, err := os.ReadFile(filepath.Join(root, readme))
	if err != nil {
		return "", err
	}
	page, err := Between(string(raw), "tools", op.ToolTable(c))
	if err != nil {
		return "", fmt.Errorf("%s: %w", readme, err)
	}
	return page, nil
}

// Between returns a page with new content between its marks of the given name,
// <!-- name:begin --> and <!-- name:end -->, each on a line of its own.
func Between(page, name, content string) (string, error) {
	begin, end := "<!-- "+name+":begin -->\n", "<!-- "+name+":end -->\n"
	before, rest, opened := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	if !opened || !closed {
		return "", fmt.Errorf("the marks %s and %s are missing", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return before + begin + content + end + after, nil
}
