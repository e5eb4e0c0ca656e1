package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/service"
)

// said runs a command of the product that may fail, and returns its exit code and all
// that it printed.
func said(t *testing.T, cfg service.Config, args ...string) (code int, out string) {
	t.Helper()
	binary := failpointBinary(t) // which the first test builds: that time is not the command's
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
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
	t.Parallel()
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

// TestVerify_TheCommandFindsDamageGoesOnAndEndsWithItsExitCode runs the command as an
// operator does, beside the service.
func TestVerify_TheCommandFindsDamageGoesOnAndEndsWithItsExitCode(t *testing.T) {
	t.Parallel()
	k := newKilled(t)
	p := serve(t, k.cfg, "", "api")
	var hashes []string
	for n := range 4 {
		ok, data := k.upload(n)
		if !ok {
			t.Fatal("the upload was not acknowledged")
		}
		hashes = append(hashes, sha1Hex(data))
	}
	slices.Sort(hashes)
	if code, out := said(t, k.cfg, "verify", "--hash", "full"); code != 0 || !strings.Contains(out, "Verified 4 files, of which 4 were read") {
		t.Errorf("before: %d %s", code, out)
	}
	files, err := filepath.Glob(filepath.Join(k.cfg.DataDir, "blobs", "assets", "*", "*", hashes[1]))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.WriteFile(files[0], []byte("rotten"), 0o600); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Files    int
		Damaged  int
		Problems []struct {
			Tenant  string `json:"tenant_id"`
			Asset   string `json:"asset_h"`
			Problem string
		}
	}
	code, out := said(t, k.cfg, "verify", "--json")
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 1 {
		t.Fatalf("%d %s %v", code, out, err)
	}
	if got.Files != 4 || got.Damaged != 1 || len(got.Problems) != 1 || got.Problems[0].Asset != hashes[1] || got.Problems[0].Problem != "size" {
		t.Fatalf("%s", out)
	}
	after := got.Problems[0].Tenant + "/" + hashes[1]
	if code, out := said(t, k.cfg, "verify", "--after", after); code != 0 || !strings.Contains(out, "Verified 2 files") {
		t.Errorf("behind it: %d %s", code, out)
	}
	for _, args := range [][]string{{"doctor"}, {"blobs", "status"}} {
		if _, out := said(t, k.cfg, args...); !strings.Contains(out, "missing or") {
			t.Errorf("vitrine %v does not tell of it: %s", args, out)
		}
	}
	p.stop()
}
