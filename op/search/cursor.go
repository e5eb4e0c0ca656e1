package search

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"time"

	"vitrine/library"
	"vitrine/query"
	"vitrine/query/run"
)

// firstCursor returns the cursor of a first page.
const firstCursor = "*"

// maxCursor bounds what is decoded: a PIT, the top hits of two retrievers, sort values.
const maxCursor = 64 << 10

// cursor is a place in a list of results: everything that its next page needs to know, so
// that any process can answer it. It travels signed, base64url, and is opaque to
// clients.
type cursor struct {
	Search   []byte            `json:"s"` // of which search
	PIT      string            `json:"p"`
	Expires  int64             `json:"e"` // Unix seconds
	Total    int64             `json:"t"`
	Seen     int               `json:"n"` // hits that earlier pages showed
	After    json.RawMessage   `json:"a,omitempty"`
	Weights  query.TermWeights `json:"w,omitzero"`  // of its terms, as they were at its beginning
	Degraded bool              `json:"d,omitempty"` // words only, for the meaning had failed
	ByWords  int64             `json:"b,omitempty"` // of Total, what the words find
	LeftOut  []string          `json:"l,omitempty"` // words that need not match
	Similar  []byte            `json:"m,omitempty"` // a bit for each of the head: it is near in meaning
	Hybrid   bool              `json:"f,omitempty"` // there is a head, even when it is empty

	topK []library.AssetHash
}

const hashBytes = 20

func (c *cursor) setSimilar(list []bool) {
	c.Similar = nil
	if list != nil {
		c.Similar = make([]byte, (len(list)+7)/8)
	}
	for i, yes := range list {
		if yes {
			c.Similar[i/8] |= 1 << (i % 8)
		}
	}
}

func (c *cursor) similar() []bool {
	list := make([]bool, 0, len(c.topK))
	for i := 0; i < len(c.topK) && i/8 < len(c.Similar); i++ {
		list = append(list, c.Similar[i/8]>>(i%8)&1 == 1)
	}
	return list
}

// encode writes a cursor: the length of its fields, the fields, the head, the seal.
func (c cursor) encode(key []byte) (string, error) {
	fields, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	b := binary.BigEndian.AppendUint16(nil, uint16(len(fields)))
	b = append(b, fields...)
	for _, h := range c.topK {
		raw, err := hex.DecodeString(string(h))
		if err != nil {
			return "", err
		}
		b = append(b, raw...)
	}
	return base64.RawURLEncoding.EncodeToString(append(b, signature(key, b)...)), nil
}

// signature is the seal of a cursor. The key is not used as it is: the same key
// signs links.
func signature(key, b []byte) []byte {
	own := hmac.New(sha256.New, key)
	own.Write([]byte("search cursor"))
	m := hmac.New(sha256.New, own.Sum(nil))
	m.Write(b)
	return m.Sum(nil)[:16]
}

// decodeCursor reads a cursor that was sealed with the key for the same search.
func decodeCursor(key []byte, text string, search []byte, now time.Time) (cursor, error) {
	var c cursor
	if len(text) > maxCursor {
		return c, cursorError("format", "It is not a cursor of this service.")
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) < 2+16 {
		return c, cursorError("format", "It is not a cursor of this service.")
	}
	body, seal := b[:len(b)-16], b[len(b)-16:]
	if !hmac.Equal(seal, signature(key, body)) {
		return c, cursorError("format", "It is not a cursor of this service, or it was modified.")
	}
	n := int(binary.BigEndian.Uint16(body))
	if err := json.Unmarshal(body[2:2+n], &c); err != nil {
		return c, err
	}
	for rest := body[2+n:]; len(rest) >= hashBytes; rest = rest[hashBytes:] {
		c.topK = append(c.topK, library.AssetHash(hex.EncodeToString(rest[:hashBytes])))
	}
	if c.Hybrid && c.topK == nil {
		c.topK = []library.AssetHash{}
	}
	switch {
	case !hmac.Equal(c.Search, search):
		return c, cursorError("conflict", "It belongs to another search. Send the same query, mode, filters and order as for the page it came with; limit may change.")
	case now.Unix() > c.Expires:
		return c, run.CursorExpired()
	}
	return c, nil
}

func cursorError(code, message string) *library.Error {
	return library.Invalid(library.FieldError{Field: "cursor", Code: code, Message: message,
		Hint: `Send the next_cursor of the last answer as it came, or begin again with "*".`})
}

// searchID identifies what a cursor pages through, for whom: the arguments that
// decide which assets come in which order.
func searchID(actor library.Actor, in searchInput) ([]byte, error) {
	in.PageInput, in.TenantID = PageInput{}, ""
	raw, err := json.Marshal(struct {
		Tenant library.TenantID
		Viewer string
		Admin  bool
		In     searchInput
	}{actor.Tenant, actor.ID, actor.SeesAll(), in})
	sum := sha256.Sum256(raw)
	return sum[:16], err
}
