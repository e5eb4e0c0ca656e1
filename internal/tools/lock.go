package tools

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
)

// WriteLock resolves what a tool's packages need in turn, and writes the versions to the
// tool's lock in a folder. A tool without transitive packages to pin has no lock.
func (t Tool) WriteLock(ctx context.Context, folder string) error {
	if t.From != PyPI && t.From != NPM {
		return nil
	}
	work, err := os.MkdirTemp("", "lock-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	var lock []byte
	if t.From == NPM {
		if err := t.npm(ctx, work, nil); err != nil {
			return err
		}
		lock, err = os.ReadFile(filepath.Join(work, "package-lock.json"))
	} else {
		if err := t.pip(ctx, work, nil); err != nil {
			return err
		}
		lock, err = exec.CommandContext(ctx, filepath.Join(work, "bin", "python"), "-m", "pip", "freeze", "--disable-pip-version-check").Output()
		lock = append([]byte("# All packages of "+t.Name+", written by `make lock-tools`.\n"), bytes.TrimSpace(lock)...)
		lock = append(lock, '\n')
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, filepath.Base(t.lockFile())), lock, 0o644)
}
