// Package arch holds the rule of which package may import which.
package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// levels is the house: a package imports only packages of lower levels. The
// longest matching entry counts; a new package must be entered here.
var levels = map[string]int{
	"vitrine/library":              0,
	"vitrine/mappings":             1, // speaks the nouns, nothing else
	"vitrine/internal/failpoint":   0,
	"vitrine/internal/panics":      0,
	"vitrine/internal/tlsconfig":   0,
	"vitrine/internal/retry":       0,
	"vitrine/internal/randtest":    0,
	"vitrine/internal/s3":          0,
	"vitrine/internal/publicnet":   0,
	"vitrine/internal/sandbox":     0,
	"vitrine/internal/spreadsheet": 0,

	"vitrine/prompt":                  1,
	"vitrine/outreach":                0,
	"vitrine/embed":                   1,
	"vitrine/internal/opensearch":     1,
	"vitrine/internal/kafkaclient":    1,
	"vitrine/internal/jsonscan":       0,
	"vitrine/media/extract/c2pa":      1,
	"vitrine/media/extract/container": 1,
	"vitrine/media/extract/comfy":     2,
	"vitrine/media/extract/formats":   3,
	"vitrine/media/extract":           4,
	"vitrine/media":                   1,
	"vitrine/media/palette":           0,
	"vitrine/media/memory":            0,
	"vitrine/media/fetch/fetchtest":   0,
	"vitrine/media/pngrow":            0,
	"vitrine/media/gltf":              1,
	"vitrine/media/preview":           2,
	"vitrine/media/phash":             0,
	"vitrine/media/strip":             5,
	"vitrine/media/strip/striptest":   6,
	"vitrine/media/pdf":               0,
	"vitrine/query":                   2,
	"vitrine/query/internal":          3, // the naive evaluator of the tests
	"vitrine/query/run":               3,
	"vitrine/store":                   2,
	"vitrine/op":                      1,
	"vitrine/auth":                    3,
	"vitrine/indexer":                 3,
	"vitrine/events":                  3,
	"vitrine/jobs":                    3,
	"vitrine/automation":              4,
	"vitrine/automation/schedule":     0,
	"vitrine/automation/webhook":      1,

	// Another package below op is a domain, of level domainLevel.
	"vitrine/op/assets": 5, // the domain search shows what it links to

	"vitrine/inplace":              5,
	"vitrine/op/annotations":       5,
	"vitrine/op/indextoken":        5,
	"vitrine/op/experiments/stats": 0,
	"vitrine/pipeline":             4,
	"vitrine/pipeline/expr":        0,
	"vitrine/transfer":             6,
	"vitrine/prospectcsv":          7,
	"vitrine/pipelinecsv":          3,
	"vitrine/export":               6,
	"vitrine/publish":              7,
	"vitrine/publish/page":         1,
	"vitrine/media/browser":        1,
	"vitrine/media/deck":           2,
	"vitrine/op/all":               7,
	"vitrine/reextract":            5,
	"vitrine/backup":               3,
	"vitrine/verify":               3,
	"vitrine/api":                  4,
	"vitrine/api/client":           0,
	"vitrine/mcp":                  2,

	"vitrine/web":      0,
	"vitrine/importer": 3,
	"vitrine/service":  8,
	"vitrine/cmd":      10,

	"vitrine/internal/e2e":                10,
	"vitrine/internal/arch":               0,
	"vitrine/internal/testrun":            1,
	"vitrine/internal/echo":               5,
	"vitrine/internal/nodetest":           4,
	"vitrine/internal/stack":              1,
	"vitrine/internal/stdio":              0,
	"vitrine/internal/testenv":            3,
	"vitrine/internal/tools":              2,
	"vitrine/internal/tools/install":      3,
	"vitrine/internal/sample":             3,
	"vitrine/internal/sample/draw":        0,
	"vitrine/internal/sample/shape":       0,
	"vitrine/internal/sample/scene":       1,
	"vitrine/internal/sample/sheet":       3,
	"vitrine/internal/sample/writer":      2,
	"vitrine/cmd/vitrine-bench/bench":     9,
	"vitrine/cmd/vitrine-bench/relevance": 9,
	"vitrine/internal/clientgen/generate": 8,
	"vitrine/internal/opcli":              2,
	"vitrine/internal/clientgen":          2,
	"vitrine/internal/settings":           9,
	"vitrine/service/servicetest":         9,
	"vitrine/media/blob/blobtest":         3,
	"vitrine/store/storetest":             4,
	"vitrine/media/preview/previewtest":   0,
}

