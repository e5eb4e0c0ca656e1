package preview

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"vitrine/internal/sandbox"
)

// Limits of one run of a program. It decodes what strangers have made, so it runs as a child
// process that can take no more than this, whatever the file claims.
const (
	programMemory = 768 << 20        // bytes of data
	programTime   = 20 * time.Second // of the clock, and of a processor
	maxFrame      = 32 << 20         // bytes of the picture that it returns
)

// errFrame reports output that is no picture of the size asked for.
var errFrame = errors.New("it writes more than a picture takes")

// Program is a program that reads pictures which this package does not decode itself.
type Program struct {
	Path     string
	Version  string // the first line that it says of itself, such as "ffmpeg version 5.1.9"
	Isolated bool   // whether it runs without a network, which needs a kernel that lets processes make namespaces

	env  []string
	turn chan struct{} // one runs at a time, so that their memory is bounded too
}

// find looks for a program at a path, or in PATH where that is a name, and runs it once with
// the arguments that have it say its version. The error says why there is none that works.
func find(ctx context.Context, path string, env []string, version ...string) (Program, error) {
	found, err := exec.LookPath(path)
	if err != nil {
		return Program{}, err
	}
	p := Program{Path: found, Isolated: true, env: env, turn: make(chan struct{}, 1)}
	said, err := p.run(ctx, nil, version...)
	if err != nil {
		p.Isolated = false
		said, err = p.run(ctx, nil, version...)
	}
	p.Version, _, _ = strings.Cut(string(said), "\n")
	return p, err
}

// programError is what a program that failed wrote about it.
type programError struct {
	err  error
	said string
}

func (e *programError) Error() string { return fmt.Sprintf("%v: %s", e.err, e.said) }
func (e *programError) Unwrap() error { return e.err }

// run runs the program on a file, its standard input and its descriptor 3, and returns what it writes.
func (p *Program) run(ctx context.Context, input *os.File, args ...string) ([]byte, error) {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	limited, cancel := context.WithTimeout(ctx, programTime)
	defer cancel()
	cmd := exec.CommandContext(limited, p.Path, args...)
	out, said := &sandbox.Output{Left: maxFrame, Full: errFrame}, &sandbox.Output{Left: 4 << 10}
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = append([]string{}, p.env...), "/", out, said, time.Second
	if input != nil {
		cmd.Stdin, cmd.ExtraFiles = input, []*os.File{input}
	}
	sandbox.Confine(cmd, p.Isolated)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if err := sandbox.Bound(cmd.Process.Pid, sandbox.Limits{Memory: programMemory, CPU: programTime}); err != nil {
		cancel()
		_ = cmd.Wait()
		return nil, err
	}
	err := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, fmt.Errorf("%s took longer than %s", p.Version, programTime)
	case err != nil:
		return nil, &programError{err, strings.TrimSpace(said.String())}
	}
	return out.Bytes(), nil
}
