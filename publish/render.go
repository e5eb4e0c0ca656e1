package publish

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"regexp"
	"strings"
)

//go:embed page.html page.css
var files embed.FS

var (
	style = mustRead("page.css")
	page  = template.Must(template.New("page.html").ParseFS(files, "page.html"))
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
	view
	CSS template.CSS
}

// write writes a page, with the headers that keep it from being anything else.
func write(w http.ResponseWriter, status int, v view) error {
	var b strings.Builder
	css := style + rules(v.Items)
	if err := page.Execute(&b, rendered{v, template.CSS(css)}); err != nil { //nolint:gosec // numbers and colors that were checked are all that is added to it
		return fmt.Errorf("rendering a page: %w", err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy(css))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "private, no-cache")
	if !v.Indexed {
		h.Set("X-Robots-Tag", "noindex, nofollow")
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(b.String())) // when it fails, the client has gone
	return nil
}

// policy lets a page show its own pictures and its own style, and nothing else: no script runs,
// whatever a title says.
func policy(css string) string {
	sum := sha256.Sum256([]byte(css))
	return "default-src 'none'; img-src 'self'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

// rowHeight is about how high a row of pictures is, in pixels.
const rowHeight = 260

// rules returns the style of single items: how wide a picture is among others of its row, so
// that all of them are equally high, and the color of a card.
func rules(items []item) string {
	var b strings.Builder
	for _, i := range items {
		switch {
		case i.Card == nil:
			aspect := i.aspect()
			fmt.Fprintf(&b, "#%s{flex:%.3f 1 %dpx}#%[1]s img{aspect-ratio:%.4f}\n", i.ID, aspect, int(math.Round(aspect*rowHeight)), aspect)
		case color.MatchString(i.Card.AccentColor):
			fmt.Fprintf(&b, "#%s{--accent:%s}\n", i.ID, i.Card.AccentColor)
		}
	}
	return b.String()
}

// aspect is a picture's width by its height, within bounds; 1 where the size is not known.
func (i item) aspect() float64 {
	if i.Width <= 0 || i.Height <= 0 {
		return 1
	}
	return min(max(float64(i.Width)/float64(i.Height), 0.4), 3)
}
