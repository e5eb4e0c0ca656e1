package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/google/uuid"
)

var placeholder = regexp.MustCompile(`\{([^}]+)\}`)

// prepare renders a call: arguments that the path names go into it, those of a GET or DELETE
// into the query, others into a JSON body.
func (c *Client) prepare(o Operation, in any, opts []Option) (request, error) {
	var opt options
	for _, set := range opts {
		set(&opt)
	}
	r := request{method: o.Method, key: opt.idempotencyKey}
	switch {
	case !o.Writes:
		r.key = ""
	case r.key == "":
		r.key = uuid.NewString()
	}
	args, err := arguments(in)
	if err != nil {
		return r, fmt.Errorf("encoding the input of %s: %w", o.Name, err)
	}
	path, err := fillPath(o, args)
	if err != nil {
		return r, err
	}
	r.url = c.Base + path
	if o.Method == http.MethodGet || o.Method == http.MethodDelete { // some proxies drop the body of a DELETE
		if q := query(args).Encode(); q != "" {
			r.url += "?" + q
		}
		return r, nil
	}
	r.body, err = json.Marshal(args)
	return r, err
}

// arguments returns an input as a map of encoded values.
func arguments(in any) (map[string]json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	if in == nil {
		return args, nil
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	return args, json.Unmarshal(raw, &args)
}

// fillPath puts arguments into a path and removes them from args.
func fillPath(o Operation, args map[string]json.RawMessage) (string, error) {
	var missing []FieldError
	path := placeholder.ReplaceAllStringFunc(o.Path, func(m string) string {
		name := m[1 : len(m)-1]
		value := text(args[name])
		if value == "" {
			missing = append(missing, FieldError{Field: name, Code: "required", Message: "It is required."})
		}
		delete(args, name)
		return url.PathEscape(value)
	})
	if len(missing) > 0 {
		return "", &Error{Status: http.StatusBadRequest, Code: "VALIDATION_FAILED", Title: "The request is not valid",
			Detail: o.Name + " was not called: an argument of its path is missing.", Fields: missing}
	}
	return path, nil
}

// query returns arguments as a query string: texts as they are, all else as JSON.
func query(args map[string]json.RawMessage) url.Values {
	q := url.Values{}
	for name, v := range args {
		if string(v) != "null" {
			q.Set(name, text(v))
		}
	}
	return q
}

// text returns an encoded value as a path or query holds it.
func text(v json.RawMessage) string {
	var s string
	if v = bytes.TrimSpace(v); strings.HasPrefix(string(v), `"`) && json.Unmarshal(v, &s) == nil {
		return s
	}
	if string(v) == "null" {
		return ""
	}
	return string(v)
}
