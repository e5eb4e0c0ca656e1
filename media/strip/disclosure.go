package strip

import (
	"bytes"
	"encoding/xml"
)

// Disclosure is what is written into a file in place of its metadata: who made it, who may
// use it, and that a machine made it.
type Disclosure struct {
	// SourceType is a term of IPTC's list of digital source types, as a URL.
	SourceType string
	AISystem   string // the program or model that made it, for people
	Creator    string
	Rights     string
}

// SourceTypes is the address under which IPTC's digital source types have their names.
const SourceTypes = "http://cv.iptc.org/newscodes/digitalsourcetype/"

// keys are the properties that a packet may have, as the extractor names them.
var disclosureKeys = []string{"dc:creator", "dc:rights", "Iptc4xmpExt:DigitalSourceType", "Iptc4xmpExt:AISystemUsed"}

// Packet returns the disclosure as an XMP packet; nil where it says nothing.
func (d *Disclosure) Packet() []byte {
	if d == nil || *d == (Disclosure{}) {
		return nil
	}
	var b bytes.Buffer
	b.WriteString(`<?xpacket begin="` + "\ufeff" + `" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">` +
		`<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/">`)
	element(&b, "<dc:creator><rdf:Seq><rdf:li>", d.Creator, "</rdf:li></rdf:Seq></dc:creator>")
	element(&b, `<dc:rights><rdf:Alt><rdf:li xml:lang="x-default">`, d.Rights, "</rdf:li></rdf:Alt></dc:rights>")
	element(&b, "<Iptc4xmpExt:DigitalSourceType>", d.SourceType, "</Iptc4xmpExt:DigitalSourceType>")
	element(&b, "<Iptc4xmpExt:AISystemUsed>", d.AISystem, "</Iptc4xmpExt:AISystemUsed>")
	b.WriteString(`</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="r"?>`)
	return b.Bytes()
}

// maxText bounds a text of a packet, which has to fit into a segment of a JPEG.
const maxText = 4000

func element(b *bytes.Buffer, open, text, end string) {
	if text == "" {
		return
	}
	if r := []rune(text); len(r) > maxText {
		text = string(r[:maxText])
	}
	b.WriteString(open)
	_ = xml.EscapeText(b, []byte(text)) // a buffer takes everything
	b.WriteString(end)
}
