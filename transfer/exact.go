package transfer

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"hash"
	"io"

	"vitrine/library"
	"vitrine/media/blob"
)

// exact is an upload that ends well only if it has the size and the hash that its link
// was made for.
type exact struct {
	io.Reader
	grant blob.Grant
	sum   hash.Hash
	n     int64
}

func newExact(r io.Reader, g blob.Grant) *exact { return &exact{Reader: r, grant: g, sum: sha1.New()} }

func (e *exact) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	e.n += int64(n)
	e.sum.Write(p[:n])
	switch {
	case e.grant.Size > 0 && e.n > e.grant.Size:
		return n, e.wrongSize()
	case !errors.Is(err, io.EOF):
		return n, err
	case e.n == 0: // the store says so
		return n, err
	case e.grant.Size > 0 && e.n != e.grant.Size:
		return n, e.wrongSize()
	case e.grant.SHA1 != "" && hex.EncodeToString(e.sum.Sum(nil)) != string(e.grant.SHA1):
		return n, library.NewError(library.KindInvalid, library.CodeHashMismatch,
			"The bytes do not have the SHA-1 that this link was created for. Nothing was stored; request a link with the SHA-1 of the current file.")
	}
	return n, err
}

func (e *exact) wrongSize() error {
	return library.NewError(library.KindInvalid, library.CodeSizeMismatch,
		"This link was created for a file of %d bytes, and the upload has another size. Nothing was stored; request a link with the size of the current file.", e.grant.Size)
}
