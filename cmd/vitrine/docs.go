package main

import (
	"fmt"

	"vitrine/op/all"
)

type docsCommand struct {
	Root string `arg:"" optional:"" default:"." type:"path" help:"Root of the source."`
}

// Run writes every document that is generated from the code. A test fails when
// one of them is stale.
func (c *docsCommand) Run() error {
	if err := all.WriteDocuments(c.Root); err != nil {
		return err
	}
	fmt.Println("The generated documents are current.")
	return nil
}
