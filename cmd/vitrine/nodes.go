package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"vitrine/media/extract"
)

type nodesCommand struct {
	Import nodesImportCommand `cmd:"" help:"Store the node classes of a running ComfyUI, so that its editor graphs are extracted exactly."`
}

type nodesImportCommand struct {
	URL     string `arg:"" help:"Address of the ComfyUI server, such as http://127.0.0.1:8188."`
	DataDir string `env:"VITRINE_DATA_DIR" default:".vitrine/data" help:"The data folder; the file is written to nodes.d in it."`
	Name    string `placeholder:"NAME" help:"Name of the file. Default: the host of the ComfyUI server."`
}

// maxObjectInfo bounds what is read of a ComfyUI's answer; lists of thousands of
// model files stand in it many times.
const maxObjectInfo = 256 << 20

var plainName = regexp.MustCompile(`[^a-zA-Z0-9.-]+`)

// Run fetches /object_info and keeps the widget order of every class in nodes.d.
func (c *nodesImportCommand) Run(ctx context.Context) error {
	at, err := url.Parse(strings.TrimRight(c.URL, "/"))
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return fmt.Errorf("%q is not a ComfyUI address; use one like http://127.0.0.1:8188", c.URL)
	}
	doc, err := fetch(ctx, at.String()+"/object_info")
	if err != nil {
		return err
	}
	file, classes, err := extract.NodeClassFile(doc, "the ComfyUI at "+at.Host+", "+time.Now().UTC().Format(time.DateOnly))
	if err != nil {
		return err
	}
	name := c.Name
	if name == "" {
		name = at.Host
	}
	dir := filepath.Join(c.DataDir, extract.NodesFolder)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	path := filepath.Join(dir, strings.Trim(plainName.ReplaceAllString(name, "-"), ".-")+".json")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		return err
	}
	_, err = fmt.Printf("%d node classes written to %s. Restart the service, and run vitrine reextract --all to read the library with them.\n", classes, path)
	return err
}

// fetch returns the body of a successful answer.
func fetch(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ComfyUI does not respond: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s responds with %s; is it a ComfyUI server?", address, res.Status)
	}
	return io.ReadAll(io.LimitReader(res.Body, maxObjectInfo))
}
