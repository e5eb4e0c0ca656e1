package e2e

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/service"
)

// said runs a command of the product that may fail, and returns its exit code and all
// that it printed.
func said(t *testing.T, cfg service.Config, args ...string) (code int, out string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, failpointBinary(t), args...)
	cmd.Env = environment(cfg, "")
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), b.String()
}

// TestBlobs_TheCommandsTellOfAVolumeThatIsNotMounted runs every command that looks at
// the folder, with the volume away and with an intended change.
func TestBlobs_TheCommandsTellOfAVolumeThatIsNotMounted(t *testing.T) {
	k := newKilled(t)
	p := serve(t, k.cfg, "", "api")
	if ok, _ := k.upload(1); !ok {
		t.Fatal("the upload was not acknowledged")
	}
	if code, out := said(t, k.cfg, "blobs", "status"); code != 0 || !strings.Contains(out, "1 of 1 that were looked for are there") {
		t.Errorf("status: %d %s", code, out)
	}
	p.stop()
	blobs := filepath.Join(k.cfg.DataDir, "blobs")
	if err := os.Rename(blobs, blobs+"-aside"); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"serve"}, {"serve", "--role", "work"}, {"doctor"}, {"blobs", "status"}, {"blobs", "adopt"}, {"sweep"}} {
		code, out := said(t, k.cfg, args...)
		if code != 1 || !strings.Contains(out, blobs) {
			t.Errorf("vitrine %v: %d %s", args, code, out)
		}
		if args[0] != "blobs" && !strings.Contains(out, "vitrine blobs adopt") {
			t.Errorf("vitrine %v does not say what to do: %s", args, out)
		}
	}
	if _, err := os.Stat(blobs); err == nil {
		t.Error("a command made the folder anew")
	}
	if code, out := said(t, k.cfg, "keys", "list"); code != 0 {
		t.Errorf("a command that needs no files: %d %s", code, out)
	}
	if code, out := said(t, k.cfg, "blobs", "adopt", "--accept-missing"); code != 0 || !strings.Contains(out, "0 of 1 that were looked for are there") {
		t.Errorf("adopt: %d %s", code, out)
	}
	p = serve(t, k.cfg, "", "api")
	if ok, data := k.upload(1); !ok || !k.stored(data) {
		t.Error("sending the file again does not bring it back")
	}
	p.stop()
}
