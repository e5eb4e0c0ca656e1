package blob

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"hash"
	"strings"
	"sync"
	"time"

	"vitrine/library"
)

// Purpose is what a signed token lets its bearer do.
type Purpose string

// The purposes of a token.
const (
	PurposeUpload   Purpose = "upload"   // PUT bytes into one staging place
	PurposeDownload Purpose = "download" // GET one asset's original bytes
	PurposePreview  Purpose = "preview"  // GET previews of one asset
	PurposeExport   Purpose = "export"   // GET the zip of one export
)

// Grant is what a token says. It is signed, not secret.
type Grant struct {
	Purpose  Purpose           `json:"p"`
	Tenant   library.TenantID  `json:"t"`
	Asset    library.AssetHash `json:"a,omitempty"`
	Staged   string            `json:"s,omitempty"` // staging id
	Filename string            `json:"f,omitempty"`
	MIMEType string            `json:"m,omitempty"`
	MaxBytes int64             `json:"n,omitempty"`
	Size     int64             `json:"z,omitempty"` // of an upload, where it was announced
	SHA1     library.AssetHash `json:"h,omitempty"` // of an upload, where it was announced
	Key      string            `json:"k,omitempty"` // id of the API key that asked for the link
	Expires  int64             `json:"e"`           // Unix seconds
}

// Signer signs and checks tokens with HMAC-SHA256. A changed field, another key
// and a past expiry all make a token worthless.
type Signer struct {
	macs sync.Pool // of hash.Hash: a page of results has many tokens, and setting up a key takes as long as using it
	now  func() time.Time
}

// NewSigner uses a key of at least 32 random bytes.
func NewSigner(key []byte) *Signer {
	return &Signer{macs: sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}, now: time.Now}
}

// encoding is strict: one token has one spelling.
var encoding = base64.RawURLEncoding.Strict()

// Sign makes a token that is valid for the given time.
func (s *Signer) Sign(g Grant, valid time.Duration) string {
	g.Expires = s.now().Add(valid).Unix()
	return s.seal(g)
}

// SignSteady makes a token whose expiry is rounded up to whole steps, so that the
// same preview has the same URL for a while and browsers can cache it. It is
// valid for at least one step and at most two.
func (s *Signer) SignSteady(g Grant, step time.Duration) string {
	g.Expires = s.now().Truncate(step).Add(2 * step).Unix()
	return s.seal(g)
}

func (s *Signer) seal(g Grant) string {
	body, err := json.Marshal(g)
	if err != nil {
		panic(err) // a struct of strings and numbers always encodes
	}
	b := encoding.EncodeToString(body)
	return b + "." + encoding.EncodeToString(s.mac(b))
}

func (s *Signer) mac(body string) []byte {
	m := s.macs.Get().(hash.Hash)
	defer s.macs.Put(m)
	m.Reset()
	m.Write([]byte(body))
	return m.Sum(nil)
}

// Open checks a token for a purpose. Anything but a genuine token for it is one
// and the same error, so that guessing teaches nothing; only a genuine token that
// has expired is told so.
func (s *Signer) Open(token string, want Purpose) (Grant, error) {
	body, sent, _ := strings.Cut(token, ".")
	mac, err := encoding.DecodeString(sent)
	if err != nil || !hmac.Equal(mac, s.mac(body)) {
		return Grant{}, InvalidURL()
	}
	raw, err := encoding.DecodeString(body)
	if err != nil {
		return Grant{}, InvalidURL()
	}
	var g Grant
	if err := json.Unmarshal(raw, &g); err != nil || g.Purpose != want {
		return Grant{}, InvalidURL()
	}
	if s.now().Unix() >= g.Expires {
		return Grant{}, library.NewError(library.KindGone, library.CodeURLExpired, "This link has expired. Request a new one.")
	}
	return g, nil
}

// InvalidURL is the one error of every link that was not made here, or not for this.
func InvalidURL() error {
	return library.NewError(library.KindForbidden, library.CodeURLInvalid, "This link is not valid: it was mistyped or modified. Request a new one.")
}
