package op

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"vitrine/library"
)

// MaxBody is the largest request body either transport reads, in bytes: the
// 4.5 MB. Larger files go through a signed upload.
const MaxBody = 4.5 * 1024 * 1024

// TooLarge is the answer to a body above MaxBody.
func TooLarge() error {
	return library.NewError(library.KindTooLarge, library.CodePayloadTooLarge,
		"The request body is larger than 4.5 MB. Upload the file with a signed URL (CreateUploadUrl) and pass its storage path instead.")
}

const (
	// readTimeout bounds the time a client may take to send a body.
	readTimeout = 30 * time.Second
	// maxDrain is how much of a refused body is read and thrown away. Most
	// clients look for the answer only after the last byte is sent; cutting them off
	// at once would give them a broken connection in place of the 413.
	maxDrain = 32 << 20
)

// ReadBody returns the body of a request, for either transport. A body above
// MaxBody is PAYLOAD_TOO_LARGE; nothing of it is kept when its length is
// announced.
func ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	// Not every writer has deadlines. The deadline must end with the body: net/http
	// takes a later one for a lost connection and cancels the request.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(readTimeout))
	defer func() { _ = control.SetReadDeadline(time.Time{}) }()
	if r.ContentLength > MaxBody {
		drain(r)
		return nil, TooLarge()
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, library.ClientClosed(err)
	case err != nil:
		return nil, &library.Error{Kind: library.KindInvalid, Code: library.CodeMalformedJSON,
			Detail: "The request body is incomplete. Send it again.", Cause: err}
	case len(body) > MaxBody:
		drain(r)
		return nil, TooLarge()
	}
	return body, nil
}

// drain throws a refused body away, unless the client waits to be asked for it
// or sends so much that cutting it off is the better answer.
func drain(r *http.Request) {
	if r.Header.Get("Expect") == "" && r.ContentLength <= maxDrain {
		_, _ = io.CopyN(io.Discard, r.Body, maxDrain) // whatever comes of it, the answer is 413
	}
}

// WriteProblem answers an HTTP request with an error as application/problem+json
// (RFC 9457). Both transports answer so when a request does not reach an
// operation.
func WriteProblem(w http.ResponseWriter, r *http.Request, err error) {
	p := ProblemOf(err, RequestID(r.Context()))
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="vitrine"`)
	}
	w.WriteHeader(p.Status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(p) // the client has gone; there is nobody left to tell
}

type requestIDKey struct{}

// WithRequestID names a request, so that its problem and its log lines can be
// found together.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID returns the request's name, or nothing.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}
