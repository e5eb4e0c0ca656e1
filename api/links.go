package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"vitrine/op"
)

// setCreated returns the status of a success and names what a write has created in
// Location; of what was there before the status is 200.
func setCreated(h http.Header, o op.Operation, body []byte) int {
	status := o.SuccessStatus()
	if o.Creates == "" {
		return status
	}
	var out map[string]any
	if json.Unmarshal(body, &out) != nil {
		return status
	}
	if created, said := out["created"].(bool); said && !created {
		return http.StatusOK
	}
	h.Set("Location", placeholders.ReplaceAllStringFunc(o.Creates, func(m string) string {
		return url.PathEscape(memberText(out, strings.Trim(m, "{}")))
	}))
	return status
}

// memberText returns a text of an output by its path, such as asset.asset_h.
func memberText(out map[string]any, path string) string {
	first, rest, nested := strings.Cut(path, ".")
	if inner, ok := out[first].(map[string]any); ok && nested {
		return memberText(inner, rest)
	}
	text, _ := out[first].(string)
	return text
}

// nextPage returns the URL of the page after a page that GET returned, relative to the
// service, or "" when it is the last or no page.
func nextPage(r *http.Request, o op.Operation, body []byte) string {
	cursor, byCursor := o.Output.Properties["next_cursor"], o.Input.Properties["cursor"]
	total, byOffset := o.Output.Properties["total"], o.Input.Properties["offset"]
	if o.Method != http.MethodGet || (cursor == nil || byCursor == nil) && (total == nil || byOffset == nil) {
		return ""
	}
	var page struct {
		Data       []json.RawMessage `json:"data"`
		Total      int               `json:"total"`
		NextCursor string            `json:"next_cursor"`
	}
	if json.Unmarshal(body, &page) != nil {
		return ""
	}
	query := r.URL.Query()
	at, _ := strconv.Atoi(query.Get("offset")) // 0 when left out; a bad one was refused
	switch {
	case page.NextCursor != "":
		query.Del("offset")
		query.Set("cursor", page.NextCursor)
	case byOffset != nil && len(page.Data) > 0 && at+len(page.Data) < page.Total:
		query.Set("offset", strconv.Itoa(at+len(page.Data)))
	default:
		return ""
	}
	return r.URL.EscapedPath() + "?" + query.Encode()
}
