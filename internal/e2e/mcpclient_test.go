package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/media/preview"
)

// walked is what testdata/mcpclient.mjs saw.
type walked struct {
	Protocol, Server string
	Tools            []string
	WithoutHints     []string
	Resources        []string
	Templates        []string
	Found            []library.AssetHash
	Details          struct {
		Hash  library.AssetHash `json:"asset_h"`
		Image *struct {
			Type    string
			Bytes   int
			JPEG    bool
			Markers []int
			SHA1    string
		}
		Text, Structured map[string]any
	}
	Changed, FoundTagged, Reverted, FoundAfterUndo []library.AssetHash
	Usage, Asset                                   struct {
		Type  string
		Value map[string]any
	}
	Mistake struct {
		IsError bool
		Text    string
	}
}

// TestMCP_OfficialTypeScriptClientWorksThroughTheService walks an agent's day with a
// client that we did not write: it negotiates, checks every answer against the
// schema of its tool, and refuses what breaks the protocol.
func TestMCP_OfficialTypeScriptClientWorksThroughTheService(t *testing.T) {
	t.Parallel()
	dir := installedClient(t)
	for mode, protocol := range map[string]string{"legacy": "2025-11-25", "auto": "2026-07-28"} {
		t.Run(mode, func(t *testing.T) {
			w := newWorld(t)
			w.StoreFile("", "a decoy.png", "image/png", picture(8, "a red fox in snow"))
			got := walk(t, dir, w, mode)
			if got.Protocol != protocol {
				t.Errorf("negotiated %s, not %s", got.Protocol, protocol)
			}
			checkLists(t, w, got)
			planted := []library.AssetHash{library.AssetHash(w.asset.Asset.AssetH)}
			for what, hashes := range map[string][]library.AssetHash{"found by its prompt": got.Found, "changed by tagging": got.Changed,
				"found by the tag once its token was waited for": got.FoundTagged, "reverted by the undo": got.Reverted} {
				if diff := cmp.Diff(planted, hashes); diff != "" {
					t.Errorf("%s (-want +got): %s", what, diff)
				}
			}
			if len(got.FoundAfterUndo) != 0 {
				t.Errorf("the tag is still found after the undo: %v", got.FoundAfterUndo)
			}
			checkDetails(t, w, got)
			checkResources(t, w, got)
			for _, word := range []string{"filters.status", "Draft", "PendingApproval", "Approved", "Rejected", "Archived"} {
				if !got.Mistake.IsError || !strings.Contains(got.Mistake.Text, word) {
					t.Errorf("a wrong status must be an error that names %s: isError %v, %s", word, got.Mistake.IsError, got.Mistake.Text)
				}
			}
		})
	}
}

// checkLists compares what the client was offered with the catalogue.
func checkLists(t *testing.T, w world, got walked) {
	t.Helper()
	var tools []string
	for _, o := range w.Catalog.Operations {
		if !o.RESTOnly {
			tools = append(tools, o.Name)
		}
	}
	slices.Sort(tools)
	if diff := cmp.Diff(tools, slices.Sorted(slices.Values(got.Tools))); diff != "" {
		t.Errorf("the tools (-catalogue +client): %s", diff)
	}
	if len(got.WithoutHints) > 0 {
		t.Errorf("without a title or hints: %v", got.WithoutHints)
	}
	for _, r := range w.Catalog.Resources {
		list := got.Resources
		if strings.Contains(r.URI, "{") {
			list = got.Templates
		}
		if !slices.Contains(list, r.URI) {
			t.Errorf("the client was not offered %s: %v, %v", r.URI, got.Resources, got.Templates)
		}
	}
}

// Segments of a JPEG that carry metadata: EXIF and XMP, ICC, IPTC, text.
var metadataMarkers = []int{0xe1, 0xe2, 0xed, 0xfe}

func checkDetails(t *testing.T, w world, got walked) {
	t.Helper()
	d := got.Details
	if string(d.Hash) != w.asset.Asset.AssetH {
		t.Errorf("the details are those of %s", d.Hash)
	}
	if diff := cmp.Diff(d.Structured, d.Text); diff != "" {
		t.Errorf("the structured result (-) and its text (+) differ: %s", diff)
	}
	if d.Image == nil {
		t.Fatal("no image arrived with the details")
	}
	if d.Image.Type != "image/jpeg" || !d.Image.JPEG || d.Image.Bytes == 0 || d.Image.Bytes > preview.MaxInline || preview.MaxInline > 200<<10 {
		t.Errorf("the image must be a JPEG of at most 200 KB: %+v", *d.Image)
	}
	for _, m := range metadataMarkers {
		if slices.Contains(d.Image.Markers, m) {
			t.Errorf("the image carries metadata: segment %#x of %x", m, d.Image.Markers)
		}
	}
	if len(d.Image.Markers) < 3 { // tables, frame, Huffman codes: without them nothing was looked at
		t.Errorf("only the segments %x were seen", d.Image.Markers)
	}
}

func checkResources(t *testing.T, w world, got walked) {
	t.Helper()
	if got.Usage.Type != "application/json" || got.Usage.Value["assets"] != 2.0 {
		t.Errorf("storage usage must tell of 2 assets: %+v", got.Usage)
	}
	if got.Asset.Type != "application/json" || got.Asset.Value["asset_h"] != string(w.asset.Asset.AssetH) || got.Asset.Value["created_at"] != got.Details.Structured["created_at"] {
		t.Errorf("the asset's resource tells of another: %+v", got.Asset)
	}
}

// walk runs the client against a world.
func walk(t *testing.T, dir string, w world, mode string) walked {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, testenv.Tool(t, "node"), "client.mjs")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "MCP_URL="+w.URL+"/mcp", "MCP_KEY="+w.Key, "MCP_MODE="+mode,
		"PLANTED="+string(w.asset.Asset.AssetH), "QUERY=lighthouse fog")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the client's walk ended with %v:\n%s", err, tail(stderr.String()))
	}
	var got walked
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("the client printed no line of JSON: %v\n%.500s", err, out)
	}
	return got
}

// installedClient returns a folder with the client's program beside its libraries,
// which is where Node.js looks for them.
func installedClient(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program, err := os.ReadFile(filepath.Join("testdata", "mcpclient.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "client.mjs"), program, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(testenv.Tool(t, "mcp-client-typescript"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return dir
}
