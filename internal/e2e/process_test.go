package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"vitrine/internal/testenv"
	"vitrine/service"
	"vitrine/service/servicetest"
)

var (
	buildOnce   sync.Once
	builtBinary string
	buildErr    error
)

// failpointBinary builds the product with its failpoints, once per run.
func failpointBinary(t *testing.T) string {
	t.Helper()
	buildOnce.Do(func() {
		dir, err := os.MkdirTemp("", "vitrine-failpoints-")
		if err != nil {
			buildErr = err
			return
		}
		builtBinary = filepath.Join(dir, "vitrine")
		cmd := exec.Command("go", "build", "-tags", "failpoint", "-o", builtBinary, "vitrine/cmd/vitrine")
		cmd.Dir = testenv.ModuleRoot(t)
		if out, err := cmd.CombinedOutput(); err != nil {
			buildErr = fmt.Errorf("building the product with failpoints: %w\n%s", err, out)
		}
	})
	if buildErr != nil {
		t.Fatal(buildErr)
	}
	return builtBinary
}

func TestMain(m *testing.M) {
	code := m.Run()
	if err := servicetest.CloseShared(); err != nil {
		fmt.Fprintln(os.Stderr, "the product that tests share did not end well:", err)
		code = max(code, 1)
	}
	if builtBinary != "" {
		_ = os.RemoveAll(filepath.Dir(builtBinary)) // the temporary folder is swept by the system anyway
	}
	os.Exit(code)
}

// process is the product as a process of its own, on a configuration.
type process struct {
	t    *testing.T
	cfg  service.Config
	cmd  *exec.Cmd
	out  bytes.Buffer
	done chan error
}

// environment returns the variables that give a process a configuration: what is in
// the struct, and what settings holds for its prefix.
func environment(cfg service.Config, libErr string) []string {
	env := append(os.Environ(), "VITRINE_POSTGRES_URL="+cfg.PostgresURL, "VITRINE_KAFKA_BROKERS="+strings.Join(cfg.Brokers, ","),
		"VITRINE_OPENSEARCH_URL="+strings.Join(cfg.OpenSearchURL, ","), "VITRINE_DATA_DIR="+cfg.DataDir, "VITRINE_PREFIX="+cfg.Prefix,
		"VITRINE_LISTEN="+cfg.Listen, "VITRINE_SEARCHES_PER_MINUTE=-1", "VITRINE_INDEX_WAIT="+cfg.IndexWait.String(), "VITRINE_SEARCH_LIMIT="+cfg.SearchLimit.String(), "VITRINE_FAILPOINTS="+libErr,
		"VITRINE_BLOBS="+cfg.Blobs, "VITRINE_S3_ENDPOINT="+cfg.S3.Endpoint, "VITRINE_S3_REGION="+cfg.S3.Region, "VITRINE_S3_ACCESS_KEY="+cfg.S3.AccessKey, "VITRINE_S3_SECRET_KEY="+cfg.S3.SecretKey)
	if of, ok := settings.Load(cfg.Prefix); ok {
		for name, value := range of.(map[string]string) {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// settings has the variables beside the configuration of each prefix, by name: tests
// that run in parallel cannot set their own environment.
var settings sync.Map

// serve starts the service; error names where it dies, or is empty.
func serve(t *testing.T, cfg service.Config, libErr string, roles ...string) *process {
	t.Helper()
	return serveWith(t, cfg, libErr, func(*exec.Cmd) {}, roles...)
}

// serveWith is serve for a process that is started in a way of its own.
func serveWith(t *testing.T, cfg service.Config, libErr string, adjust func(*exec.Cmd), roles ...string) *process {
	t.Helper()
	p := &process{t: t, cfg: cfg, cmd: exec.Command(failpointBinary(t), "serve"), done: make(chan error, 1)}
	if len(roles) > 0 {
		p.cmd.Args = append(p.cmd.Args, "--role", strings.Join(roles, ","))
	}
	p.cmd.Env = environment(cfg, libErr)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	adjust(p.cmd)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	t.Cleanup(p.kill)
	servicetest.Eventually(t, "the process listens", func() error {
		res, err := http.Get("http://" + cfg.Listen + "/healthz")
		if err != nil {
			return err
		}
		return res.Body.Close()
	})
	return p
}

// kill is kill -9.
func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		<-p.done
		p.done <- nil
	}
}

// stop asks it to finish.
func (p *process) stop() {
	p.t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-p.done:
		p.done <- nil
		if err != nil {
			p.t.Errorf("the process ended with %v: %s", err, tail(p.out.String()))
		}
	case <-time.After(40 * time.Second):
		p.t.Fatalf("the process did not stop: %s", tail(p.out.String()))
	}
}

// awaitDeath waits until a failpoint has killed the process, and fails the test
// if it ended in any other way: a point that is never reached proves nothing.
func (p *process) awaitDeath(point string) {
	p.t.Helper()
	select {
	case err := <-p.done:
		p.done <- nil
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 137 || !strings.Contains(p.out.String(), "failpoint: hit "+point) {
			p.t.Fatalf("the process did not die at %s but ended with %v: %s", point, err, tail(p.out.String()))
		}
	case <-time.After(60 * time.Second):
		p.t.Fatalf("the process never reached %s: %s", point, tail(p.out.String()))
	}
}

// command runs another command of the product on the same configuration.
func command(t *testing.T, cfg service.Config, args ...string) string {
	t.Helper()
	binary := failpointBinary(t) // which may have to be built
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = environment(cfg, "")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("vitrine %s: %v\n%s%s", strings.Join(args, " "), err, out, exit.Stderr)
		}
		t.Fatal(err)
	}
	return string(out)
}

func tail(s string) string { return s[max(0, len(s)-3000):] }
