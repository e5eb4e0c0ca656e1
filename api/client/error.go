package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Error is a problem (RFC 9457) that the service returned.
type Error struct {
	Status     int             `json:"status"`                // HTTP status
	Code       string          `json:"code"`                  // stable code in upper snake case; HTTP_502 and the like where something other than a Vitrine service responded
	Title      string          `json:"title"`                 // the kind of error in words
	Detail     string          `json:"detail"`                // what went wrong and what to do next
	Fields     []FieldError    `json:"errors"`                // every argument that is wrong
	Permission string          `json:"permission,omitempty"`  // the permission that is missing
	Extra      json.RawMessage `json:"extra,omitempty"`       // structured detail, such as the warnings of a query
	Retryable  bool            `json:"retryable"`             // whether the same call may succeed later unchanged
	RetryAfter int             `json:"retry_after,omitempty"` // seconds to wait before a retry
	RequestID  string          `json:"request_id,omitempty"`  // finds the request in the service's log

	Raw json.RawMessage `json:"-"` // the problem as the service sent it; nil where it sent none
}

// FieldError is what is wrong with one argument of a call.
type FieldError struct {
	Field   string `json:"field"`          // name or path of the argument, such as filters.status
	Code    string `json:"code"`           // stable code: required, unknown, type, enum, range, length, pattern, format, conflict, …
	Message string `json:"message"`        // what is allowed
	Hint    string `json:"hint,omitempty"` // what was probably meant
}

// Error returns the detail, a line for each field, and the code.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Detail)
	for _, f := range e.Fields {
		fmt.Fprintf(&b, "\n  %s: %s", f.Field, f.Message)
		if f.Hint != "" {
			b.WriteString(" " + f.Hint)
		}
	}
	fmt.Fprintf(&b, " (%s)", e.Code)
	return b.String()
}

// IsCode reports whether err is an *Error with this code.
func IsCode(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// Unreachable means that the service did not respond, or not completely.
type Unreachable struct {
	Base string
	Err  error
}

func (e *Unreachable) Error() string {
	return fmt.Sprintf("no service responds at %s (%v); start one with vitrine serve, or name another with --server", e.Base, e.Err)
}

// Unwrap returns the error of the connection.
func (e *Unreachable) Unwrap() error { return e.Err }

// responseError returns the problem that a response carries, or an Error of its
// status when it carries none.
func responseError(res *http.Response, body []byte) error {
	e := &Error{}
	if json.Unmarshal(body, e) == nil && e.Code != "" {
		e.Raw = body
	} else {
		*e = Error{Status: res.StatusCode, Code: "HTTP_" + strconv.Itoa(res.StatusCode), Title: http.StatusText(res.StatusCode),
			Detail:    "The response is " + res.Status + " and no problem of Vitrine's; is this its address?",
			Retryable: res.StatusCode == http.StatusBadGateway || res.StatusCode == http.StatusServiceUnavailable || res.StatusCode == http.StatusGatewayTimeout}
	}
	if n, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && e.RetryAfter == 0 {
		e.RetryAfter = n
	}
	return e
}
