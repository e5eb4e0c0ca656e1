// Package browser prints HTML files as PDF with the Chromium of this machine.
//
// In goes a folder with a page, which holds everything that the page needs; out comes a PDF with
// tags, an outline, links, and the title and language of the page. The browser draws what
// strangers have written, so it is a child process without a network, with bounded
// memory, time and output. That no script runs is for the policy of the page to say: the browser prints by a
// script of its own. Nothing of it is kept between two pages.
package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"vitrine/internal/sandbox"
)

// Limits of one run.
const (
	memoryLimit = 2 << 30         // bytes of data of each of its processes
	outputLimit = 1 << 30         // bytes of a file that it writes
	timeLimit   = 2 * time.Minute // of the clock, and of a processor
	findLimit   = 20 * time.Second
)

// programs are the names that Chromium and its kin have, and Off is the one that means none.
var programs = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}

// Off is the path that stands for no browser.
const Off = "none"

// ErrNone reports that there is no browser.
var ErrNone = errors.New("no Chromium is installed")

// Browser is a Chromium that prints.
type Browser struct {
	Path     string
	Version  string        // such as "Chromium 156.0.8078.79"
	Isolated bool          // whether it runs without a network, which needs a kernel that lets processes make namespaces
	Limit    time.Duration // of one page

	turn chan struct{} // one runs at a time, so that their memory is bounded too
}

// Find looks for Chromium at a path, or in PATH where that is empty, and asks for its version. The
// error is ErrNone where there is none, or says why the one there is does not work.
func Find(ctx context.Context, path string) (*Browser, error) {
	names := programs
	if path != "" {
		names = []string{path}
	}
	if path == Off {
		return nil, ErrNone
	}
	for _, name := range names {
		found, err := exec.LookPath(name)
		if err != nil {
			if path != "" {
				return nil, fmt.Errorf("no Chromium is at the path of the configuration: %w", err)
			}
			continue
		}
		return find(ctx, found)
	}
	return nil, ErrNone
}

func find(ctx context.Context, path string) (*Browser, error) {
	b := &Browser{Path: path, Isolated: true, Limit: timeLimit, turn: make(chan struct{}, 1)}
	said, err := b.run(ctx, findLimit, "--version")
	if err != nil {
		b.Isolated = false
		said, err = b.run(ctx, findLimit, "--version")
	}
	if err != nil {
		return nil, fmt.Errorf("%s does not run: %w", filepath.Base(path), err)
	}
	for line := range strings.Lines(said) {
		if fields := strings.Fields(line); len(fields) > 1 && strings.Contains(fields[0]+fields[1], "Chrom") {
			b.Version, _, _ = strings.Cut(strings.TrimSpace(line), " built on")
		}
	}
	if b.Version == "" {
		return nil, fmt.Errorf("%s is no Chromium", filepath.Base(path))
	}
	return b, nil
}

// options keep the browser from speaking to anybody, and from leaving anything behind.
var options = []string{
	"--headless", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--font-render-hinting=none",
	"--disable-extensions", "--disable-plugins",
	"--proxy-server=http://0.0.0.0:1", "--proxy-bypass-list=<-loopback>", "--host-resolver-rules=MAP * ~NOTFOUND", "--disable-background-networking",
	"--disable-component-update", "--disable-domain-reliability", "--disable-sync", "--no-pings", "--disable-breakpad",
	"--disable-crash-reporter", "--no-first-run", "--no-default-browser-check", "--use-mock-keychain", "--password-store=basic",
	"--no-pdf-header-footer", "--generate-pdf-document-outline",
}

// Print prints a page of a folder and returns where the PDF is, in the same folder, and how many pages it has.
func (b *Browser) Print(ctx context.Context, dir, page string) (path string, pages int, err error) {
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-ctx.Done():
		return "", 0, ctx.Err()
	}
	path = filepath.Join(dir, "printed.pdf")
	args := append([]string{"--print-to-pdf=" + path}, options...)
	if os.Geteuid() == 0 { // its own sandbox refuses root; what package sandbox does stays
		args = append(args, "--no-sandbox")
	}
	address := url.URL{Scheme: "file", Path: filepath.Join(dir, page)}
	said, err := b.run(ctx, b.Limit, append(args, address.String())...)
	if err != nil {
		return "", 0, err
	}
	if pages, err = countPages(path); err != nil {
		return "", 0, fmt.Errorf("the browser wrote no PDF: %w: %s", err, lastLine(said))
	}
	return path, pages, nil
}

// run runs the program, with a home of its own that is removed afterwards, and returns what it says.
func (b *Browser) run(ctx context.Context, limit time.Duration, args ...string) (string, error) {
	dir, err := os.MkdirTemp("", "vb-") // a short name: the browser makes sockets in it, whose paths are limited
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(limited, b.Path, append([]string{"--user-data-dir=" + filepath.Join(dir, "profile")}, args...)...)
	said := &sandbox.Output{Left: 16 << 10}
	cmd.Env = []string{"HOME=" + dir, "TMPDIR=" + dir, "XDG_RUNTIME_DIR=" + dir, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, said, said, time.Second
	sandbox.Confine(cmd, b.Isolated)
	if err := cmd.Start(); err != nil {
		return "", err
	}
	defer sandbox.End(cmd.Process.Pid) // processes that it has left behind
	most := sandbox.Limits{Memory: memoryLimit, CPU: limit + time.Second, FileSize: outputLimit}
	if err := sandbox.Bound(cmd.Process.Pid, most); err != nil {
		sandbox.End(cmd.Process.Pid)
		_ = cmd.Wait()
		return "", err
	}
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limited.Err() != nil:
		return "", fmt.Errorf("the browser took longer than %s", limit)
	case err != nil:
		return "", fmt.Errorf("the browser ended with %w: %s", err, lastLine(said.String()))
	}
	return said.String(), nil
}

// lastLine returns the end of what a program said.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	last := lines[len(lines)-1]
	return last[max(0, len(last)-200):]
}
