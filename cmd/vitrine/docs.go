package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

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
	page, err := readmeWithSettings(c.Root)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.Root, "README.md"), []byte(page), 0o644); err != nil {
		return err
	}
	fmt.Println("The generated documents are current.")
	return nil
}

// readmeWithSettings returns the README with its table of settings renewed.
func readmeWithSettings(root string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		return "", err
	}
	table, err := settingsTable()
	if err != nil {
		return "", err
	}
	return all.Between(string(raw), "settings", table)
}

// settingsTable lists the environment variables that stand for flags, each once,
// in the order of the commands. Where commands share a variable, the first one's
// words count.
func settingsTable() (string, error) {
	k, err := kong.New(&cli{}, kong.Vars{"version": version})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| Variable | Default | Meaning |\n|---|---|---|\n")
	known := map[string]bool{}
	err = kong.Visit(k.Model, func(v kong.Visitable, next kong.Next) error {
		f, isFlag := v.(*kong.Flag)
		if !isFlag {
			return next(nil)
		}
		for _, name := range f.Envs {
			if known[name] {
				continue
			}
			known[name] = true
			usual := ""
			if f.Default != "" {
				usual = "`" + f.Default + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, usual, f.Help)
		}
		return next(nil)
	})
	return b.String(), err
}
