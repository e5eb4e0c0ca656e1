package container

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"io"
	"math"
	"strconv"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// maxSVG is how much of an SVG file is read.
const maxSVG = 16 << 20

// isSVG reports whether a file is SVG, by its root element, which a prologue may precede.
func isSVG(head []byte) bool {
	start := textHead(head)
	if len(start) == 0 || start[0] != '<' || !bytes.Contains(start, []byte("svg")) {
		return false
	}
	d := newXML(bytes.NewReader(start))
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		if root, ok := token.(xml.StartElement); ok {
			return root.Name.Local == "svg"
		}
	}
}

// svgReader reads the root's size and the texts that describe the picture.
type svgReader struct {
	s     source
	path  []string // names of the open elements
	texts [][]byte // character data of the elements that are kept, by depth
}

// readSVG keeps the title, description and metadata of an SVG file.
func readSVG(s source) {
	s.file.MIME = "image/svg+xml"
	in := transform.NewReader(io.NewSectionReader(s.r, s.base, min(s.size, maxSVG)), unicode.BOMOverride(encoding.Nop.NewDecoder()))
	g := svgReader{s: s}
	switch err := walkXML(s, newXML(bufio.NewReader(in)), &g); {
	case s.size > maxSVG:
		s.warn("the SVG is larger than %d MiB; only its start was read", maxSVG>>20)
	case err != nil:
		s.cut("the SVG's elements")
	}
}

func (g *svgReader) depth() int { return len(g.path) }

func (g *svgReader) text(t []byte) {
	if n := len(g.path) - 1; n >= 0 && g.kept() && g.s.hold("the SVG's metadata", int64(len(t))) {
		g.texts[n] = append(g.texts[n], t...)
	}
}

// kept reports whether the open element describes the whole picture: title and
// desc as children of the root, and all within metadata.
func (g *svgReader) kept() bool {
	return len(g.path) >= 2 && (g.path[1] == "metadata" || len(g.path) == 2 && (g.path[1] == "title" || g.path[1] == "desc"))
}

func (g *svgReader) start(t xml.StartElement) {
	g.path, g.texts = append(g.path, t.Name.Local), append(g.texts, nil)
	if len(g.path) == 1 {
		g.size(t.Attr)
	}
	for _, a := range t.Attr {
		own := strings.HasPrefix(a.Name.Local, "data-") || svgOwn[a.Name.Local]
		if len(g.path) == 1 && own || g.kept() && a.Name.Space != "xmlns" && a.Name.Local != "xmlns" {
			g.s.add("svg:attribute", a.Name.Local, a.Value)
		}
	}
}

// svgOwn names the attributes of the root that are not SVG's but a tool's.
var svgOwn = map[string]bool{"prompt": true, "workflow": true, "parameters": true}

// end keeps the text of the element that closes.
func (g *svgReader) end() {
	n := len(g.path) - 1
	if n < 0 {
		return
	}
	if text := strings.TrimSpace(string(g.texts[n])); text != "" && !(g.path[n] == "manifest" && g.credentials(text)) {
		g.s.add("svg:"+g.path[min(1, n)], g.path[n], text)
	}
	g.path, g.texts = g.path[:n], g.texts[:n]
}

// credentials keeps content credentials, which an SVG file holds in base64 (C2PA
// 2.1, A.3), and reports whether the text was that.
func (g *svgReader) credentials(text string) bool {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || !isManifestStore(b) || !g.s.hold("the content credentials", int64(len(b))) {
		return false
	}
	g.s.addCredentials("svg:manifest", b)
	return true
}

// size reads width and height, or else the view box.
func (g *svgReader) size(attrs []xml.Attr) {
	var box []string
	f := g.s.file
	for _, a := range attrs {
		switch a.Name.Local {
		case "width":
			f.Width = svgLength(a.Value)
		case "height":
			f.Height = svgLength(a.Value)
		case "viewBox":
			box = strings.FieldsFunc(a.Value, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' || r == '\t' })
		}
	}
	if (f.Width == 0 || f.Height == 0) && len(box) == 4 {
		f.Width, f.Height = svgLength(box[2]), svgLength(box[3])
	}
}

// svgUnits holds the pixels of each unit of length (CSS Values 3, section 5.2).
var svgUnits = map[string]float64{"": 1, "px": 1, "pt": 96.0 / 72, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4}

// svgLength returns a length in pixels, 0 when it depends on where it is shown.
func svgLength(v string) int {
	v = strings.TrimSpace(v)
	number := strings.TrimRight(v, "abcdefghijklmnopqrstuvwxyz%")
	n, err := strconv.ParseFloat(number, 64)
	unit, known := svgUnits[v[len(number):]]
	if err != nil || !known || !(n > 0) || n*unit > 1<<30 {
		return 0
	}
	return int(math.Ceil(n * unit))
}