// only says which packages of ours the transports may import: business logic
// cannot settle in them.
var only = map[string][]string{
	"vitrine/api": {"vitrine/op", "vitrine/library", "vitrine/auth"},
	"vitrine/mcp": {"vitrine/op", "vitrine/library", "vitrine/auth"},
}

// alone says which packages may import an outside module, so that exchanging it
// stays a change of one place.
var alone = map[string][]string{
	"github.com/mark3labs/mcp-go":      {"vitrine/mcp"},
	"github.com/segmentio/kafka-go":    {"vitrine/internal", "vitrine/cmd"},
	"github.com/alecthomas/kong":       {"vitrine/cmd"},
	"github.com/fsnotify/fsnotify":     {"vitrine/media/folder"},
	"github.com/pressly/goose":         {"vitrine/store"},
	"github.com/riverqueue/river":      {"vitrine/store", "vitrine/jobs"},
	"github.com/alecthomas/participle": {"vitrine/query", "vitrine/pipeline"},
	"github.com/minio/minio-go":        {"vitrine/internal/s3"},
}

type pkg struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	opened(t)
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "vitrine/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var list []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

// opened opens every Go file, as "go list" does in its own process: go test
// answers from its cache while the files are the same that a test itself opened.
func opened(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2:
			return fs.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		_, err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func within(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// domainLevel is the level of the packages of op that levels does not name.
const domainLevel = 6

func levelOf(path string) (level int, entry string) {
	level = -1
	for root, n := range levels {
		if within(path, root) && len(root) > len(entry) {
			level, entry = n, root
		}
	}
	if entry == "vitrine/op" && path != entry {
		return domainLevel, path
	}
	return level, entry
}

func TestArch_PackagesImportOnlyLowerLevels(t *testing.T) {
	list := packages(t)
	if len(list) < 20 {
		t.Fatalf("only %d packages found: the rule looks at the wrong place", len(list))
	}
	for _, p := range list {
		from, entry := levelOf(p.ImportPath)
		if from < 0 {
			t.Errorf("%s has no level; enter it in this file", p.ImportPath)
			continue
		}
		for _, i := range p.Imports {
			if !within(i, "vitrine") {
				continue
			}
			if to, other := levelOf(i); other != entry && to >= from {
				t.Errorf("%s (level %d) imports %s (level %d)", p.ImportPath, from, i, to)
			}
		}
	}
}

func TestArch_TransportsHoldNoBusinessLogic(t *testing.T) {
	for _, p := range packages(t) {
		allowed, ruled := only[p.ImportPath]
		if !ruled {
			continue
		}
		for _, i := range p.Imports {
			ok := !within(i, "vitrine")
			for _, a := range allowed {
				ok = ok || i == a
			}
			if !ok {
				t.Errorf("%s imports %s; a transport may import only %v", p.ImportPath, i, allowed)
			}
		}
	}
}

func TestArch_OutsideModulesStayBehindOneDoor(t *testing.T) {
	for _, p := range packages(t) {
		for _, i := range p.Imports {
			for module, owners := range alone {
				if !within(i, module) {
					continue
				}
				ok := false
				for _, o := range owners {
					ok = ok || within(p.ImportPath, o)
				}
				if !ok {
					t.Errorf("%s imports %s; only %v may", p.ImportPath, i, owners)
				}
			}
		}
	}
}

// Test helpers must not reach the product.
func TestArch_TestPackagesStayOutOfTheProduct(t *testing.T) {
	for _, p := range packages(t) {
		if strings.HasSuffix(p.ImportPath, "test") || within(p.ImportPath, "vitrine/internal") {
			continue
		}
		for _, i := range p.Imports {
			if i == "testing" || i == "vitrine/internal/testenv" || within(i, "vitrine") && strings.HasSuffix(i, "test") {
				t.Errorf("%s imports %s", p.ImportPath, i)
			}
		}
	}
}

// The definitions of operations serve documents, the command line and the transports,
// which have nothing to do with Kafka.
func TestOperations_DoNotLinkKafka(t *testing.T) {
	imports := map[string][]string{}
	for _, p := range packages(t) {
		imports[p.ImportPath] = p.Imports
	}
	seen := map[string]bool{}
	var visit func(path string)
	visit = func(path string) {
		if seen[path] {
			return
		}
		seen[path] = true
		if within(path, "github.com/segmentio/kafka-go") {
			t.Errorf("vitrine/op/all links %s", path)
		}
		for _, i := range imports[path] {
			visit(i)
		}
	}
	visit("vitrine/op/all")
	if !seen["vitrine/store"] {
		t.Fatal("the check looks at the wrong place")
	}
}
