package stack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The start script of OpenSearch runs Java five times before the server: to check the version, to ask the keystore, to
// work out the server's options. That is 4 s of the 21 s a start takes on two cores. The options depend only on
// jvm.options and the JDK, so we ask OpenSearch's own tool for them once, keep its answer and start the server directly.

// argumentsFile keeps the answer; its first line says what it was the answer to.
const argumentsFile = "config/java.arguments"

// prepareJava asks for the server's Java options when they are not known yet.
func (o *openSearch) prepareJava(ctx context.Context) error {
	question, err := o.javaQuestion()
	if err != nil {
		return err
	}
	if known, err := os.ReadFile(o.file(argumentsFile)); err == nil && strings.HasPrefix(string(known), question+"\n") {
		return nil
	}
	cmd := exec.CommandContext(ctx, o.in.javaProgram(), "-cp", o.classPath(), "org.opensearch.tools.launchers.JvmOptionsParser", o.file("config"))
	cmd.Dir = o.in.cache.openSearch
	cmd.Env = append(o.in.environment(OpenSearch), "OPENSEARCH_TMPDIR="+o.in.tmpDir(OpenSearch))
	var complaint strings.Builder
	cmd.Stderr = &complaint
	o.in.id.apply(cmd)
	answer, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("work out the Java options: %w: %s", err, lastLines(complaint.String(), 5))
	}
	return o.in.id.writeFile(o.file(argumentsFile), question+"\n"+strings.Join(strings.Fields(string(answer)), "\n")+"\n")
}

// javaQuestion stands for all the options depend on.
func (o *openSearch) javaQuestion() (string, error) {
	sum := sha256.New()
	for _, path := range []string{o.file("config/jvm.options"), filepath.Join(o.in.java, "release")} {
		content, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d %s", path, len(content), content)
	}
	return "# " + hex.EncodeToString(sum.Sum(nil)), nil
}

func (o *openSearch) classPath() string { return filepath.Join(o.in.cache.openSearch, "lib", "*") }

func (o *openSearch) command() *exec.Cmd {
	home := o.in.cache.openSearch
	cmd := exec.Command(o.in.javaProgram(), append(append(o.javaArguments(), o.in.cfg.compiler()...),
		"-Dopensearch.path.home="+home,
		"-Dopensearch.path.conf="+o.file("config"),
		"-Dopensearch.distribution.type=zip",
		"-Dopensearch.bundled_jdk=false",
		"-cp", o.classPath(),
		"org.opensearch.bootstrap.OpenSearch")...)
	// The options name files of the distribution relative to it.
	cmd.Dir = home
	cmd.Env = []string{"OPENSEARCH_JAVA_HOME=" + o.in.java, "OPENSEARCH_PATH_CONF=" + o.file("config")}
	return cmd
}

// javaArguments reads what prepareJava kept.
func (o *openSearch) javaArguments() []string {
	content, err := os.ReadFile(o.file(argumentsFile))
	if err != nil {
		return nil
	}
	_, answer, _ := strings.Cut(string(content), "\n")
	return strings.Fields(answer)
}

// jvmOptions turns the options OpenSearch ships into ours: our heap, its pages not touched before they are needed (which
// starts faster and leaves memory to the developer), crash files in our log directory, and no garbage collector log,
// which would fill up to 2 GB.
func jvmOptions(shipped, heap, logs string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "-Xms%s\n-Xmx%s\n-XX:-AlwaysPreTouch\n", heap, heap)
	for line := range strings.Lines(shipped) {
		line = strings.TrimSpace(line)
		switch {
		case line == "", strings.HasPrefix(line, "#"), strings.HasPrefix(line, "-Xm"), strings.Contains(line, "-Xlog:gc"):
		case strings.HasPrefix(line, "-XX:HeapDumpPath="):
			fmt.Fprintf(&b, "-XX:HeapDumpPath=%s\n", logs)
		default:
			b.WriteString(strings.Replace(line, "=logs/", "="+logs+"/", 1) + "\n")
		}
	}
	return b.String()
}
