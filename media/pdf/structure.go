package pdf

import (
	"fmt"
	"strings"
)

// element is a node of the structure that screen readers follow.
type element struct {
	self   ref
	parent *element
	tag    string
	alt    string
	kids   []string // as they stand in the file
}

func (w *Writer) newElement(tag string, parent *element) *element {
	e := &element{self: w.reserve(), parent: parent, tag: tag}
	if parent != nil {
		parent.kids = append(parent.kids, e.self.String())
	}
	return e
}

// writeElement writes an element that gets no more kids.
func (w *Writer) writeElement(e *element, parent ref) {
	body := fmt.Sprintf("<</Type /StructElem /S /%s /P %s /K [%s]", e.tag, parent, strings.Join(e.kids, " "))
	if e.alt != "" {
		body += " /Alt " + text(e.alt)
	}
	w.object(e.self, body+">>")
}

// structure writes the root of the structure and the way back from content to it.
func (w *Writer) structure() ref {
	root, tree := w.reserve(), w.reserve()
	w.writeElement(w.document, root)
	var b strings.Builder
	for key, p := range w.parents {
		if p.one != 0 {
			fmt.Fprintf(&b, "%d %s\n", key, p.one)
			continue
		}
		fmt.Fprintf(&b, "%d [", key)
		for _, e := range p.page {
			fmt.Fprintf(&b, "%s ", e)
		}
		b.WriteString("]\n")
	}
	w.object(tree, fmt.Sprintf("<</Nums [%s]>>", b.String()))
	w.object(root, fmt.Sprintf("<</Type /StructTreeRoot /K [%s] /ParentTree %s /ParentTreeNextKey %d>>", w.document.self, tree, len(w.parents)))
	return root
}

// bookmark is an entry of the outline.
type bookmark struct {
	title string
	page  ref
	level int
}

// Bookmark adds an entry for the page to the outline. One of level 1 stands below the last of
// level 0.
func (p *Page) Bookmark(title string, level int) {
	if title = strings.Join(strings.Fields(printable(title)), " "); title == "" {
		return
	}
	if len(p.w.outline) == 0 {
		level = 0
	}
	p.w.outline = append(p.w.outline, bookmark{title, p.self, level})
}

// writeOutline writes the outline, and returns 0 where it has no entries.
func (w *Writer) writeOutline() ref {
	if len(w.outline) == 0 {
		return 0
	}
	root := w.reserve()
	refs := make([]ref, len(w.outline))
	for i := range refs {
		refs[i] = w.reserve()
	}
	tops := siblings{}
	for i := 0; i < len(w.outline); {
		below := siblings{}
		end := i + 1
		for ; end < len(w.outline) && w.outline[end].level > 0; end++ {
			below = append(below, end)
		}
		for n, at := range below {
			w.object(refs[at], w.entry(at, refs[i], below, n, refs)+">>")
		}
		tops = append(tops, i)
		i = end
	}
	for n, at := range tops {
		body := w.entry(at, root, tops, n, refs)
		last := len(w.outline)
		if n+1 < len(tops) {
			last = tops[n+1]
		}
		if kids := last - at - 1; kids > 0 { // closed
			body += fmt.Sprintf(" /First %s /Last %s /Count %d", refs[at+1], refs[last-1], -kids)
		}
		w.object(refs[at], body+">>")
	}
	w.object(root, fmt.Sprintf("<</Type /Outlines /First %s /Last %s /Count %d>>", refs[tops[0]], refs[tops[len(tops)-1]], len(tops)))
	return root
}

// siblings are places in the outline that stand below the same entry.
type siblings []int

// entry returns an entry of the outline, still open.
func (w *Writer) entry(at int, parent ref, among siblings, n int, refs []ref) string {
	b := w.outline[at]
	body := fmt.Sprintf("<</Title %s /Parent %s /Dest [%s /Fit]", text(b.title), parent, b.page)
	if n > 0 {
		body += fmt.Sprintf(" /Prev %s", refs[among[n-1]])
	}
	if n+1 < len(among) {
		body += fmt.Sprintf(" /Next %s", refs[among[n+1]])
	}
	return body
}
