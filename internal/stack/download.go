package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// software is where the unpacked servers are; all of it is read-only to them.
type software struct {
	postgres   string // bin, lib, share
	kafka      string // jars
	openSearch string // the distribution with the k-NN plugin installed
}

// cacheDir returns the directory for downloads: the given one, else vitrine in the user's cache. Where root runs the
// servers as another user who cannot read root's home, it is /var/cache/vitrine.
func cacheDir(given string, id identity) (string, error) {
	if given != "" {
		if !id.canReach(given) {
			return "", fmt.Errorf("VITRINE_CACHE is in a directory the user %s cannot read, who runs the servers: choose another one", id.name)
		}
		return given, nil
	}
	base := os.Getenv("XDG_CACHE_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the cache directory: %w; set VITRINE_CACHE", err)
		}
		base = filepath.Join(home, ".cache")
	}
	if dir := filepath.Join(base, "vitrine"); id.canReach(dir) {
		return dir, nil
	}
	return "/var/cache/vitrine", nil
}

// makeCacheDir makes the cache so that the service user can read it, whatever the caller's umask is.
func (in *instance) makeCacheDir() error {
	if err := os.MkdirAll(in.cfg.CacheDir, 0o755); err != nil {
		return fmt.Errorf("make the download cache: %w; set VITRINE_CACHE to a directory you may write", err)
	}
	if in.id.switched {
		return os.Chmod(in.cfg.CacheDir, 0o755)
	}
	return nil
}

// provide makes sure that Java and the software of the given servers are there.
func (in *instance) provide(ctx context.Context, servers []server) (err error) {
	needed := map[string]bool{}
	for _, s := range servers {
		needed[s.name()] = true
	}
	if needed[Kafka] || needed[OpenSearch] {
		if in.java, err = findJava(in.id); err != nil {
			return err
		}
	}
	platform, err := postgresPlatform(runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return err
	}
	in.cache = software{
		postgres:   filepath.Join(in.cfg.CacheDir, "postgres-"+PostgresVersion+"-"+platform),
		kafka:      filepath.Join(in.cfg.CacheDir, "kafka-"+KafkaVersion+"-"+kafkaSum[:8]),
		openSearch: filepath.Join(in.cfg.CacheDir, "opensearch-"+OpenSearchVersion+"-knn-"+knnVersion),
	}
	if in.complete() {
		return nil
	}
	lock, err := acquire(ctx, filepath.Join(in.cfg.CacheDir, "download.lock"), func() {
		in.say("waiting for another command that downloads into %s", in.cfg.CacheDir)
	})
	if err != nil {
		return err
	}
	defer lock.release()
	if in.complete() {
		return nil
	}
	return in.download(ctx, platform)
}

// complete reports whether everything is unpacked: a directory gets its name only when it is.
func (in *instance) complete() bool {
	for _, dir := range []string{in.cache.postgres, in.cache.kafka, in.cache.openSearch} {
		if _, err := os.Stat(dir); err != nil {
			return false
		}
	}
	return true
}

func (in *instance) javaProgram() string { return filepath.Join(in.java, "bin", "java") }

// postgresPlatform names the build of PostgreSQL for an operating system and processor, as the publisher calls it.
func postgresPlatform(system, processor string) (string, error) {
	names := map[string]string{
		"linux/amd64": "linux-amd64", "linux/arm64": "linux-arm64v8",
		"darwin/amd64": "darwin-amd64", "darwin/arm64": "darwin-arm64v8",
	}
	name, ok := names[system+"/"+processor]
	if !ok {
		return "", fmt.Errorf("there is no PostgreSQL build for %s/%s: use docker/compose.yaml or your own servers", system, processor)
	}
	return name, nil
}

// download fetches what is missing with Maven into a temporary directory, checks it against the recorded sums, unpacks
// it there and gives each part its name as the last step.
func (in *instance) download(ctx context.Context, platform string) error {
	if err := checkTools(); err != nil {
		return err
	}
	work := filepath.Join(in.cfg.CacheDir, "unpacking")
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(work)
	in.say("downloading %s (15 MB), Kafka %s (44 MB) and OpenSearch %s (200 MB) from Maven Central into %s", "PostgreSQL "+PostgresVersion, KafkaVersion, OpenSearchVersion, in.cfg.CacheDir)
	began := time.Now()
	if err := in.maven(ctx, work, pom(platform)); err != nil {
		return err
	}
	in.say("downloaded after %.0f s, unpacking", time.Since(began).Seconds())
	if err := verify(work, platform); err != nil {
		return err
	}
	return in.unpack(ctx, work, platform)
}

