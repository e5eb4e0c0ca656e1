package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"golang.org/x/crypto/argon2"
)

// The cost of a password's hash: argon2id with 19 MiB, two passes and one lane, the least that
// OWASP's password storage cheat sheet asks for.
const (
	hashMemory = 19 << 10 // KiB
	hashPasses = 2
	hashBytes  = 32
)

// hashTurns bounds the memory of passwords that are hashed at once.
var hashTurns = make(chan struct{}, 2)

// HashPassword returns the argon2id hash of a password with a fresh salt, in the PHC string format.
func HashPassword(ctx context.Context, password string) (string, error) {
	var salt [16]byte
	_, _ = rand.Read(salt[:]) // never fails, it ends the process instead
	key, err := hashWith(ctx, password, salt[:], hashPasses, hashMemory, hashBytes)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=1$%s$%s", argon2.Version, hashMemory, hashPasses, base64.RawStdEncoding.EncodeToString(salt[:]), base64.RawStdEncoding.EncodeToString(key)), err
}

// ComparePassword reports whether a password is the one of a hash that HashPassword returned.
func ComparePassword(ctx context.Context, password, hash string) (bool, error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false, errors.New("the hash of a password cannot be read")
	}
	var memory, passes uint32
	_, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=1", &memory, &passes)
	salt, err2 := base64.RawStdEncoding.DecodeString(parts[4])
	want, err3 := base64.RawStdEncoding.DecodeString(parts[5])
	if err := errors.Join(err, err2, err3); err != nil {
		return false, fmt.Errorf("reading the hash of a password: %w", err)
	}
	got, err := hashWith(ctx, password, salt, passes, memory, uint32(len(want))) //nolint:gosec // 32
	return err == nil && subtle.ConstantTimeCompare(want, got) == 1, err
}

func hashWith(ctx context.Context, password string, salt []byte, passes, memory, size uint32) ([]byte, error) {
	select {
	case hashTurns <- struct{}{}:
		defer func() { <-hashTurns }()
		return argon2.IDKey([]byte(password), salt, passes, memory, 1, size), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ClientAddress returns the network that a request comes from: one IPv4 address or one /64 of IPv6.
// Behind a reverse proxy on this machine it is what the proxy added last to X-Forwarded-For, where
// the configuration trusts it.
func ClientAddress(r *http.Request, trustProxy bool) netip.Prefix {
	return clientAddress(r, trustProxy)
}
