package container

import (
	"bytes"
	"encoding/xml"
	"strings"
	"unicode/utf8"
)

// xmpHeader starts an XMP segment of a JPEG file.
const xmpHeader = "http://ns.adobe.com/xap/1.0/\x00"

// Limits of one XMP packet.
const (
	maxXMP      = 16 << 20
	maxXMLDepth = 64
)

// xmpPrefixes holds the usual prefix of a namespace, so that a field has one name
// whatever prefix its file declares.
var xmpPrefixes = map[string]string{
	"http://purl.org/dc/elements/1.1/":                 "dc",
	"http://ns.adobe.com/xap/1.0/":                     "xmp",
	"http://ns.adobe.com/xap/1.0/mm/":                  "xmpMM",
	"http://ns.adobe.com/xap/1.0/rights/":              "xmpRights",
	"http://ns.adobe.com/xmp/note/":                    "xmpNote",
	"http://ns.adobe.com/xap/1.0/sType/ResourceRef#":   "stRef",
	"http://ns.adobe.com/xap/1.0/sType/ResourceEvent#": "stEvt",
	"http://ns.adobe.com/exif/1.0/":                    "exif",
	"http://cipa.jp/exif/1.0/":                         "exifEX",
	"http://ns.adobe.com/tiff/1.0/":                    "tiff",
	"http://ns.adobe.com/photoshop/1.0/":               "photoshop",
	"http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/":      "Iptc4xmpCore",
	"http://iptc.org/std/Iptc4xmpExt/2008-02-29/":      "Iptc4xmpExt",
	"http://www.w3.org/1999/02/22-rdf-syntax-ns#":      "rdf",
	"adobe:ns:meta/":                                   "x",
	"http://www.w3.org/XML/1998/namespace":             "xml",
}

// xmpReader turns an XMP packet (ISO 16684-1) into chunks: one per property,
// fields of a structure with their parent's name before a slash, the members of
// a list joined by line breaks, of a text in several languages the default one.
type xmpReader struct {
	s     source
	names map[string]string // prefixes that the packet declares, by namespace
	stack []xmpElement
}

type xmpElement struct {
	key   string // the property's path; its parent's for rdf's own elements
	owner bool   // whether it is a property rather than one of rdf's elements
	alt   bool   // whether its members say the same in several languages
	lang  string // xml:lang
	text  []byte
	items []xmpItem
}

type xmpItem struct{ text, lang string }

// isXMP reports whether a file is a packet of its own, as photo editors lay beside a
// picture.
func isXMP(head []byte) bool {
	start := textHead(head)
	return len(start) > 0 && start[0] == '<' && (bytes.Contains(start, []byte("<x:xmpmeta")) || bytes.Contains(start, []byte("<rdf:RDF")))
}

// readXMPFile reads a file that is one XMP packet.
func readXMPFile(s source) {
	s.file.MIME = "application/rdf+xml"
	readWholeXMP(s)
}

// readWholeXMP reads a file, or a part of one, that is one XMP packet.
func readWholeXMP(s source) {
	if b, ok := s.value("the XMP packet", 0, s.size); ok {
		readXMP(s, b)
	}
}

// readXMP keeps the properties of an XMP packet. A packet that is broken gives
// the properties before the fault.
func readXMP(s source, packet []byte) {
	packet = xmpUTF8(packet)
	if len(packet) > maxXMP {
		s.warn("the XMP packet is larger than %d MiB and was left out", maxXMP>>20)
		return
	}
	x := xmpReader{s: s, names: map[string]string{}}
	if err := walkXML(s, newXML(bytes.NewReader(packet)), &x); err != nil {
		s.warn("the XMP packet is broken; what precedes the fault was read")
	}
}

// xmpUTF8 recodes the rare packets in UTF-16 and drops padding.
func xmpUTF8(b []byte) []byte {
	if hasUTF16Mark(b) {
		b = []byte(sniffUTF16(b, nil))
	}
	b = bytes.Trim(b, "\x00")
	if !utf8.Valid(b) {
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	return b
}

func (x *xmpReader) depth() int { return len(x.stack) }

func (x *xmpReader) text(t []byte) {
	if n := len(x.stack); n > 0 {
		x.stack[n-1].text = append(x.stack[n-1].text, t...)
	}
}

func (x *xmpReader) start(t xml.StartElement) {
	for _, a := range t.Attr {
		if a.Name.Space == "xmlns" && len(x.names) < maxAttributes {
			x.names[a.Value] = a.Name.Local
		}
	}
	parent := ""
	if n := len(x.stack); n > 0 {
		parent = x.stack[n-1].key
	}
	prefix, name := x.qualified(t.Name)
	e := xmpElement{key: parent, alt: name == "rdf:Alt"}
	if prefix != "rdf" && prefix != "x" {
		e.key, e.owner = under(parent, name), true
	}
	for _, a := range t.Attr {
		x.attribute(&e, a)
	}
	x.stack = append(x.stack, e)
}

// attribute keeps a property written as an attribute. Attributes of rdf, xml and
// x are structure, but for rdf:resource, which is a property's value.
func (x *xmpReader) attribute(e *xmpElement, a xml.Attr) {
	prefix, name := x.qualified(a.Name)
	switch {
	case name == "xml:lang":
		e.lang = a.Value
	case name == "rdf:resource":
		e.text = append(e.text, a.Value...)
	case prefix == "" || prefix == "xmlns" || prefix == "xml" || prefix == "rdf" || prefix == "x":
	default:
		x.s.add("xmp", under(e.key, name), a.Value)
	}
}

// end closes an element: a list's member goes to the nearest property, a
// property's value becomes a chunk.
func (x *xmpReader) end() {
	n := len(x.stack) - 1
	if n < 0 {
		return
	}
	e := &x.stack[n]
	x.stack = x.stack[:n]
	if text := strings.TrimSpace(string(e.text)); text != "" {
		e.items = append(e.items, xmpItem{text, e.lang})
	}
	if e.alt {
		e.items = oneLanguage(e.items)
	}
	switch {
	case e.owner:
		texts := make([]string, len(e.items))
		for i, item := range e.items {
			texts[i] = item.text
		}
		x.s.add("xmp", e.key, strings.Join(texts, "\n"))
	case n > 0:
		x.stack[n-1].items = append(x.stack[n-1].items, e.items...)
	}
}

// oneLanguage returns the default of a text's alternatives, or the first.
func oneLanguage(items []xmpItem) []xmpItem {
	for _, item := range items {
		if item.lang == "x-default" {
			return []xmpItem{item}
		}
	}
	return items[:min(1, len(items))]
}

// qualified returns a name's prefix and the name with it.
func (x *xmpReader) qualified(n xml.Name) (prefix, name string) {
	prefix = n.Space
	if known, ok := xmpPrefixes[n.Space]; ok {
		prefix = known
	} else if declared, ok := x.names[n.Space]; ok {
		prefix = declared
	}
	if prefix == "" {
		return "", n.Local
	}
	return prefix, prefix + ":" + n.Local
}

// under returns a name with that of its parent, if it has one.
func under(parent, name string) string {
	if parent == "" {
		return name
	}
	return parent + "/" + name
}
