package stack

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// kafka is one Kafka process that is broker and KRaft controller.
type kafka struct{ in *instance }

func (*kafka) name() string  { return Kafka }
func (*kafka) title() string { return "Kafka " + KafkaVersion }
func (k *kafka) port() int   { return k.in.ports.Kafka }

func (k *kafka) file(name string) string { return filepath.Join(k.in.serverDir(Kafka), name) }

// prepare writes the settings, and formats the storage the first time.
func (k *kafka) prepare(ctx context.Context) error {
	if err := errors.Join(k.in.makeServerDir(Kafka), k.in.writeSecrets(Kafka)); err != nil {
		return err
	}
	if err := k.in.id.writeFile(k.file("server.properties"), k.properties()); err != nil {
		return err
	}
	if err := k.in.id.writeFile(k.file("log4j2.properties"), consoleLogging); err != nil {
		return err
	}
	if _, err := os.Stat(k.file("data/meta.properties")); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.RemoveAll(k.file("data")); err != nil {
		return err
	}
	args := append(k.javaArgs("128m"), "kafka.tools.StorageTool", "format", "--standalone", "-t", newClusterID(), "-c", k.file("server.properties"))
	args = append(args, k.scramArgs()...)
	return k.in.run(ctx, k, k.in.javaProgram(), args...)
}

func (k *kafka) command() *exec.Cmd {
	return exec.Command(k.in.javaProgram(), append(k.javaArgs(k.in.cfg.KafkaHeap), "kafka.Kafka", k.file("server.properties"))...)
}

func (k *kafka) javaArgs(heap string) []string {
	return append(k.in.cfg.compiler(), []string{
		"-Xms" + heap, "-Xmx" + heap, "-XX:+UseG1GC",
		"-Djava.awt.headless=true",
		"-Djava.io.tmpdir=" + k.in.tmpDir(Kafka),
		"-Dlog4j2.configurationFile=" + k.file("log4j2.properties"),
		"-cp", filepath.Join(k.in.cache.kafka, "*"),
	}...)
}

func (k *kafka) properties() string {
	broker, controller := k.in.address(k.in.ports.Kafka), k.in.address(k.in.ports.KafkaController)
	local := []setting{
		{"listeners", k.listener() + "://" + broker + ",CONTROLLER://" + controller},
		{"advertised.listeners", k.listener() + "://" + broker + ",CONTROLLER://" + controller},
		{"controller.quorum.bootstrap.servers", controller},
		{"log.dirs", k.file("data")},
	}
	var b strings.Builder
	b.WriteString("# Written at every start; changes here are lost.\n")
	for _, s := range slices.Concat(local, k.secureSettings(), kafkaSettings) {
		fmt.Fprintf(&b, "%s=%s\n", s.name, s.value)
	}
	return b.String()
}

// ready asks the broker who is in the cluster: it answers with itself once it has joined the controller.
func (k *kafka) ready(ctx context.Context) error {
	conn, err := k.dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return err
		}
	}
	brokers, err := conn.Brokers()
	if err != nil {
		return err
	}
	if len(brokers) == 0 {
		return errors.New("the broker has not joined its cluster")
	}
	return nil
}

func (*kafka) stopSignal() syscall.Signal { return syscall.SIGTERM }

// newClusterID returns an identifier of the form Kafka's own tool makes: 16 random bytes in URL-safe base64, not
// beginning with a dash, which the tool would take for an option.
func newClusterID() string {
	var id [16]byte
	rand.Read(id[:])
	id[0] &= 0x7f
	return base64.RawURLEncoding.EncodeToString(id[:])
}

// consoleLogging sends a Java server's log to its standard output, which is its log file.
const consoleLogging = `status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yyyy-MM-dd'T'HH:mm:ss.SSS}{UTC}Z %-5p %c{1.} %m%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
`
