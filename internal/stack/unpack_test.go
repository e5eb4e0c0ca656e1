package stack

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func archive(t *testing.T, names ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.zip")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := zip.NewWriter(file)
	for _, name := range names {
		header := &zip.FileHeader{Name: name}
		header.SetMode(0o700)
		entry, err := w.CreateHeader(header)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := entry.Write([]byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestUnpack_UnpackedFilesCanBeReadAndRunByEverybody(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if err := unzip(archive(t, "top/bin/run"), dir); err != nil {
		t.Fatal(err)
	}
	if err := makeReadable(dir); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "top/bin/run"))
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode&0o555 != 0o555 {
		t.Errorf("the program has mode %o, want readable and executable by all", mode)
	}
}

func TestUnpack_AnArchiveCannotWriteOutsideItsDirectory(t *testing.T) {
	for _, name := range []string{"../out", "/etc/out", "a/../../out"} {
		dir := filepath.Join(t.TempDir(), "in")
		if err := unzip(archive(t, name), dir); err == nil {
			t.Errorf("an archive with %q is unpacked", name)
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "out")); err == nil {
			t.Errorf("an archive with %q wrote outside", name)
		}
	}
}

func TestUnpack_AnArchiveThatIsNotThePublishedOneIsRefused(t *testing.T) {
	work := t.TempDir()
	if err := os.Mkdir(filepath.Join(work, "archives"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{openSearchArchive(), knnArchive(), postgresArchive("linux-amd64")} {
		if err := os.WriteFile(filepath.Join(work, "archives", name), []byte("something else"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := verify(work, "linux-amd64"); err == nil || !strings.Contains(err.Error(), openSearchArchive()) {
		t.Errorf("verify says %v, want an error that names the archive", err)
	}
}

func TestUnpack_EveryPlatformHasARecordedSum(t *testing.T) {
	for _, system := range []string{"linux", "darwin"} {
		for _, processor := range []string{"amd64", "arm64"} {
			platform, err := postgresPlatform(system, processor)
			if err != nil {
				t.Fatal(err)
			}
			if archiveSums[postgresArchive(platform)] == "" {
				t.Errorf("no sum for %s/%s", system, processor)
			}
		}
	}
	if _, err := postgresPlatform("plan9", "386"); err == nil {
		t.Error("a platform without a build is accepted")
	}
}

func TestUnpack_TheCauseOfAFailedDownloadIsFoundInMavensOutput(t *testing.T) {
	output := "[WARNING] old\n[ERROR] Could not resolve org.x:y:1\n[ERROR] To see the full stack trace\n"
	if got := firstError(output); got != "Could not resolve org.x:y:1" {
		t.Errorf("firstError = %q", got)
	}
	if got := firstError("killed\n"); got != "killed" {
		t.Errorf("firstError without a mark = %q", got)
	}
}
