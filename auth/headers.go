package auth

import (
	"net/http"
	"regexp"
	"strings"

	"vitrine/library"
)

// keyHeaders take a bare key: the preferred one and the legacy one.
var keyHeaders = []string{"X-API-Key", "api-key"}

// credential returns the one credential of a request, whichever header carries it.
// The same key in several headers is one credential; two different ones are
// refused (RFC 6750 §3.1), because proxies and servers must not differ in which
// of them counts.
func credential(h http.Header) (string, error) {
	var found []string
	for _, v := range h.Values("Authorization") {
		scheme, token, _ := strings.Cut(strings.TrimSpace(v), " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return "", unauthenticated("The Authorization header must have the form: Bearer <API key>.")
		}
		found = append(found, strings.TrimSpace(token))
	}
	for _, name := range keyHeaders {
		for _, v := range h.Values(name) {
			found = append(found, strings.TrimSpace(v))
		}
	}
	if len(found) == 0 {
		return "", unauthenticated("Send an API key: Authorization: Bearer <key>, or X-API-Key: <key>.")
	}
	for _, c := range found[1:] {
		if c != found[0] {
			return "", library.Invalid(library.FieldError{Field: "Authorization", Code: "conflict",
				Message: "The request has two different credentials.", Hint: "Send one key in one header."})
		}
	}
	return found[0], nil
}

// hasCredential reports whether a request carries any credential, good or bad. One
// without is no guess: clients ask that way what they need.
func hasCredential(h http.Header) bool {
	for _, name := range append([]string{"Authorization"}, keyHeaders...) {
		if len(h.Values(name)) > 0 {
			return true
		}
	}
	return false
}

// singleHeader returns the value of a header that may be there once.
func singleHeader(h http.Header, name string) (value string, there bool, err error) {
	values := h.Values(name)
	if len(values) == 0 {
		return "", false, nil
	}
	for _, v := range values[1:] {
		if v != values[0] {
			return "", true, library.Invalid(library.FieldError{Field: name, Code: "conflict", Message: "The header is sent twice with different values."})
		}
	}
	return strings.TrimSpace(values[0]), true, nil
}

// keyPattern finds a key inside other text, complete or cut off.
var keyPattern = regexp.MustCompile(prefix + `[0-9A-Za-z]{16,}`)

// RefuseKeyInURL returns KEY_IN_URL when the URL holds anything that looks like a
// key: URLs end up in logs, histories and referrers. Every route asks
// it, also those that need no key.
func RefuseKeyInURL(r *http.Request) error {
	if !strings.Contains(r.URL.Path, prefix) && r.URL.RawQuery == "" {
		return nil
	}
	if keyPattern.MatchString(r.URL.Path) || keyPattern.MatchString(r.URL.RawQuery) || inDecodedValues(r) {
		return library.NewError(library.KindInvalid, library.CodeKeyInURL,
			"A key must not be sent in a URL, where logs and histories keep it. Revoke this key, create a new one, and send that in the Authorization header.")
	}
	return nil
}

// inDecodedValues looks behind percent encoding.
func inDecodedValues(r *http.Request) bool {
	for name, values := range r.URL.Query() {
		if keyPattern.MatchString(name) {
			return true
		}
		for _, v := range values {
			if keyPattern.MatchString(v) {
				return true
			}
		}
	}
	return false
}
