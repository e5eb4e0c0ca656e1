package arch

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	link   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	scheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
	fenced = regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```")
	quoted = regexp.MustCompile("`[^`\n]*`")
)

// TestDocuments_EveryRelativeLinkResolves follows the links of every Markdown page
// of the repository, to headings too.
func TestDocuments_EveryRelativeLinkResolves(t *testing.T) {
	pages := markdownPages(t, "../..")
	links := 0
	for page, text := range pages {
		for _, m := range link.FindAllStringSubmatch(prose(text), -1) {
			if scheme.MatchString(m[1]) {
				continue
			}
			links++
			if problem := follow(pages, page, m[1]); problem != "" {
				t.Errorf("%s links to %s: %s", page, m[1], problem)
			}
		}
	}
	if len(pages) < 30 || links < 100 {
		t.Fatalf("only %d pages with %d links were found: the test looks at the wrong place", len(pages), links)
	}
}

// follow returns what is wrong with a relative link, or nothing.
func follow(pages map[string]string, page, target string) string {
	path, heading, _ := strings.Cut(target, "#")
	path, err := url.PathUnescape(path)
	if err != nil {
		return err.Error()
	}
	to := page
	if path != "" {
		to = filepath.Join(filepath.Dir(page), path)
	}
	if _, err := os.Stat(to); err != nil {
		return "there is no such file"
	}
	if heading != "" && !headings(pages[to])[heading] {
		return "the page has no such heading"
	}
	return ""
}

// markdownPages returns the texts of the pages below root, by path.
func markdownPages(t *testing.T, root string) map[string]string {
	t.Helper()
	pages := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (len(e.Name()) > 2 && strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules" || e.Name() == "testdata"):
			return fs.SkipDir
		case e.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		pages[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// prose returns a page without its code, where brackets are no links.
func prose(text string) string {
	return quoted.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
}

// headings returns the anchors of a page, as Markdown viewers derive them from its
// headings: lower case, blanks as hyphens, without punctuation.
func headings(text string) map[string]bool {
	found := map[string]bool{}
	for line := range strings.Lines(fenced.ReplaceAllString(text, "")) {
		title := strings.TrimLeft(line, "#")
		if title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		found[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(title))] = true
	}
	return found
}
