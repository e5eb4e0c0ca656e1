package stack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// openSearch is a single OpenSearch node with the k-NN plugin.
type openSearch struct{ in *instance }

func (*openSearch) name() string  { return OpenSearch }
func (*openSearch) title() string { return "OpenSearch " + OpenSearchVersion }
func (o *openSearch) port() int   { return o.in.ports.OpenSearch }

func (o *openSearch) file(name string) string { return filepath.Join(o.in.serverDir(OpenSearch), name) }

// prepare writes the configuration directory; the unpacked distribution is shared by checkouts and stays untouched.
func (o *openSearch) prepare(ctx context.Context) error {
	if err := o.in.makeServerDir(OpenSearch); err != nil {
		return err
	}
	for _, dir := range []string{"config", "data", "logs"} {
		if err := o.in.id.makeDir(o.file(dir), 0o755); err != nil {
			return err
		}
	}
	shipped, err := os.ReadFile(filepath.Join(o.in.cache.openSearch, "config", "jvm.options"))
	if err != nil {
		return err
	}
	files := map[string]string{
		"config/opensearch.yml":    o.settings(),
		"config/jvm.options":       jvmOptions(string(shipped), o.in.cfg.OpenSearchHeap, o.file("logs")),
		"config/log4j2.properties": consoleLogging,
	}
	for name, content := range files {
		if err := o.in.id.writeFile(o.file(name), content); err != nil {
			return err
		}
	}
	return o.prepareJava(ctx)
}

func (o *openSearch) settings() string {
	local := []setting{
		{"network.host", "127.0.0.1"},
		{"http.port", strconv.Itoa(o.in.ports.OpenSearch)},
		{"transport.port", strconv.Itoa(o.in.ports.OpenSearchTransport)},
		{"path.data", o.file("data")},
		{"path.logs", o.file("logs")},
	}
	var b strings.Builder
	b.WriteString("# Written at every start; changes here are lost.\n")
	for _, s := range append(local, openSearchSettings...) {
		fmt.Fprintf(&b, "%s: %s\n", s.name, s.value)
	}
	return b.String()
}

// healthClient keeps no connection open, so that asking leaves nothing behind.
var healthClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// ready asks for the health of the cluster; yellow is enough, a single node has no place for replicas.
func (o *openSearch) ready(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, o.in.endpoints().OpenSearchURL+"/_cluster/health", nil)
	if err != nil {
		return err
	}
	response, err := healthClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var health struct {
		Status string `json:"status"`
	}
	if err := json.NewDecoder(response.Body).Decode(&health); err != nil {
		return err
	}
	if health.Status != "green" && health.Status != "yellow" {
		return fmt.Errorf("cluster health is %q", health.Status)
	}
	return nil
}

func (*openSearch) stopSignal() syscall.Signal { return syscall.SIGTERM }
