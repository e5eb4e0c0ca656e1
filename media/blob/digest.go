package blob

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"

	"lukechampine.com/blake3"

	"vitrine/library"
)

// Digest hashes bytes as they pass: SHA-1 is the asset's name, SHA-256 tells a
// collision from a duplicate, BLAKE3 is what ComfyUI names assets by.
type Digest struct {
	io.Writer
	sha1, sha256, blake3 hash.Hash
	size                 int64
}

// NewDigest starts an empty digest.
func NewDigest() *Digest {
	d := &Digest{sha1: sha1.New(), sha256: sha256.New(), blake3: blake3.New(32, nil)}
	d.Writer = io.MultiWriter(d.sha1, d.sha256, d.blake3, (*counter)(&d.size))
	return d
}

// Sum returns what has passed so far, without a staging id.
func (d *Digest) Sum() Staged {
	return Staged{
		Size:   d.size,
		SHA1:   library.AssetHash(hex.EncodeToString(d.sha1.Sum(nil))),
		SHA256: hex.EncodeToString(d.sha256.Sum(nil)),
		BLAKE3: hex.EncodeToString(d.blake3.Sum(nil)),
	}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
