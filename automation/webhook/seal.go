package webhook

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
)

// Sealer encrypts secrets for keeping, with AES-256-GCM. What is sealed for one endpoint does
// not open for another.
type Sealer struct{ aead cipher.AEAD }

// NewSealer returns a sealer with a key that is derived from the service's signing key.
func NewSealer(signingKey []byte) (*Sealer, error) {
	key, err := hkdf.Key(sha256.New, signingKey, nil, "vitrine webhook secrets", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return &Sealer{aead}, err
}

// Seal encrypts a secret for an endpoint.
func (s *Sealer) Seal(secret, endpoint string) []byte {
	nonce := make([]byte, s.aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails: it ends the program instead
	return s.aead.Seal(nonce, nonce, []byte(secret), []byte(endpoint))
}

// ErrSealed is the error of a secret that was sealed with another key.
var ErrSealed = errors.New("the secret was encrypted with another signing key; rotate it")

// Open decrypts what Seal made for the same endpoint.
func (s *Sealer) Open(sealed []byte, endpoint string) (string, error) {
	n := s.aead.NonceSize()
	if len(sealed) < n {
		return "", ErrSealed
	}
	secret, err := s.aead.Open(nil, sealed[:n], sealed[n:], []byte(endpoint))
	if err != nil {
		return "", ErrSealed
	}
	return string(secret), nil
}
