package comfy

import (
	"slices"
	"strings"
)

// withoutLines leaves out the comments of a text, and the line breaks of one that the
// node makes a single line of.
func (n *node) withoutLines(s string) string {
	if n.on("strip_newlines") {
		return strings.TrimSpace(strings.ReplaceAll(s, "\n", ""))
	}
	if n.about == nil || n.about.Comments == "" {
		return s
	}
	lines := slices.DeleteFunc(strings.Split(s, "\n"), func(line string) bool {
		return strings.HasPrefix(strings.TrimSpace(line), n.about.Comments)
	})
	return strings.Join(lines, "\n")
}

// hasComments reports whether a text has lines that some classes leave out.
func hasComments(s string) bool {
	return strings.HasPrefix(strings.TrimSpace(s), "#") || strings.Contains(s, "\n#")
}
