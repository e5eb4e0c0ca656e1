// Package tools installs the programs and libraries that tests need and that are no
// part of the product: independent writers and readers of files, clients, browsers.
//
// In comes the list in list.go, where each tool has its source, its versions and where
// its program is found; out come paths in the cache that `vitrine stack` keeps the
// servers in. A tool is installed once, under a lock, from a public package registry
// with that registry's own client, which knows the machine's mirrors, proxies and
// certificates. Contents are pinned: by versions here, and by the files in lock/ for
// what the packages need in turn. Nothing that happens to be installed by hand is used,
// save the clients themselves (python3, npm, go) and a browser of the system.
package tools

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"vitrine/internal/stack"
)

// Source is where a tool comes from.
type Source string

// The sources.
const (
	PyPI   Source = "PyPI"         // packages "name==version" in a Python environment of their own
	NPM    Source = "npm"          // packages "name@version" in a folder of their own
	Go     Source = "Go modules"   // one command "path@version"
	System Source = "this machine" // a package of the system's own package manager, of any version
)

// Tool is something that tests need.
type Tool struct {
	Name     string
	From     Source
	Packages []string // pinned, in the notation of the source
	// Find is a pattern of the program's path, or of a folder of libraries, inside the
	// tool's own folder. For System it lists names of the program.
	Find string
	// Probe are arguments with which the program ends with success; nil for a folder.
	Probe []string
	// OfPlatform means that the packages are builds for different platforms, of which npm
	// installs the one that fits.
	OfPlatform bool
}

// locks are the versions and sums of all packages that a tool brings, by tool.
//
//go:embed lock
var locks embed.FS

// timeout bounds the installation of one tool on a slow line.
const timeout = 10 * time.Minute

// Named returns the tool of a name.
func Named(name string) (Tool, bool) {
	i := slices.IndexFunc(All, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return Tool{}, false
	}
	return All[i], true
}

// Path returns where a tool's program or folder is, and installs the tool first when the
// cache does not have it. What it does is written to progress.
func (t Tool) Path(ctx context.Context, cfg stack.Config, progress io.Writer) (string, error) {
	if t.From == System {
		return t.ofSystem(ctx, progress)
	}
	cache, err := stack.CacheDir(cfg)
	if err != nil {
		return "", err
	}
	dir, err := t.dir(cache)
	if err != nil {
		return "", err
	}
	if path, err := t.find(dir); err == nil {
		return path, nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	release, err := stack.Lock(ctx, dir+".lock", func() { fmt.Fprintf(progress, "waiting for another command that installs %s\n", t.Name) })
	if err != nil {
		return "", err
	}
	defer release()
	if path, err := t.find(dir); err == nil {
		return path, nil
	}
	if err := t.install(ctx, dir, progress); err != nil {
		return "", fmt.Errorf("%s could not be installed from %s: %w", t.Name, t.From, err)
	}
	return t.find(dir)
}

// complete is the file that a tool's folder has once everything is in it.
const complete = ".complete"

// dir is the tool's folder in the cache; its name changes with all that is pinned.
func (t Tool) dir(cache string) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, t.From, t.Packages)
	lock, err := t.lock()
	if err != nil {
		return "", err
	}
	sum.Write(lock)
	if t.From == PyPI {
		version, err := pythonVersion()
		if err != nil {
			return "", err
		}
		fmt.Fprintln(sum, version)
	}
	return filepath.Join(cache, "tools", t.Name+"-"+hex.EncodeToString(sum.Sum(nil)[:5])), nil
}

// find returns the tool's path in a folder that is complete.
func (t Tool) find(dir string) (string, error) {
	if _, err := os.Stat(filepath.Join(dir, complete)); err != nil {
		return "", err
	}
	return t.match(dir)
}

func (t Tool) match(dir string) (string, error) {
	found, err := filepath.Glob(filepath.Join(dir, t.Find))
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%d files match %s in %s, want one", len(found), t.Find, dir)
	}
	return found[0], nil
}

// install fills the folder, which is made anew: an interrupted installation is not gone
// on with. An environment of Python cannot be moved, so it is made where it stays.
func (t Tool) install(ctx context.Context, dir string, progress io.Writer) error {
	fmt.Fprintf(progress, "installing %s from %s: %s\n", t.Name, t.From, strings.Join(t.Packages, " "))
	began := time.Now()
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	stop := tick(progress, t.Name)
	err := t.fill(ctx, dir)
	stop()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	path, err := t.match(dir)
	if err == nil && t.Probe != nil {
		err = os.Chmod(path, 0o755) // some packages do it in a script of their own, which is not run
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(progress, "%s is installed after %.0f s\n", t.Name, time.Since(began).Seconds())
	return os.WriteFile(filepath.Join(dir, complete), nil, 0o644)
}

func (t Tool) fill(ctx context.Context, dir string) error {
	lock, err := t.lock()
	if err != nil {
		return err
	}
	switch t.From {
	case PyPI:
		return t.pip(ctx, dir, lock)
	case NPM:
		return t.npm(ctx, dir, lock)
	case Go:
		return run(ctx, dir, []string{"GOBIN=" + filepath.Join(dir, "bin"), "GOFLAGS="}, "go", append([]string{"install"}, t.Packages...)...)
	}
	return fmt.Errorf("%s is no source of packages", t.From)
}

// lock returns what is pinned beside the tool's own line; of Go modules that is their
// own go.sum.
func (t Tool) lock() ([]byte, error) {
	lock, err := locks.ReadFile(t.lockFile())
	if errors.Is(err, fs.ErrNotExist) {
		if t.From == PyPI || t.From == NPM {
			return nil, fmt.Errorf("internal/tools/%s is missing: run `make lock-tools`", t.lockFile())
		}
		return nil, nil
	}
	return lock, err
}

func (t Tool) lockFile() string {
	if t.From == NPM {
		return "lock/" + t.Name + ".json"
	}
	return "lock/" + t.Name + ".txt"
}

// tick writes every 15 s that a tool is still being installed, until stop is called.
func tick(progress io.Writer, name string) (stop func()) {
	began, done := time.Now(), make(chan struct{})
	go func() {
		ticker := time.NewTicker(15 * time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				fmt.Fprintf(progress, "still installing %s after %.0f s\n", name, time.Since(began).Seconds())
			}
		}
	}()
	return sync.OnceFunc(func() { close(done) })
}

// run runs a package manager in a folder and returns what it said when it fails.
func run(ctx context.Context, dir string, env []string, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(os.Environ(), env...), 5*time.Second
	said, err := cmd.CombinedOutput()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(string(said)), "\n")
		if len(lines) > 8 { // npm names the cause first, others last
			lines = append(append(lines[:4:4], "…"), lines[len(lines)-3:]...)
		}
		return fmt.Errorf("%s ended with %w: %s", filepath.Base(program), err, strings.Join(lines, "\n"))
	}
	return nil
}
