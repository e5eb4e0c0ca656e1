package main

import (
	"fmt"
	"os"
	"path/filepath"

	"vitrine/op"
	"vitrine/op/all"
	"vitrine/query"
)

type docsCommand struct {
	Dir string `default:"docs/reference" type:"path" help:"Folder to write to."`
}

// Run writes every document that is generated from the code. A test fails when
// one of them is stale.
func (c *docsCommand) Run() error {
	if err := op.WriteReference(c.Dir, all.Described()); err != nil {
		return err
	}
	path := filepath.Join(c.Dir, "query-language.md")
	if err := os.WriteFile(path, []byte(query.Reference()), 0o644); err != nil {
		return err
	}
	fmt.Println("Written to", c.Dir)
	return nil
}
