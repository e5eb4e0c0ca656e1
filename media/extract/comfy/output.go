package comfy

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// isOutputClass reports whether a node writes or shows a result.
func isOutputClass(n *node) bool {
	if role := n.role(); role != "" {
		return role == RoleSave || role == RolePreview || role == RoleAside
	}
	if n.like("output") {
		return true
	}
	if n.opaque() && n.uses == 0 && n.links() > 0 && n.has("filename_prefix") {
		return true
	}
	return n.has("filename_prefix", "filename", "file_name") && n.like("saves") || strings.HasPrefix(n.key, "save")
}

// medium is the kind of file an output node writes.
func medium(n *node) string {
	switch {
	case n.about != nil && n.about.Medium != "":
		return n.about.Medium
	case n.like("audio"):
		return "audio"
	case n.like("model_output"):
		return "model"
	case n.like("video_output"):
		return "video"
	case n.like("animation_output"):
		return "animation"
	case n.like("svg"):
		return "svg"
	case n.like("data_output"):
		return "data"
	}
	return "image"
}

// fits scores how well an output node's medium goes with the file's type.
func fits(n *node, mime string) int {
	m := medium(n)
	major, minor, _ := strings.Cut(mime, "/")
	switch {
	case m == "data":
		return -4
	case major == "":
		return 0
	case n.key == "saveimage" && minor != "png": // it writes nothing else
		return -1
	case m == "animation" && (minor == "webp" || minor == "gif" || minor == "png" || minor == "apng"):
		return 2
	case m == "video" && (major == "video" || minor == "gif" || minor == "webp"):
		return 3
	case m == "video" && minor == "png": // its first frame, saved beside it
		return 0
	case m == "svg" && strings.HasPrefix(minor, "svg"), m == major:
		return 3
	}
	return -3
}

// output is one candidate and why it may have written the file.
type output struct {
	node    *node
	score   int
	preview bool // it shows a result and keeps none
	name    bool // its prefix begins the file's name
	size    bool // its picture has the file's size
}

// choose finds the node that wrote this file among the nodes that write:
// by medium, a save over a preview, the picture's size, the name; then the last.
func (r *outputs) choose() (*node, string) {
	var all []output
	for _, n := range r.g.nodes {
		if isOutputClass(n) && n.links() > 0 && !n.like("comparer") {
			all = append(all, r.rate(n))
		}
	}
	if len(all) == 0 {
		return r.sink(), "last node of the graph"
	}
	slices.SortStableFunc(all, func(a, b output) int {
		if a.score != b.score {
			return b.score - a.score
		}
		return before(b.node, a.node)
	})
	best := all[0]
	if best.preview != isTemp(r.in.Filename) {
		r.unknownRivals(best.node)
	}
	switch {
	case len(all) == 1:
		return best.node, "only output"
	case all[1].score < best.score && best.size:
		return best.node, "output of the file's size"
	case all[1].score < best.score && best.name:
		return best.node, "output named like the file"
	case all[1].score < best.score:
		return best.node, "saved output"
	}
	for _, o := range all[1:] {
		if o.score == best.score && !r.sameSource(best.node, o.node) {
			r.rivals = append(r.rivals, o.node)
		}
	}
	if len(r.rivals) > 0 {
		r.notes.warn("several outputs could have written this file; what they do not share is left open")
	}
	return best.node, "last output"
}

// isTemp reports whether a file has the name of a preview.
func isTemp(filename string) bool { return strings.Contains(filename, "_temp_") }

// unknownRivals notes the last nodes of the graph that are opaque and take a
// generated picture: where no output is of the kind that the file is, one of them may
// have written it.
func (r *outputs) unknownRivals(best *node) {
	for _, n := range r.g.nodes {
		if n.uses == 0 && n.opaque() && !isOutputClass(n) && r.pictures.reachesSampler(n) && !r.sameSource(best, n) {
			r.rivals = append(r.rivals, n)
		}
	}
}

// sameSource reports whether two outputs write the same picture.
func (r *outputs) sameSource(a, b *node) bool {
	p, q := r.pictures.inputs(a), r.pictures.inputs(b)
	return len(p) > 0 && len(q) > 0 && p[0] == q[0]
}

func (r *outputs) rate(n *node) output {
	o := output{node: n, score: 2 * fits(n, r.in.MIME)}
	o.preview = n.role() == RolePreview || n.like("preview") || n.has("save_output") && r.isFalse(n.in("save_output"))
	if o.preview == isTemp(r.in.Filename) {
		o.score += 8
	}
	d := r.sizes.at(n)
	likely := r.likely.at(n)
	switch {
	case r.in.FileWidth <= 0 || r.in.FileHeight <= 0:
	case likely.known() && near(likely.w, r.in.FileWidth) && near(likely.h, r.in.FileHeight):
		o.score += 10
		o.size = true
	case !d.known():
		o.score += 4
	}
	if o.name = r.namedLike(n); o.name {
		o.score += 6
	}
	switch {
	case n.role() == RoleAside:
		o.score -= 12
	case r.pictures.reachesSampler(n) || r.pictures.reachesGenerator(n):
		o.score += 14 // what was generated comes before what was prepared for it
		if d.known() && !o.size && r.in.FileWidth >= 64 {
			o.score-- // this is not the picture, unless the file is a screenshot
		}
	case r.resaves(n) && r.in.FileWidth >= 64:
		o.score += 10
	}
	return o
}

func (r *outputs) isFalse(in *input) bool {
	s, ok := r.values.scalar(in, "save_output")
	return ok && falsy(s)
}

// near allows for the rounding of sizes to whole latents.
func near(a, b int) bool { return a-b < 8 && b-a < 8 }

var prefixToken = regexp.MustCompile(`%[^%]*%|\[[^\]]*\]`)

// namedLike compares a save node's prefix with the file's name, placeholders for
// dates and values standing for anything.
func (r *outputs) namedLike(n *node) bool {
	prefix, ok := r.texts.of(n.in("filename_prefix", "filename", "file_name"), rolePositive)
	if !ok || r.in.Filename == "" || len(prefix) > 1000 {
		return false
	}
	prefix = strings.ReplaceAll(prefix, `\`, "/")
	prefix = prefix[strings.LastIndexByte(prefix, '/')+1:]
	name := path.Base(strings.ReplaceAll(r.in.Filename, `\`, "/"))
	parts := prefixToken.Split(prefix, -1)
	if strings.Join(parts, "") == "" {
		return false
	}
	if !strings.HasPrefix(name, parts[0]) {
		return false
	}
	name = name[len(parts[0]):]
	for _, part := range parts[1:] {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return name == "" || !isWordByte(name[0]) || name[0] == '_'
}

// sink stands in for the output when a graph has none that is known: the last
// node nothing depends on, a sampled picture before others.
func (r *outputs) sink() *node {
	var best *node
	bestScore := -1
	for _, n := range r.g.nodes {
		score := 0
		if n.uses == 0 {
			score++
		}
		if r.pictures.reachesSampler(n) {
			score += 2
		}
		if score > bestScore || score == bestScore && before(n, best) > 0 {
			best, bestScore = n, score
		}
	}
	for _, n := range r.g.nodes {
		if n != best && n.uses == 0 && best.opaque() && r.pictures.reachesSampler(n) {
			r.rivals = append(r.rivals, n)
		}
	}
	return best
}

// resaves reports whether an output writes a file that the graph loaded, as it is.
func (r *outputs) resaves(n *node) bool {
	p := r.pictures.inputs(n)
	return len(p) == 1 && p[0].node.links() == 0 && len(r.parents.of(p[0].node)) > 0
}
