// Package page is the HTML of published pages: a title, text cards, and pictures with what may be
// said of them. The service shows it to visitors, and a browser prints decks of it.
//
// In goes a View; out comes a document in which every text of the library is text: nothing of
// it is markup, and no script is part of it.
package page

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"regexp"
	"strings"

	"vitrine/library"
)

// View is what a page shows.
type View struct {
	Title, Message, URL, Cover string
	Language                   string // a BCP 47 tag; empty means "en"
	Description                string // for those who show a link to the page
	Indexed                    bool
	AskPassword                bool
	Fault                      string
	Total                      int  // assets on all its pages
	Generated                  bool // some were generated
	Items                      []Item
	Previous, Next             string
	Structured                 any    // schema.org's description
	Policy                     string // a content security policy that stands in the page
	Print                      bool   // it is for paper: titles are headings, and nothing is folded
}

// Item is a picture or a text card.
type Item struct {
	ID                      string // of the element
	Card                    *library.TextCard
	Full, Small, Download   string // addresses; without Full the picture is no link
	Title, Alt, Kind        string
	Credit, License, System string
	Prompt                  string
	Lines                   []string // further lines below the picture
	SourceType              string   // IPTC's term
	Width, Height           int
}

// Generated reports whether a model made the picture, or a part of it.
func (i Item) Generated() bool {
	return strings.Contains(strings.ToLower(i.SourceType), "trainedalgorithmicmedia")
}

//go:embed page.html page.css print.css
var files embed.FS

var (
	style = mustRead("page.css")
	page  = template.Must(template.New("page.html").Funcs(template.FuncMap{"linked": linked}).ParseFS(files, "page.html"))
	color = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)
)

func mustRead(name string) string {
	b, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return string(b)
}

// rendered is what the template gets.
type rendered struct {
	View
	CSS template.CSS
}

// Style returns the style of a page on a screen.
func Style(v View) string { return style + rules(v.Items) }

// Write writes a page with a style that the caller has made: only numbers and colors in it may come from a library.
func Write(w io.Writer, v View, css string) error {
	if err := page.Execute(w, rendered{v, template.CSS(css)}); err != nil { //nolint:gosec // see above
		return fmt.Errorf("rendering a page: %w", err)
	}
	return nil
}

// rowHeight is about how high a row of pictures is, in pixels.
const rowHeight = 260

// rules returns the style of single items: how wide a picture is among others of its row, so
// that all of them are equally high, and the color of a card.
func rules(items []Item) string {
	var b strings.Builder
	for _, i := range items {
		if i.Card == nil {
			aspect := i.aspect()
			fmt.Fprintf(&b, "#%s{flex:%.3f 1 %dpx}#%[1]s img{aspect-ratio:%.4f}\n", i.ID, aspect, int(math.Round(aspect*rowHeight)), aspect)
		}
	}
	return b.String() + Accents(items)
}

// Accents returns the style of the cards that have a color of their own.
func Accents(items []Item) string {
	var b strings.Builder
	for _, i := range items {
		if i.Card != nil && color.MatchString(i.Card.AccentColor) {
			fmt.Fprintf(&b, "#%s{--accent:%s}\n", i.ID, i.Card.AccentColor)
		}
	}
	return b.String()
}

// aspect is a picture's width by its height, within bounds; 1 where the size is not known.
func (i Item) aspect() float64 {
	if i.Width <= 0 || i.Height <= 0 {
		return 1
	}
	return min(max(float64(i.Width)/float64(i.Height), 0.4), 3)
}

// urls are addresses in a text.
var urls = regexp.MustCompile(`https?://[^\s<>"'\x60{}|\\^]+[^\s<>"'\x60{}|\\^.,;:!?()\[\]…]`)

// linked returns a text as HTML in which addresses are links.
func linked(s string) template.HTML {
	var b strings.Builder
	at := 0
	for _, m := range urls.FindAllStringIndex(s, 20) {
		url := template.HTMLEscapeString(s[m[0]:m[1]])
		fmt.Fprintf(&b, `%s<a href="%s" rel="nofollow noopener">%[2]s</a>`, template.HTMLEscapeString(s[at:m[0]]), url)
		at = m[1]
	}
	return template.HTML(b.String() + template.HTMLEscapeString(s[at:])) //nolint:gosec // every part of it is escaped
}
