//go:build failpoint

package failpoint

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestOn_ParseRefusesWhatItCannotMean(t *testing.T) {
	for _, list := range []string{"no.such_point", "relay.before_publish:0", "relay.before_publish:x",
		"relay.before_publish=explode", "relay.before_publish=delay:soon", "blob.written=full:"} {
		if _, err := parse(list); err == nil {
			t.Errorf("parse(%q) accepted it", list)
		}
	}
}

func TestOn_ErrorAndDelayHappenAtTheAskedPass(t *testing.T) {
	use(t, "relay.before_publish:2=error, relay.after_publish=delay:20ms")
	if err := Inject("relay.before_publish"); err != nil {
		t.Errorf("first pass = %v", err)
	}
	if err := Inject("relay.before_publish"); !errors.Is(err, ErrInjected) {
		t.Errorf("second pass = %v", err)
	}
	if err := Inject("relay.before_publish"); err != nil {
		t.Errorf("third pass = %v", err)
	}
	began := time.Now()
	if err := Inject("relay.after_publish"); err != nil || time.Since(began) < 20*time.Millisecond {
		t.Errorf("delay = %v after %v", err, time.Since(began))
	}
}

func TestOn_ADiskIsFullWhileItsFileIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "full")
	use(t, "blob.written=full:"+path)
	if err := Inject("blob.written"); err != nil {
		t.Errorf("without the file = %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Inject("blob.written"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("with the file = %v", err)
	}
}

func TestOn_AProcessIsKilledAtItsPoint(t *testing.T) {
	if os.Getenv("VITRINE_FAILPOINTS_CHILD") != "" {
		_ = Inject("indexer.before_bulk")
		_ = Inject("indexer.before_bulk")
		os.Exit(0)
	}
	cmd := exec.Command(os.Args[0], "-test.run", t.Name())
	cmd.Env = append(os.Environ(), "VITRINE_FAILPOINTS_CHILD=1", "VITRINE_FAILPOINTS=indexer.before_bulk:2")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 137 {
		t.Fatalf("the child ended with %v", err)
	}
	if !strings.Contains(string(out), "failpoint: hit indexer.before_bulk") {
		t.Errorf("the child did not say where it died: %q", out)
	}
}

func use(t *testing.T, list string) {
	p, err := parse(list)
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	plans, passes = p, map[string]int{}
}
