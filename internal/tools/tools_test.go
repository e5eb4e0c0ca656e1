package tools_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"vitrine/internal/stack"
	"vitrine/internal/testenv"
	"vitrine/internal/tools"
)

func TestTools_EachIsInstalledAndAnswers(t *testing.T) {
	for _, tool := range tools.All {
		t.Run(tool.Name, func(t *testing.T) {
			t.Parallel()
			path := testenv.Tool(t, tool.Name)
			if tool.Probe == nil {
				if entries, err := os.ReadDir(path); err != nil || len(entries) == 0 {
					t.Errorf("%s is no folder with something in it: %v", path, err)
				}
				return
			}
			if out, err := exec.CommandContext(t.Context(), path, tool.Probe...).CombinedOutput(); err != nil {
				t.Errorf("%s %q ended with %v: %.500s", path, tool.Probe, err, out)
			}
		})
	}
}

var pinned = regexp.MustCompile(`^(@[a-z0-9-]+/)?[A-Za-z0-9._-]+(==|@)[0-9][A-Za-z0-9.+-]*$`)

// A lock pins contents by version or sum; it names no registry, since any mirror will do.
func TestTools_LocksPinAllPackagesAndNameNoRegistry(t *testing.T) {
	for _, tool := range tools.All {
		if tool.From != tools.PyPI && tool.From != tools.NPM {
			continue
		}
		for _, p := range tool.Packages {
			if !pinned.MatchString(p) {
				t.Errorf("%s: %s has no exact version", tool.Name, p)
			}
		}
		lock := lockOf(t, tool)
		for _, p := range tool.Packages {
			name := strings.TrimRight(strings.Split(p[1:], "@")[0], "=")
			if tool.From == tools.PyPI && !strings.Contains(lock, "\n"+strings.ReplaceAll(p, "-", "_")) && !strings.Contains(lock, "\n"+p) {
				t.Errorf("the lock of %s has not %s; run `make lock-tools`", tool.Name, p)
			}
			if tool.From == tools.NPM && !strings.Contains(lock, name) {
				t.Errorf("the lock of %s has not %s; run `make lock-tools`", tool.Name, p)
			}
		}
		if tool.From == tools.NPM {
			checkNPMLock(t, tool, lock)
		}
		if strings.Contains(lock, "://") && strings.Contains(lock, "resolved") {
			t.Errorf("the lock of %s names a registry", tool.Name)
		}
	}
}

func lockOf(t *testing.T, tool tools.Tool) string {
	t.Helper()
	extension := map[tools.Source]string{tools.PyPI: ".txt", tools.NPM: ".json"}[tool.From]
	raw, err := os.ReadFile(filepath.Join("lock", tool.Name+extension))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func checkNPMLock(t *testing.T, tool tools.Tool, lock string) {
	t.Helper()
	var parsed struct {
		Packages map[string]struct{ Version, Integrity string }
	}
	if err := json.Unmarshal([]byte(lock), &parsed); err != nil || len(parsed.Packages) < 2 {
		t.Fatalf("the lock of %s pins %d packages: %v", tool.Name, len(parsed.Packages), err)
	}
	for name, p := range parsed.Packages {
		if name != "" && (p.Version == "" || p.Integrity == "") {
			t.Errorf("the lock of %s does not pin %s", tool.Name, name)
		}
	}
}

func TestTools_InstallationThatFailsIsAnErrorAndLeavesNothingToFind(t *testing.T) {
	tool := tools.Tool{Name: "absent", From: tools.Go, Packages: []string{"vitrine.invalid/nothing@v1.0.0"}, Find: "bin/nothing"}
	cfg := stack.Config{Dir: t.TempDir(), CacheDir: testCache(t)}
	t.Setenv("GOPROXY", "off")
	for range 2 { // a second attempt must not take the first one's folder for a tool
		if path, err := tool.Path(t.Context(), cfg, new(strings.Builder)); err == nil || !strings.Contains(err.Error(), "could not be installed from Go modules") {
			t.Errorf("path %q, error %v", path, err)
		}
	}
}

// testCache is a cache that the user who runs the servers can read too.
func testCache(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "vitrine-tools-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
