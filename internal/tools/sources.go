package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// pythonVersion returns the version of the machine's Python, such as "3.12".
var pythonVersion = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("python3", "-c", "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2]); sys.exit(sys.version_info < (3, 11))").Output()
	if err != nil {
		return "", errors.New("tests need Python 3.11 or newer with venv: install python3-venv (Debian, Ubuntu), python3 (Fedora) or `brew install python` (macOS)")
	}
	return strings.TrimSpace(string(out)), nil
})

// pip makes a Python environment with exactly the packages of the lock; with an empty
// lock, with the tool's own and whatever these need.
func (t Tool) pip(ctx context.Context, dir string, lock []byte) error {
	if err := run(ctx, dir, nil, "python3", "-m", "venv", dir); err != nil {
		return err
	}
	args := []string{"-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--only-binary", ":all:"}
	if len(lock) > 0 {
		requirements := filepath.Join(dir, "requirements.txt")
		if err := os.WriteFile(requirements, lock, 0o644); err != nil {
			return err
		}
		args = append(args, "--no-deps", "--requirement", requirements)
	} else {
		args = append(args, t.Packages...)
	}
	python := filepath.Join(dir, "bin", "python")
	if err := run(ctx, dir, nil, python, args...); err != nil {
		return err
	}
	return run(ctx, dir, nil, python, "-m", "pip", "check", "--disable-pip-version-check")
}

// npmOptions keep packages from running code of their own and the lock from naming a registry.
var npmOptions = []string{"--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--omit-lockfile-registry-resolved", "--loglevel=error"}

// npm installs exactly the packages of the lock; with an empty lock it writes one.
func (t Tool) npm(ctx context.Context, dir string, lock []byte) error {
	if _, err := exec.LookPath("npm"); err != nil {
		return errors.New("npm was not found; install Node.js 20 or newer")
	}
	manifest, err := t.manifest()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), manifest, 0o644); err != nil {
		return err
	}
	if len(lock) == 0 {
		return run(ctx, dir, nil, "npm", append([]string{"install", "--package-lock-only"}, npmOptions...)...)
	}
	if err := os.WriteFile(filepath.Join(dir, "package-lock.json"), lock, 0o644); err != nil {
		return err
	}
	return run(ctx, dir, nil, "npm", append([]string{"ci"}, npmOptions...)...)
}

// manifest is the package.json of a tool.
func (t Tool) manifest() ([]byte, error) {
	packages := map[string]string{}
	for _, p := range t.Packages {
		at := strings.LastIndexByte(p, '@')
		if at < 1 {
			return nil, fmt.Errorf("%s has no version", p)
		}
		packages[p[:at]] = p[at+1:]
	}
	kind := "dependencies"
	if t.OfPlatform {
		kind = "optionalDependencies"
	}
	return json.Marshal(map[string]any{"name": t.Name, "private": true, "version": "1.0.0", kind: packages})
}

// ofSystem returns the path of a program that the system brings. Root installs it with
// apt-get where there is one; others are told what to install.
func (t Tool) ofSystem(ctx context.Context, progress io.Writer) (string, error) {
	if path := onPath(t.Find); path != "" {
		return path, nil
	}
	command := "apt-get install " + strings.Join(t.Packages, " ")
	apt, err := exec.LookPath("apt-get")
	if runtime.GOOS != "linux" || os.Geteuid() != 0 || err != nil {
		return "", fmt.Errorf("%s is not installed: run `%s` (Debian, Ubuntu) or install it with the package manager of this system", t.Name, command)
	}
	fmt.Fprintf(progress, "installing %s: %s\n", t.Name, command)
	stop := tick(progress, t.Name)
	defer stop()
	env := []string{"DEBIAN_FRONTEND=noninteractive"}
	args := append([]string{"install", "--yes", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"}, t.Packages...)
	if run(ctx, "/", env, apt, args...) != nil { // the lists of packages may be old, or missing
		if err := run(ctx, "/", env, apt, "update"); err != nil {
			return "", fmt.Errorf("%s could not be installed: %w", t.Name, err)
		}
		if err := run(ctx, "/", env, apt, args...); err != nil {
			return "", fmt.Errorf("%s could not be installed: %w", t.Name, err)
		}
	}
	if path := onPath(t.Find); path != "" {
		return path, nil
	}
	return "", fmt.Errorf("%s brought none of the programs %s", command, t.Find)
}

// systemFolders are looked in beside PATH, which may hold less than the system has.
var systemFolders = []string{"/usr/bin", "/usr/local/bin", "/snap/bin", "/opt/homebrew/bin", "/Applications/Google Chrome.app/Contents/MacOS"}

// onPath returns the first program there is of some names.
func onPath(names string) string {
	for _, name := range strings.Fields(names) {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
		for _, dir := range systemFolders {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode()&0o111 != 0 {
				return filepath.Join(dir, name)
			}
		}
	}
	return ""
}
