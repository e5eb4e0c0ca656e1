package pdf

import (
	"fmt"
	"slices"
	"strings"
)

// Color is red, green and blue, each from 0 to 1.
type Color [3]float64

// Page is a page while it is drawn. Places count from its upper left corner in points.
type Page struct {
	Width, Height float64

	w        *Writer
	self     ref
	body     strings.Builder
	fonts    []*usedFont
	pictures []*Picture
	shadings []string
	alphas   []float64
	links    []ref
	marked   []ref // elements by the numbers of their content
	open     []*element
	all      []*element // elements of the page
	key      int        // in the table of parents
}

// Page begins a page.
func (w *Writer) Page(width, height float64) *Page {
	p := &Page{Width: width, Height: height, w: w, self: w.reserve(), key: len(w.parents)}
	w.parents = append(w.parents, parent{})
	return p
}

func (p *Page) draw(format string, args ...any) { fmt.Fprintf(&p.body, format+"\n", args...) }

// y turns a place from the top into one from the bottom.
func (p *Page) y(top float64) string { return number(p.Height - top) }

func (c Color) String() string { return number(c[0]) + " " + number(c[1]) + " " + number(c[2]) }

// Open begins an element of the structure, such as H1, P, L or Figure, with what is read instead
// of it, or "". What stands outside of all elements is decoration.
func (p *Page) Open(tag, alt string) {
	above := p.w.document
	if n := len(p.open); n > 0 {
		above = p.open[n-1]
	}
	e := p.w.newElement(tag, above)
	e.alt = alt
	p.open, p.all = append(p.open, e), append(p.all, e)
}

// Shut ends the element that was opened last.
func (p *Page) Shut() { p.open = p.open[:len(p.open)-1] }

// mark begins content of the open element.
func (p *Page) mark() {
	if len(p.open) == 0 {
		p.draw("/Artifact BMC")
		return
	}
	e := p.open[len(p.open)-1]
	e.kids = append(e.kids, fmt.Sprintf("<</Type /MCR /Pg %s /MCID %d>>", p.self, len(p.marked)))
	p.draw("/%s <</MCID %d>> BDC", e.tag, len(p.marked))
	p.marked = append(p.marked, e.self)
}

// Fill draws a rectangle of a color, as opaque as alpha says.
func (p *Page) Fill(c Color, x, y, w, h, alpha float64) {
	p.draw("/Artifact BMC q %s%s rg %s %s %s %s re f Q EMC", p.opacity(alpha), c, number(x), p.y(y+h), number(w), number(h))
}

// opacity returns the operator that makes what follows translucent.
func (p *Page) opacity(alpha float64) string {
	if alpha >= 1 {
		return ""
	}
	i := slices.Index(p.alphas, alpha)
	if i < 0 {
		i = len(p.alphas)
		p.alphas = append(p.alphas, alpha)
	}
	return fmt.Sprintf("/G%d gs ", i)
}

// Gradient fills a rectangle with colors from one to another, from corner to corner.
func (p *Page) Gradient(from, to Color, x, y, w, h float64) {
	p.shadings = append(p.shadings, fmt.Sprintf("<</ShadingType 2 /ColorSpace /DeviceRGB /Coords [%s %s %s %s] /Function <</FunctionType 2 /Domain [0 1] /C0 [%s] /C1 [%s] /N 1>> /Extend [true true]>>",
		number(x), p.y(y), number(x+w), p.y(y+h), from, to))
	p.draw("/Artifact BMC q %s %s %s %s re W n /S%d sh Q EMC", number(x), p.y(y+h), number(w), number(h), len(p.shadings)-1)
}

// Draw draws a picture into a rectangle, of which it fills as much as its shape allows; with crop
// it fills all, and what reaches over the edges is not seen.
func (p *Page) Draw(m *Picture, x, y, w, h float64, crop bool) {
	if !slices.Contains(p.pictures, m) {
		p.pictures = append(p.pictures, m)
	}
	scale := min(w/float64(m.Width), h/float64(m.Height))
	if crop {
		scale = max(w/float64(m.Width), h/float64(m.Height))
	}
	mw, mh := float64(m.Width)*scale, float64(m.Height)*scale
	p.mark()
	p.draw("q %s %s %s %s re W n %s 0 0 %s %s %s cm /I%d Do Q EMC", number(x), p.y(y+h), number(w), number(h), number(mw), number(mh), number(x+(w-mw)/2), p.y(y+h-(h-mh)/2), slices.Index(p.pictures, m))
}

