package page

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

var printStyle = mustRead("print.css")

// Print is how a page is printed as slides: its header is the cover, each text card a slide of its own.
type Print struct {
	Columns, Rows int    // of the pictures of a slide
	Bleed         bool   // pictures stand up to the edges of their slides
	Accent        string // #rrggbb, or empty
	Cover         string // the file of the picture of the cover, or empty
	Mark          string // what stands at the foot of slides, or empty
	// Grounds are the two colors, #rrggbb, between which the slides of cards shade, by the ids of those that do.
	Grounds map[string][2]string
}

// Policy lets a page that is printed have the files beside it, and nothing else.
const Policy = "default-src 'none'; img-src file:; font-src file:; style-src 'unsafe-inline'"

// mostCropped is how much of a picture may be cut off so that it fills a slide.
const mostCropped = 0.36

// PrintStyle returns the style of the slides of a page.
func PrintStyle(v View, p Print) string {
	var b strings.Builder
	b.WriteString(printStyle)
	fmt.Fprintf(&b, ":root{--columns:%d;--rows:%d}\n", max(1, p.Columns), max(1, p.Rows))
	if color.MatchString(p.Accent) {
		fmt.Fprintf(&b, ":root{--accent:%s}\n", p.Accent)
	}
	if p.Columns > 2 {
		b.WriteString(".items>li{font-size:8.5pt}\n")
	}
	if p.Mark != "" {
		fmt.Fprintf(&b, "@page{@bottom-left{content:%q;font:9pt Deck,sans-serif;color:#6f7178}}\n", p.Mark)
	}
	if p.Cover != "" {
		fmt.Fprintf(&b, "header{padding-right:528pt}header::after{content:\"\";position:absolute;inset:0 0 0 480pt;background:url(%q) center/cover}\n", p.Cover)
	}
	if p.Bleed {
		b.WriteString(bleedStyle)
	}
	for _, i := range v.Items {
		switch {
		case i.Card != nil:
			b.WriteString(cardStyle(i, p.Grounds))
		case p.Bleed && i.Width > 0 && i.Height > 0:
			if ratio := float64(i.Width) / float64(i.Height) / (960. / 540); min(ratio, 1/ratio) >= 1-mostCropped {
				fmt.Fprintf(&b, "#%s img{object-fit:cover}\n", i.ID)
			}
		}
	}
	return b.String() + Accents(v.Items)
}

const bleedStyle = `@page bleed{margin:0 0 30pt;background:#0f1013;@bottom-right{padding-right:48pt}@bottom-left{padding-left:48pt}}
.items>li:not(.card){page:bleed;display:block;width:auto;height:509pt;break-after:page;padding:0;position:relative;color:#f6f5f2;background:#0f1013}
figure img{width:100%;height:100%;object-position:center}
figcaption{position:absolute;inset:auto 0 0 0;padding:9pt 48pt;background:#000a;text-align:left}figcaption small,details p{color:#d0d1d6}figcaption:not(:has(*)){display:none}
`

// cardStyle returns the style of a card: smaller the more it says, and the ground of its slide where that shades.
func cardStyle(i Item, grounds map[string][2]string) string {
	c := i.Card
	n := utf8.RuneCountInString(c.Heading)*2 + utf8.RuneCountInString(c.Body)
	for _, x := range c.Bullets {
		n += max(70, utf8.RuneCountInString(x))
	}
	scale := min(1, max(0.62, math.Sqrt(620/float64(max(n, 1)))))
	css := fmt.Sprintf("#%s{--scale:%.2f}\n", i.ID, scale)
	if ground, ok := grounds[i.ID]; ok {
		css += fmt.Sprintf("@page %[1]s{margin:0 0 34pt;background:%[3]s;@bottom-right{padding-right:72pt}@bottom-left{padding-left:72pt}}#%[1]s.card{page:%[1]s;min-height:505pt;padding:58pt 100pt 24pt;background:linear-gradient(160deg,%[2]s,%[3]s)}\n", i.ID, ground[0], ground[1])
	}
	return css
}
