package library

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"time"
)

// pictureTag is how many bytes of a picture's id prove that this service made it.
const pictureTag = 10

// PictureID returns what stands for an asset in the addresses of a publication. It is the same
// for as long as the publication exists, and says nothing of the asset: its hash, by which the
// original could be recognized elsewhere, is encrypted with the publication's secret, and what
// was not encrypted so is no id (a synthetic initialization vector, as in RFC 5297).
func (p Publication) PictureID(h AssetHash) string {
	plain, err := hex.DecodeString(string(h))
	if err != nil {
		return ""
	}
	tag := p.pictureTag(plain)
	p.pictureCipher(tag).XORKeyStream(plain, plain)
	return base64.RawURLEncoding.EncodeToString(append(tag, plain...))
}

// AssetOf returns the asset that a picture's id stands for, or false where it is none of this
// publication. Whether the page shows the asset is another question.
func (p Publication) AssetOf(pictureID string) (AssetHash, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(pictureID)
	if err != nil || len(raw) != pictureTag+20 || base64.RawURLEncoding.EncodeToString(raw) != pictureID {
		return "", false
	}
	plain := raw[pictureTag:]
	p.pictureCipher(raw[:pictureTag]).XORKeyStream(plain, plain)
	return AssetHash(hex.EncodeToString(plain)), hmac.Equal(raw[:pictureTag], p.pictureTag(plain))
}

func (p Publication) pictureTag(hash []byte) []byte {
	m := hmac.New(sha256.New, []byte("picture "+p.Secret))
	m.Write(hash)
	return m.Sum(nil)[:pictureTag]
}

func (p Publication) pictureCipher(tag []byte) cipher.Stream {
	key := sha256.Sum256([]byte("picture key " + p.Secret))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // a key of this size always fits
	}
	var iv [aes.BlockSize]byte
	copy(iv[:], tag)
	return cipher.NewCTR(block, iv[:])
}

// Publication is a page that needs no key: a collection that is, or was, published, or assets that
// are shared by a link.
type Publication struct {
	ID            string
	Tenant        TenantID
	Collection    CollectionHash // empty: a share link
	Path          string         // of the collection
	Shared        []AssetHash    // of a share link or a smart collection's page, in their order
	Snapshot      bool           // the page of a smart collection: it shows Shared
	Segment       string         // the part of the address that is the tenant's
	Slug          string
	Secret        string
	Title         string
	Spec          ExportSpec
	HidePrompts   bool
	AllowDownload bool
	Indexed       bool
	PasswordHash  string // argon2id; empty: none
	ExpiresAt     *time.Time
	PublishedAt   time.Time
	UnpublishedAt *time.Time
}

// Public reports whether the page can be seen at a time.
func (p Publication) Public(now time.Time) bool {
	return p.UnpublishedAt == nil && (p.ExpiresAt == nil || p.ExpiresAt.After(now))
}
