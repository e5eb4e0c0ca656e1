package container

import (
	"encoding/xml"
	"errors"
	"io"
)

// maxAttributes bounds the attributes of one XML element. encoding/xml collects
// them all before it returns, at many times their length.
const maxAttributes = 512

var (
	errTooManyAttributes = errors.New("an XML element has too many attributes")
	errTooDeep           = errors.New("XML elements are nested too deeply")
)

// newXML makes a tolerant token reader. It never fetches or expands
// entities: encoding/xml knows none but the five predefined ones.
func newXML(r io.ByteReader) *xml.Decoder {
	d := xml.NewDecoder(&tagGuard{r: r})
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	return d
}

// xmlReader is told what an XML text consists of.
type xmlReader interface {
	depth() int // of the elements that are open
	start(xml.StartElement)
	text([]byte)
	end()
}

// walkXML reads an XML text to its end, to its first fault, which is returned, or until the
// file has had its number of steps.
func walkXML(s source, d *xml.Decoder, r xmlReader) error {
	for s.step() {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if r.depth() == maxXMLDepth {
				return errTooDeep
			}
			r.start(t)
		case xml.CharData:
			r.text(t)
		case xml.EndElement:
			r.end()
		}
	}
	return nil
}

// tagGuard hands bytes to the XML decoder and stops a tag with too many
// attributes before the decoder has gathered them.
type tagGuard struct {
	r     io.ByteReader
	inTag bool
	quote byte
	marks int // separators and equal signs outside of quotes
}

// Read satisfies io.Reader; the decoder uses ReadByte.
func (g *tagGuard) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c, err := g.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = c
	return 1, nil
}

func (g *tagGuard) ReadByte() (byte, error) {
	c, err := g.r.ReadByte()
	if err != nil {
		return 0, err
	}
	switch {
	case g.quote != 0:
		if c == g.quote {
			g.quote = 0
		}
	case c == '<':
		g.inTag, g.marks = true, 0
	case c == '>':
		g.inTag = false
	case g.inTag && (c == '"' || c == '\''):
		g.quote = c
	case g.inTag && (c == '=' || c <= ' '):
		g.marks++
	}
	if g.marks > 4*maxAttributes {
		return 0, errTooManyAttributes
	}
	return c, nil
}
