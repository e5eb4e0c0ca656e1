package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unicode"
)

// server is one of the three servers of an instance.
type server interface {
	name() string
	title() string // product and version, for people
	port() int
	// prepare writes settings and, the first time, makes the data directory.
	prepare(ctx context.Context) error
	// command is the program to run in the foreground; launch adds directory, environment, user and log.
	command() *exec.Cmd
	// ready returns nil once the server answers its own protocol.
	ready(ctx context.Context) error
	stopSignal() syscall.Signal
}

// instance is one stack, open for one caller, who holds its lock.
type instance struct {
	cfg  Config
	id   identity
	home string // where the servers' directories are: cfg.Dir unless the service user cannot work there
	lock *fileLock

	ports Ports // as remembered, or as chosen by start

	cache software // filled by provide
	java  string   // filled by provide

	mu       sync.Mutex
	progress io.Writer
}

// open takes the lock of the run directory, decides user and places, and reads the remembered ports.
func open(ctx context.Context, cfg Config, progress io.Writer) (*instance, error) {
	in, err := newInstance(cfg, progress)
	if err != nil {
		return nil, err
	}
	in.lock, err = acquire(ctx, filepath.Join(in.cfg.Dir, "lock"), func() {
		in.say("waiting for another command on %s", in.cfg.Dir)
	})
	if err != nil {
		return nil, err
	}
	if err := in.prepare(); err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

// newInstance completes the settings and finds the user the servers run as.
func newInstance(cfg Config, progress io.Writer) (*instance, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	id, err := serviceIdentity()
	return &instance{cfg: cfg, id: id, progress: progress}, err
}

func (in *instance) close() { in.lock.release() }

func (in *instance) prepare() (err error) {
	if in.home, err = in.findHome(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(in.cfg.Dir, "pids"), 0o755); err != nil {
		return err
	}
	if err := in.prepareCache(); err != nil {
		return err
	}
	in.ports, err = readPorts(in.portsPath())
	return err
}

func (in *instance) prepareCache() (err error) {
	if in.cfg.CacheDir, err = cacheDir(in.cfg.CacheDir, in.id); err != nil {
		return err
	}
	return in.makeCacheDir()
}

func (in *instance) say(format string, args ...any) {
	in.mu.Lock()
	defer in.mu.Unlock()
	fmt.Fprintf(in.progress, format+"\n", args...)
}

// locationFile in the run directory leads to the servers' directories when they are elsewhere.
const locationFile = "location"

// findHome returns where the servers' directories go: the run directory itself, or a place under /var/tmp when the
// service user cannot reach the run directory (a checkout in a private home) or the path does not suit the servers.
func (in *instance) findHome() (string, error) {
	if home := homeOf(in.cfg); home != in.cfg.Dir {
		return in.otherHome(home)
	}
	if in.id.canReach(in.cfg.Dir) && suits(in.cfg.Dir) {
		return in.cfg.Dir, nil
	}
	home, err := in.otherHome(otherHomes(in.cfg)[0])
	if err != nil {
		return "", err
	}
	in.say("the servers keep their data in %s, because %s is not a place they can work in", home, in.cfg.Dir)
	return home, os.WriteFile(filepath.Join(in.cfg.Dir, locationFile), []byte(home+"\n"), 0o644)
}

// homeOf finds the servers' directories without taking the lock or changing anything. A pointer counts only when it
// leads to a place made for this very run directory: Reset deletes what it leads to, and in a copied checkout it leads
// to the data of the original.
func homeOf(cfg Config) string {
	content, err := os.ReadFile(filepath.Join(cfg.Dir, locationFile))
	if home := strings.TrimSpace(string(content)); err == nil && slices.Contains(otherHomes(cfg), home) {
		return home
	}
	return cfg.Dir
}

// otherHomes are the places for servers that cannot work in the run directory, the preferred one first. What is in
// /var/tmp survives a restart of the machine.
func otherHomes(cfg Config) []string {
	homes := []string{"/var/tmp/vitrine-" + cfg.id(), "/tmp/vitrine-" + cfg.id()}
	if info, err := os.Stat("/var/tmp"); err != nil || !info.IsDir() {
		slices.Reverse(homes)
	}
	return homes
}

// otherHome makes the directory or takes it when it is already ours: /var/tmp is open to everybody, and another user
// could have put something there under the same name.
func (in *instance) otherHome(home string) (string, error) {
	if err := os.Mkdir(home, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(home)
	if err != nil {
		return "", err
	}
	if owner := ownerOf(info); !info.IsDir() || (owner != os.Geteuid() && owner != in.id.uid) {
		return "", fmt.Errorf("%s belongs to somebody else, so the stack does not use it: remove it or move the checkout to a place every user can read", home)
	}
	return home, in.id.makeDir(home, 0o755)
}

// suits reports whether a path is one the servers can work in: the start script of OpenSearch splits its options at
// spaces, and the path of a unix socket is limited to about 100 bytes.
func suits(path string) bool {
	return len(path) <= 70 && !strings.ContainsFunc(path, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`,'"\$*?`, r)
	})
}

func (in *instance) serverDir(name string) string { return filepath.Join(in.home, name) }
func (in *instance) tmpDir(name string) string    { return filepath.Join(in.home, name, "tmp") }
func (in *instance) logPath(name string) string   { return filepath.Join(in.home, name, name+".log") }

// makeServerDir makes the directory of a server with its temporary directory.
func (in *instance) makeServerDir(name string) error {
	if err := in.id.makeDir(in.serverDir(name), 0o755); err != nil {
		return err
	}
	return in.id.makeDir(in.tmpDir(name), 0o700)
}

// server returns the server of that name.
func (in *instance) server(name string) (server, error) {
	for _, s := range in.servers() {
		if s.name() == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("there is no such server; the servers are %s", strings.Join(Names(), ", "))
}

func (in *instance) servers() []server {
	return []server{&postgres{in}, &kafka{in}, &openSearch{in}}
}

// writeJSON replaces a file in one step, so that a reader sees the old content or the new.
func writeJSON(path string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	if _, err := temp.Write(append(content, '\n')); err != nil {
		temp.Close()
		return err
	}
	if err := temp.Chmod(0o644); err != nil {
		temp.Close()
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