func checkTools() error {
	if _, err := exec.LookPath("mvn"); err != nil {
		return missing("mvn", "downloads the servers", "maven", "maven", "maven")
	}
	if _, err := exec.LookPath("tar"); err != nil {
		return missing("tar", "unpacks PostgreSQL", "tar", "tar", "gnu-tar")
	}
	// The tar of macOS reads xz by itself.
	if _, err := exec.LookPath("xz"); err != nil && runtime.GOOS != "darwin" {
		return missing("xz", "unpacks PostgreSQL", "xz-utils", "xz", "xz")
	}
	return nil
}

// pom is a Maven project whose only purpose is to copy the servers into its directory. One run for all keeps Maven's
// own start and its settings (mirrors, proxies, credentials) in one place: the user's ~/.m2/settings.xml.
func pom(platform string) string {
	item := `<artifactItem><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version><type>%s</type></artifactItem>`
	items := fmt.Sprintf(item, "io.zonky.test.postgres", "embedded-postgres-binaries-"+platform, PostgresVersion+".0", "jar") +
		fmt.Sprintf(item, "org.opensearch.plugin", "opensearch-knn", knnVersion, "zip") +
		fmt.Sprintf(item, "org.opensearch.distribution.integ-test-zip", "opensearch", OpenSearchVersion, "zip")
	return `<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>vitrine</groupId><artifactId>stack</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>` + KafkaVersion + `</version></dependency>
<dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId><version>` + log4jVersion + `</version></dependency>
</dependencies>
<build><plugins><plugin>
<groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId><version>3.8.1</version>
<executions>
<execution><id>archives</id><phase>generate-resources</phase><goals><goal>copy</goal></goals>
<configuration><outputDirectory>${project.basedir}/archives</outputDirectory><artifactItems>` + items + `</artifactItems></configuration></execution>
<execution><id>kafka</id><phase>generate-resources</phase><goals><goal>copy-dependencies</goal></goals>
<configuration><outputDirectory>${project.basedir}/kafka</outputDirectory><includeScope>runtime</includeScope></configuration></execution>
</executions>
</plugin></plugins></build>
</project>
`
}

// maven runs mvn on the project and says every 15 s that it is still at work, because mvn itself shows no progress
// without a terminal.
func (in *instance) maven(ctx context.Context, dir, project string) error {
	if err := os.WriteFile(filepath.Join(dir, "pom.xml"), []byte(project), 0o644); err != nil {
		return err
	}
	done := make(chan struct{})
	defer close(done)
	go in.tick(done)
	cmd := exec.CommandContext(ctx, "mvn", "--batch-mode", "--quiet", "generate-resources")
	cmd.Dir = dir
	cmd.WaitDelay = 5 * time.Second
	said, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("mvn could not download the servers (%w), so check the network and the mirrors in ~/.m2/settings.xml: %s", err, firstError(string(said)))
	}
	return nil
}

func (in *instance) tick(done <-chan struct{}) {
	began := time.Now()
	ticker := time.NewTicker(15 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			in.say("still downloading after %.0f s", time.Since(began).Seconds())
		}
	}
}

// firstError returns the first line in which Maven names a cause.
func firstError(output string) string {
	for line := range strings.Lines(output) {
		if _, cause, ok := strings.Cut(line, "ERROR] "); ok {
			return strings.TrimSpace(cause)
		}
	}
	return strings.TrimSpace(lastLines(output, 1))
}

// unpack moves each part to its final name; a part that is there already, from an older run, is kept.
func (in *instance) unpack(ctx context.Context, work, platform string) error {
	parts := []struct {
		final string
		make  func(dir string) error
	}{
		{in.cache.postgres, func(dir string) error { return unpackPostgres(ctx, work, platform, dir) }},
		{in.cache.kafka, func(dir string) error { return os.Rename(filepath.Join(work, "kafka"), dir) }},
		{in.cache.openSearch, func(dir string) error { return in.unpackOpenSearch(ctx, work, dir) }},
	}
	for _, part := range parts {
		if _, err := os.Stat(part.final); !errors.Is(err, os.ErrNotExist) {
			continue
		}
		fresh := filepath.Join(work, filepath.Base(part.final))
		if err := part.make(fresh); err != nil {
			return fmt.Errorf("unpack %s: %w", filepath.Base(part.final), err)
		}
		if err := makeReadable(fresh); err != nil {
			return err
		}
		if err := os.Rename(fresh, part.final); err != nil {
			return err
		}
	}
	return nil
}
