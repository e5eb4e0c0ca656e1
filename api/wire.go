package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"

	"vitrine/library"
	"vitrine/op"
)

// maxHeaders is how large the header fields of a request may be, in bytes. The server
// reads somewhat more, so that what is a little too large gets the usual answer.
const maxHeaders = 32 << 10

// limitHeaders refuses requests with large header fields (RFC 6585 §5).
func limitHeaders(s *server) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			size := len(r.RequestURI)
			for name, values := range r.Header {
				for _, v := range values {
					size += len(name) + len(v)
				}
			}
			if size > maxHeaders {
				s.writeError(w, r, headersTooLarge())
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func headersTooLarge() error {
	return library.NewError(library.KindHeaders, library.CodeHeadersTooLarge,
		"The URL and the header fields are larger than %d bytes. Send long arguments in the body.", maxHeaders)
}

// Listener makes the server's own answers problems: net/http writes a line of text to the
// connection of a request that it cannot read or whose header fields are too large.
func Listener(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{c}, nil
}

// conn replaces what net/http answers by itself.
type conn struct{ net.Conn }

// ownAnswer is how such an answer goes on after its status; it comes in one piece.
var ownAnswer = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

const longestOwnAnswer = 512

func (c *conn) Write(b []byte) (int, error) {
	if len(b) > longestOwnAnswer || !bytes.HasPrefix(b, []byte("HTTP/1.1 4")) || !bytes.Contains(b, ownAnswer) {
		return c.Conn.Write(b)
	}
	if _, err := c.Conn.Write(unreadable(bytes.HasPrefix(b, []byte("HTTP/1.1 431")))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// ReadFrom lets files travel without a copy where the connection can do that.
func (c *conn) ReadFrom(r io.Reader) (int64, error) { return io.Copy(c.Conn, r) }

// CloseWrite ends the answer while what the client still sends is read, or it might not see
// the answer.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// unreadable returns the answer to a request that is no HTTP or has too large a head.
func unreadable(large bool) []byte {
	err := error(library.NewError(library.KindInvalid, library.CodeMalformedRequest, "The request is not valid HTTP/1.1. Check its request line and header fields."))
	if large {
		err = headersTooLarge()
	}
	p := op.ProblemOf(err, "")
	body, encodeErr := json.Marshal(p)
	if encodeErr != nil {
		panic("api: a problem cannot be encoded: " + encodeErr.Error())
	}
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		p.Status, http.StatusText(p.Status), len(body), body)
}
