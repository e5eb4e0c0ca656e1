package api

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/library"
)

// serveDocument answers with the document, which is encoded and compressed once.
func serveDocument(doc *huma.OpenAPI) func(http.ResponseWriter, *http.Request, library.Actor) error {
	plain, err := json.Marshal(doc)
	if err != nil {
		panic("api: the OpenAPI document cannot be encoded: " + err.Error())
	}
	packed := compress(plain)
	plainTag, packedTag := `"`+digest(plain)+`"`, `"`+digest(plain)+`-gzip"`
	return func(w http.ResponseWriter, r *http.Request, _ library.Actor) error {
		body, tag := plain, plainTag
		h := w.Header()
		if acceptsGzip(r.Header.Values("Accept-Encoding")) {
			body, tag = packed, packedTag
			h.Set("Content-Encoding", "gzip")
		}
		h.Set("Cache-Control", "public, max-age=300")
		h.Add("Vary", "Accept-Encoding")
		h.Set("ETag", tag)
		if etagMatches(r.Header.Values("If-None-Match"), tag) {
			h.Del("Content-Encoding")
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
		h.Set("Content-Type", jsonType)
		h.Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = w.Write(body) // the client has gone; there is nobody left to tell
		return nil
	}
}

func compress(plain []byte) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(plain)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic("api: the OpenAPI document cannot be compressed: " + err.Error())
	}
	return b.Bytes()
}

// acceptsGzip reports whether a client takes gzip: it names it, or everything, and not
// with a weight of zero (RFC 9110 §12.5.3).
func acceptsGzip(headers []string) bool {
	accepted := false
	for coding := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		name, weight, _ := strings.Cut(strings.ToLower(strings.TrimSpace(coding)), ";")
		name = strings.TrimSpace(name)
		if name != "gzip" && name != "*" {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(weight), "q="), 64)
		if takes := err != nil || q > 0; name == "gzip" {
			return takes
		} else if takes {
			accepted = true
		}
	}
	return accepted
}
