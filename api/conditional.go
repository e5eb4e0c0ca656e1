package api

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"

	"vitrine/op"
)

// vary lists what the answer to one URL depends on.
const vary = "Authorization, X-API-Key, api-key, X-Tenant-ID"

// conditional sets the entity tag of a result and answers a request whose conditions it
// decides: 304 for a GET whose answer the client has, an error (412) for one that expects
// another. Writes have been decided already, by the version that they found.
func (s *server) conditional(w http.ResponseWriter, r *http.Request, o op.Operation, value any, body []byte) (answered bool, err error) {
	h := w.Header()
	tag := entityTag(o, value, body)
	if tag != "" {
		h.Set("ETag", tag)
	}
	if o.Method != http.MethodGet {
		return false, nil
	}
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Vary", vary)
	if tags := ifMatch(r); len(tags) > 0 && !op.MatchesVersion(tags, op.VersionOf(value)) {
		h.Del("ETag")
		return false, op.VersionConflict()
	}
	if !etagMatches(r.Header.Values("If-None-Match"), tag) {
		return false, nil
	}
	h.Del("Content-Type")
	w.WriteHeader(http.StatusNotModified)
	return true, nil
}

// entityTag returns the ETag of a result: the version of the one thing that it shows, and,
// for a GET, a digest of how it shows it. A GET that shows no one thing has a weak tag,
// since equal answers may differ in signed links.
func entityTag(o op.Operation, value any, body []byte) string {
	version := op.VersionOf(value)
	if o.Method != http.MethodGet {
		if version == "" {
			return ""
		}
		return `"` + version + `"`
	}
	if version == "" {
		return `W/"` + digest(body) + `"`
	}
	return `"` + version + "." + digest(body) + `"`
}

// digest returns a text of 16 characters that equal bodies alone have.
func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// ifMatch returns the entity tags of If-Match.
func ifMatch(r *http.Request) []string { return r.Header.Values("If-Match") }

// etagMatches compares entity tags weakly (RFC 9110 §8.8.3.2).
func etagMatches(headers []string, tag string) bool {
	for _, h := range headers {
		for t := range strings.SplitSeq(h, ",") {
			t = strings.TrimSpace(t)
			if t == "*" || strings.TrimPrefix(t, "W/") == strings.TrimPrefix(tag, "W/") {
				return true
			}
		}
	}
	return false
}
