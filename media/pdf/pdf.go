// Package pdf writes PDF documents with text, pictures, links, an outline, and the structure
// that screen readers need: headings, paragraphs, lists, and pictures with alternative texts.
//
// Pages go out while they are made. What a Writer holds is the current page, the glyphs that
// were used and the structure, never the pictures, so a document of any length takes little
// memory. Every text can be written: a character that none of the fonts has becomes a box.
package pdf

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf16"
)

// Info is what a document says of itself.
type Info struct {
	Title    string
	Language string // a BCP 47 tag; empty means "en"
	Producer string
	Created  time.Time
}

// Writer writes one document. It is not safe for concurrent use. After an error every further
// call returns the same one.
type Writer struct {
	out     *bufio.Writer
	at      int64 // bytes written
	err     error
	offsets []int64 // of objects, by number less one
	info    Info

	pages    []ref
	pageTree ref
	fonts    []*usedFont
	pictures map[[32]byte]*Picture
	profiles map[[32]byte]ref
	outline  []bookmark
	document *element
	parents  []parent // of marked content and annotations, by their keys
}

// ref is the number of an object.
type ref int

func (r ref) String() string { return fmt.Sprintf("%d 0 R", int(r)) }

// parent is an entry of the parent tree: the elements of a page's marked content, or the one
// of an annotation.
type parent struct {
	page []ref
	one  ref
}

// New begins a document.
func New(out io.Writer, info Info) *Writer {
	w := &Writer{out: bufio.NewWriterSize(out, 64<<10), info: info, pictures: map[[32]byte]*Picture{}, profiles: map[[32]byte]ref{}}
	if w.info.Language == "" {
		w.info.Language = "en"
	}
	w.printf("%%PDF-1.7\n%%\xe2\xe3\xcf\xd3\n")
	w.pageTree = w.reserve()
	w.document = w.newElement("Document", nil)
	return w
}

func (w *Writer) printf(format string, args ...any) {
	w.write([]byte(fmt.Sprintf(format, args...)))
}

func (w *Writer) write(b []byte) {
	if w.err != nil {
		return
	}
	n, err := w.out.Write(b)
	w.at, w.err = w.at+int64(n), err
}

// reserve returns the number of an object that is written later.
func (w *Writer) reserve() ref {
	w.offsets = append(w.offsets, 0)
	return ref(len(w.offsets))
}

// object writes an object under a number.
func (w *Writer) object(r ref, body string) {
	w.offsets[r-1] = w.at
	w.printf("%d 0 obj\n%s\nendobj\n", int(r), body)
}

// stream writes a stream under a number; dict is the dictionary without Length.
func (w *Writer) stream(r ref, dict string, data []byte) {
	w.offsets[r-1] = w.at
	w.printf("%d 0 obj\n<<%s /Length %d>>\nstream\n", int(r), dict, len(data))
	w.write(data)
	w.printf("\nendstream\nendobj\n")
}

// packed writes a compressed stream.
func (w *Writer) packed(r ref, dict string, data []byte) {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write(data) // into memory
	_ = z.Close()
	w.stream(r, dict+" /Filter /FlateDecode", b.Bytes())
}

// Err returns the first error of writing.
func (w *Writer) Err() error { return w.err }

// Pages returns how many pages were written.
func (w *Writer) Pages() int { return len(w.pages) }

// Close writes what follows the pages: fonts, outline, structure, and the table of objects.
func (w *Writer) Close() error {
	for _, f := range w.fonts {
		f.write(w)
	}
	kids := make([]string, len(w.pages))
	for i, p := range w.pages {
		kids[i] = p.String()
	}
	w.object(w.pageTree, fmt.Sprintf("<</Type /Pages /Count %d /Kids [%s]>>", len(w.pages), strings.Join(kids, "\n")))
	catalog := w.reserve()
	about := fmt.Sprintf("<</Type /Catalog /Pages %s /Lang %s /MarkInfo <</Marked true>> /ViewerPreferences <</DisplayDocTitle true>> /PageLayout /SinglePage /Metadata %s /StructTreeRoot %s",
		w.pageTree, text(w.info.Language), w.metadata(), w.structure())
	if outline := w.writeOutline(); outline != 0 {
		about += fmt.Sprintf(" /Outlines %s", outline)
	}
	w.object(catalog, about+">>")
	info := w.reserve()
	w.object(info, fmt.Sprintf("<</Title %s /Producer %s /CreationDate %s>>", text(w.info.Title), text(w.info.Producer), date(w.info.Created)))
	w.trailer(catalog, info)
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return w.err
}

// trailer writes the table of objects.
func (w *Writer) trailer(catalog, info ref) {
	at := w.at
	w.printf("xref\n0 %d\n0000000000 65535 f \n", len(w.offsets)+1)
	for _, off := range w.offsets {
		w.printf("%010d 00000 n \n", off)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", w.info.Title, w.info.Created.UnixNano(), at))
	id := hex.EncodeToString(sum[:16])
	w.printf("trailer\n<</Size %d /Root %s /Info %s /ID [<%s> <%s>]>>\nstartxref\n%d\n%%%%EOF\n", len(w.offsets)+1, catalog, info, id, id, at)
}

// metadata writes the title and the language as XMP.
func (w *Writer) metadata() ref {
	escape := func(s string) string {
		var b strings.Builder
		_ = xml.EscapeText(&b, []byte(printable(s))) // into memory
		return b.String()
	}
	when := w.info.Created.UTC().Format(time.RFC3339)
	r := w.reserve()
	w.stream(r, "/Type /Metadata /Subtype /XML", []byte("<?xpacket begin=\"\uFEFF\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n"+
		`<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">`+
		`<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:pdf="http://ns.adobe.com/pdf/1.3/">`+
		`<dc:format>application/pdf</dc:format><dc:title><rdf:Alt><rdf:li xml:lang="x-default">`+escape(w.info.Title)+`</rdf:li></rdf:Alt></dc:title>`+
		`<dc:language><rdf:Bag><rdf:li>`+escape(w.info.Language)+`</rdf:li></rdf:Bag></dc:language>`+
		`<xmp:CreateDate>`+when+`</xmp:CreateDate><pdf:Producer>`+escape(w.info.Producer)+`</pdf:Producer>`+
		"</rdf:Description></rdf:RDF></x:xmpmeta>\n<?xpacket end=\"r\"?>"))
	return r
}

// printable returns a text without characters that are no text.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0xfffe && r&0xfffe == 0xfffe {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// text returns a text string of any characters as a PDF object.
func text(s string) string {
	var b strings.Builder
	b.WriteString("<FEFF")
	for _, u := range utf16.Encode([]rune(printable(s))) {
		fmt.Fprintf(&b, "%04X", u)
	}
	b.WriteByte('>')
	return b.String()
}

// literal returns a string of bytes as a PDF object.
func literal(s string) string { return "<" + hex.EncodeToString([]byte(s)) + ">" }

func date(t time.Time) string { return literal("D:" + t.UTC().Format("20060102150405") + "+00'00'") }
