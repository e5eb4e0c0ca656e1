package publish

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"

	"vitrine/publish/page"
)

// write writes a page, with the headers that keep it from being anything else.
func write(w http.ResponseWriter, status int, v page.View) error {
	var b strings.Builder
	css := page.Style(v)
	if err := page.Write(&b, v, css); err != nil {
		return err
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