// Style is how a line looks.
type Style struct {
	Face    Face
	Size    float64
	Color   Color
	Spacing float64 // points between characters beside those of the font
	Alpha   float64 // 0 means opaque
}

// Text draws a line from x on, with its base line at y, and returns how wide it is.
func (p *Page) Text(s string, x, y float64, style Style) float64 {
	list := style.Face.glyphs(s)
	if len(list) == 0 {
		return 0
	}
	alpha := style.Alpha
	if alpha == 0 {
		alpha = 1
	}
	p.mark()
	p.draw("q %sBT %s rg %s RG %s Tc 1 0 0 1 %s %s Tm", p.opacity(alpha), style.Color, style.Color, number(style.Spacing), number(x), p.y(y))
	for from := 0; from < len(list); {
		to := from + 1
		for to < len(list) && list[to].font == list[from].font {
			to++
		}
		run := list[from:to]
		f := p.w.use(run[0].font, run[0].index, run[0].char)
		for _, g := range run {
			p.w.use(g.font, g.index, g.char)
		}
		if !slices.Contains(p.fonts, f) {
			p.fonts = append(p.fonts, f)
		}
		if heavier := f.Thicken * style.Size; heavier > 0 {
			p.draw("2 Tr %s w", number(heavier))
		} else {
			p.draw("0 Tr")
		}
		p.draw("%s", show(run, f.name, style.Size))
		from = to
	}
	p.draw("ET Q EMC")
	return width(list, style.Size, style.Spacing)
}

// Link makes a rectangle a link to a URL, inside the open element.
func (p *Page) Link(url, about string, x, y, w, h float64) {
	p.Open("Link", "")
	e := p.open[len(p.open)-1]
	p.Shut()
	annotation := p.w.reserve()
	e.kids = append(e.kids, fmt.Sprintf("<</Type /OBJR /Pg %s /Obj %s>>", p.self, annotation))
	p.w.object(annotation, fmt.Sprintf("<</Type /Annot /Subtype /Link /F 4 /Rect [%s %s %s %s] /Border [0 0 0] /Contents %s /StructParent %d /A <</Type /Action /S /URI /URI %s>>>>",
		number(x), p.y(y+h), number(x+w), p.y(y), text(about), len(p.w.parents), literal(url)))
	p.w.parents = append(p.w.parents, parent{one: e.self})
	p.links = append(p.links, annotation)
}

// End writes the page.
func (p *Page) End() error {
	p.w.parents[p.key].page = p.marked
	for _, e := range p.all {
		p.w.writeElement(e, e.parent.self)
	}
	contents := p.w.reserve()
	p.w.packed(contents, "", []byte(p.body.String()))
	links := ""
	if len(p.links) > 0 {
		links = " /Annots [" + list(len(p.links), func(i int) string { return p.links[i].String() }) + "] /Tabs /S"
	}
	p.w.object(p.self, fmt.Sprintf("<</Type /Page /Parent %s /MediaBox [0 0 %s %s] /Contents %s /Resources <<%s>> /StructParents %d /Group <</S /Transparency /CS /DeviceRGB>>%s>>",
		p.w.pageTree, number(p.Width), number(p.Height), contents, p.resources(), p.key, links))
	p.w.pages = append(p.w.pages, p.self)
	return p.w.err
}

func (p *Page) resources() string {
	return "/Font <<" + list(len(p.fonts), func(i int) string { return "/" + p.fonts[i].name + " " + p.fonts[i].self.String() }) +
		">> /XObject <<" + list(len(p.pictures), func(i int) string { return fmt.Sprintf("/I%d %s", i, p.pictures[i].self) }) +
		">> /Shading <<" + list(len(p.shadings), func(i int) string { return fmt.Sprintf("/S%d %s", i, p.shadings[i]) }) +
		">> /ExtGState <<" + list(len(p.alphas), func(i int) string {
		return fmt.Sprintf("/G%d <</ca %s /CA %s>>", i, number(p.alphas[i]), number(p.alphas[i]))
	}) + ">>"
}

// list joins n texts with spaces.
func list(n int, one func(int) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(one(i))
	}
	return b.String()
}
