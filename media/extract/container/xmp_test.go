package container

import (
	"strings"
	"testing"
)

// xmpPacket is an XMP packet with a single property.
const xmpPacket = `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">` +
	`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:exif="http://ns.adobe.com/exif/1.0/">` +
	`<exif:UserComment><rdf:Alt><rdf:li xml:lang="x-default">{"c":"a cat"}</rdf:li></rdf:Alt></exif:UserComment>` +
	`</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>`

func TestXMP_PropertiesGetTheirUsualNames(t *testing.T) {
	packet := `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
	<rdf:Description rdf:about="" xmlns:xap="http://ns.adobe.com/xap/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"
	 xmlns:ext="http://iptc.org/std/Iptc4xmpExt/2008-02-29/" xmlns:mm="http://ns.adobe.com/xap/1.0/mm/"
	 xmlns:ref="http://ns.adobe.com/xap/1.0/sType/ResourceRef#" xmlns:own="urn:own" xap:CreatorTool="Draw &amp; Things">
	 <dc:subject><rdf:Bag><rdf:li>cat</rdf:li><rdf:li>dog</rdf:li></rdf:Bag></dc:subject>
	 <ext:DigitalSourceType rdf:resource="http://example.org/algorithm"/>
	 <ext:DigImageGUID>0-1-2</ext:DigImageGUID>
	 <mm:DerivedFrom ref:documentID="xmp.did:1"><ref:instanceID>xmp.iid:2</ref:instanceID></mm:DerivedFrom>
	 <own:key> v </own:key><dc:empty/>
	</rdf:Description></rdf:RDF></x:xmpmeta>`
	f := readBytes(t, pngFile(pngChunk("iTXt", "XML:com.adobe.xmp\x00\x00\x00\x00\x00", packet)))
	wantChunks(t, f,
		Chunk{Place: "xmp", Key: "xmp:CreatorTool", Text: "Draw & Things"},
		Chunk{Place: "xmp", Key: "dc:subject", Text: "cat\ndog"},
		Chunk{Place: "xmp", Key: "Iptc4xmpExt:DigitalSourceType", Text: "http://example.org/algorithm"},
		Chunk{Place: "xmp", Key: "Iptc4xmpExt:DigImageGUID", Text: "0-1-2"},
		Chunk{Place: "xmp", Key: "xmpMM:DerivedFrom/stRef:documentID", Text: "xmp.did:1"},
		Chunk{Place: "xmp", Key: "xmpMM:DerivedFrom/stRef:instanceID", Text: "xmp.iid:2"},
		Chunk{Place: "xmp", Key: "own:key", Text: "v"},
	)
}

// TestXMP_TextInSeveralLanguagesIsReadInOne: the alternatives say the same.
func TestXMP_TextInSeveralLanguagesIsReadInOne(t *testing.T) {
	alt := func(members string) string {
		return strings.Replace(xmpPacket, `<rdf:li xml:lang="x-default">{"c":"a cat"}</rdf:li>`, members, 1)
	}
	for members, want := range map[string]string{
		`<rdf:li xml:lang="de">eine Katze</rdf:li><rdf:li xml:lang="x-default">a cat</rdf:li>`: "a cat",
		`<rdf:li xml:lang="x-default">a cat</rdf:li><rdf:li xml:lang="en-US">a cat</rdf:li>`:   "a cat",
		`<rdf:li xml:lang="fr">un chat</rdf:li><rdf:li xml:lang="en">a cat</rdf:li>`:           "un chat",
		`<rdf:li>a cat</rdf:li>`: "a cat",
	} {
		wantChunks(t, readBytes(t, alt(members)), Chunk{Place: "xmp", Key: "exif:UserComment", Text: want})
	}
}

func TestXMP_FileIsRead(t *testing.T) {
	f := readBytes(t, xmpPacket)
	wantChunks(t, f, Chunk{Place: "xmp", Key: "exif:UserComment", Text: `{"c":"a cat"}`})
	if f.MIME != "application/rdf+xml" {
		t.Errorf("got %s", f.MIME)
	}
}

// TestXMP_BrokenXMPKeepsWhatPrecedesTheFault also holds that no entity is expanded.
func TestXMP_BrokenXMPKeepsWhatPrecedesTheFault(t *testing.T) {
	packet := `<!DOCTYPE x [<!ENTITY e "eeee">]>` + strings.Replace(xmpPacket, "a cat", "a &e; cat", 1)
	f := readBytes(t, riffFile("WEBP", riffChunk("XMP ", packet[:strings.Index(packet, "</rdf:Description>")], "<b", "\x00\x01<<")))
	wantChunks(t, f, Chunk{Place: "xmp", Key: "exif:UserComment", Text: `{"c":"a &e; cat"}`})
	if len(f.Warnings) != 1 {
		t.Errorf("warnings %q; want one on the fault", f.Warnings)
	}
}
