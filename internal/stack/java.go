package stack

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// minimumJava is the oldest Java release OpenSearch 3 runs on; Kafka 4 is content with 17.
const minimumJava = 21

// findJava returns the home of the first JDK that is new enough: OPENSEARCH_JAVA_HOME, JAVA_HOME, the java on PATH,
// then the places where distributions, Homebrew and SDKMAN put theirs.
func findJava(id identity) (string, error) {
	var seen []string
	for _, home := range javaHomes() {
		version, err := javaVersion(home)
		if err != nil {
			continue
		}
		if version >= minimumJava && id.canReach(filepath.Join(home, "bin")) {
			return home, nil
		}
		seen = append(seen, strconv.Itoa(version))
	}
	what := fmt.Sprintf("a JDK %d or newer", minimumJava)
	if len(seen) > 0 {
		what += fmt.Sprintf(" (found only Java %s)", strings.Join(seen, ", "))
	}
	return "", missing(what, "OpenSearch 3 needs", "openjdk-21-jdk-headless", "java-21-openjdk-headless", "openjdk@21")
}

func javaHomes() []string {
	homes := []string{os.Getenv("OPENSEARCH_JAVA_HOME"), os.Getenv("JAVA_HOME")}
	if java, err := exec.LookPath("java"); err == nil {
		if java, err = filepath.EvalSymlinks(java); err == nil {
			homes = append(homes, filepath.Dir(filepath.Dir(java)))
		}
	}
	patterns := []string{
		"/usr/lib/jvm/*", "/usr/lib64/jvm/*", "/opt/java/*",
		"/opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
		"/usr/local/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
		"/Library/Java/JavaVirtualMachines/*/Contents/Home",
	}
	if home, err := os.UserHomeDir(); err == nil {
		patterns = append(patterns, filepath.Join(home, ".sdkman/candidates/java/*"))
	}
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern)
		homes = append(homes, found...)
	}
	return homes
}

// javaVersion reads the release number of the JDK at home from its release file, which costs no process, and asks the
// program itself only where a packager left that file out.
func javaVersion(home string) (int, error) {
	if home == "" {
		return 0, fmt.Errorf("no directory")
	}
	java := filepath.Join(home, "bin", "java")
	if _, err := os.Stat(java); err != nil {
		return 0, err
	}
	if file, err := os.Open(filepath.Join(home, "release")); err == nil {
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			if value, ok := strings.CutPrefix(lines.Text(), "JAVA_VERSION="); ok {
				return parseJavaVersion(strings.Trim(value, `"`))
			}
		}
	}
	said, err := exec.Command(java, "-version").CombinedOutput()
	if err != nil {
		return 0, err
	}
	quoted := regexp.MustCompile(`version "([^"]+)"`).FindStringSubmatch(string(said))
	if quoted == nil {
		return 0, fmt.Errorf("java -version gives no version")
	}
	return parseJavaVersion(quoted[1])
}

// parseJavaVersion takes "25.0.3", "21-ea" or the old "1.8.0_402" and returns 25, 21 or 8.
func parseJavaVersion(version string) (int, error) {
	parts := regexp.MustCompile(`^(?:1\.)?(\d+)`).FindStringSubmatch(version)
	if parts == nil {
		return 0, fmt.Errorf("not a Java version")
	}
	return strconv.Atoi(parts[1])
}

// compiler returns the options that choose Java's compilers.
func (c Config) compiler() []string {
	if c.ShortLived {
		return []string{"-XX:TieredStopAtLevel=1"}
	}
	return nil
}
