package api

import (
	"encoding/json"
	"fmt"
	"math"
	"mime"
	"net/http"
	"strings"

	"vitrine/library"
	"vitrine/op"
)

const jsonType = "application/json"

// operation serves one operation.
func (s *server) operation(o op.Operation) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		actor, err := s.Auth.Authenticate(r)
		if err != nil {
			s.writeError(w, r, err)
			return
		}
		setActor(r.Context(), actor)
		if !actor.Can(o.Permission) { // before a body is read for nothing
			s.writeError(w, r, op.MissingPermission(o.Permission, o.Name))
			return
		}
		args, err := arguments(o, w, r)
		if err != nil {
			s.writeError(w, r, err)
			return
		}
		res, err := s.Caller.Call(r.Context(), o, actor, args, op.CallOptions{Transport: "rest", IdempotencyKey: r.Header.Get("Idempotency-Key"), IfMatch: ifMatch(r)})
		setRateLimitHeaders(w.Header(), res.Rate)
		if err != nil {
			s.writeError(w, r, err)
			return
		}
		s.writeResult(w, r, o, res)
	})
}

// writeResult writes a result as JSON.
func (s *server) writeResult(w http.ResponseWriter, r *http.Request, o op.Operation, res op.Result) {
	body, err := op.EncodeOutput(res.Value)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	if body, err = withAttachments(body, op.Attachments(res.Value)); err != nil {
		s.writeError(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", jsonType)
	h.Set("Cache-Control", "no-store")
	if res.Replayed {
		h.Set("Idempotency-Replayed", "true")
	}
	status := setCreated(h, o, body)
	if answered, err := s.conditional(w, r, o, res.Value, body); err != nil {
		s.writeError(w, r, err)
		return
	} else if answered {
		return
	}
	if next := nextPage(r, o, body); next != "" {
		h.Set("Link", "<"+next+`>; rel="next"`)
	}
	h.Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client has gone; there is nobody left to tell
}

// withAttachments adds binary parts to an encoded object as base64.
func withAttachments(body []byte, list []op.Attachment) ([]byte, error) {
	type part struct {
		MIMEType string `json:"mime_type"`
		Data     []byte `json:"data_base64"`
	}
	parts := make([]part, 0, len(list))
	for _, a := range list {
		if a.Data != nil {
			parts = append(parts, part{a.MIMEType, a.Data})
		}
	}
	if len(parts) == 0 {
		return body, nil
	}
	encoded, err := json.Marshal(parts)
	if err != nil {
		return nil, library.AsError(err)
	}
	out := append([]byte{}, body[:len(body)-1]...)
	if len(body) > 2 {
		out = append(out, ',')
	}
	out = append(append(out, `"attachments":`...), encoded...)
	return append(out, '}'), nil
}

// setRateLimitHeaders sends a client what is left of its budget, in the form of the IETF draft on
// RateLimit header fields.
func setRateLimitHeaders(h http.Header, rate *op.RateState) {
	if rate == nil {
		return
	}
	h.Set("RateLimit-Policy", fmt.Sprintf("%q;q=%d;w=%d", rate.Class, rate.Budget.Calls, int(rate.Budget.Window.Seconds())))
	h.Set("RateLimit", fmt.Sprintf("%q;r=%d;t=%d", rate.Class, rate.Remaining, int(math.Ceil(rate.Reset.Seconds()))))
}

// readBody returns the JSON body of a request; it refuses what is no JSON before it
// parses it.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := op.ReadBody(w, r)
	if err != nil || len(body) == 0 {
		return nil, err
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != jsonType {
		return nil, library.NewError(library.KindUnsupported, library.CodeUnsupportedMedia, "The body must be sent as Content-Type: application/json.")
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return nil, library.NewError(library.KindUnsupported, library.CodeUnsupportedMedia, "The body must be sent without a Content-Encoding.")
	}
	return body, nil
}
