package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"math/big"
	"slices"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/store"
)

// A key reads napi_ + 43 base62 digits of 32 random bytes + 6 base62 digits of
// the CRC-32 of all before them. The checksum lets a cut or mistyped key be told
// without a look-up, and secret scanners know a real one.
const (
	prefix       = "napi_"
	secretDigits = 43 // 62^43 > 2^256
	sumDigits    = 6  // 62^6 > 2^32
	keyLength    = len(prefix) + secretDigits + sumDigits
	hintLength   = 4
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// KeyRequest is what somebody wants of a new key. Read is always carried.
type KeyRequest struct {
	Name        string
	Tenant      library.TenantID   // its default tenant
	MoreTenants []library.TenantID // further tenants it may choose with X-Tenant-ID
	Permissions []library.Permission
	ExpiresAt   *time.Time // nil: never
}

// IssueKey makes and stores a key and gives its secret, which nobody can get again.
// A key cannot issue keys: that is how one with few permissions would get more.
func IssueKey(ctx context.Context, keys *store.Keys, actor library.Actor, want KeyRequest) (secret string, k library.Key, err error) {
	if actor.Kind == library.ActorKey {
		return "", k, library.NewError(library.KindForbidden, library.CodePermissionRequired,
			"API keys cannot manage API keys. Use the command line on the server.")
	}
	permissions, err := permissionsOf(want.Permissions)
	if err != nil {
		return "", k, err
	}
	if want.ExpiresAt != nil && !want.ExpiresAt.After(time.Now()) {
		return "", k, library.Invalid(library.FieldError{Field: "expires_at", Code: "range", Message: "Expected a time in the future."})
	}
	secret = newSecret()
	k = library.Key{ID: newKeyID(), Tenant: want.Tenant, Name: want.Name, Hint: secret[len(secret)-hintLength:],
		Permissions: permissions, MoreTenants: otherTenants(want.MoreTenants, want.Tenant), ExpiresAt: want.ExpiresAt}
	if err := keys.Create(ctx, actor, &k, sha256.Sum256([]byte(secret))); err != nil {
		return "", k, err
	}
	return secret, k, nil
}

// permissionsOf checks names, adds read (see library.CarriesRead), and brings them into their usual order.
func permissionsOf(want []library.Permission) ([]library.Permission, error) {
	for _, p := range want {
		if !slices.Contains(library.Permissions, p) {
			return nil, library.Invalid(library.FieldError{Field: "permissions", Code: "enum", Message: "Expected any of read, search, write, export, admin, comfy-ingest."})
		}
	}
	var out []library.Permission
	for _, p := range library.Permissions {
		if p == library.PermRead && library.CarriesRead(want) || slices.Contains(want, p) {
			out = append(out, p)
		}
	}
	return out, nil
}

func otherTenants(tenants []library.TenantID, first library.TenantID) []library.TenantID {
	out := []library.TenantID{}
	for _, t := range tenants {
		if t != first && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

func newSecret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails, it ends the process instead
	body := prefix + digits(new(big.Int).SetBytes(b[:]), secretDigits)
	return body + checksum(body)
}

func newKeyID() string {
	var b [9]byte
	rand.Read(b[:])
	return "key_" + hex.EncodeToString(b[:])
}

// wellFormed reports whether s has the shape and the checksum of a key.
func wellFormed(s string) bool {
	if len(s) != keyLength || !strings.HasPrefix(s, prefix) {
		return false
	}
	body := s[:keyLength-sumDigits]
	return s[keyLength-sumDigits:] == checksum(body)
}

// checksum is the CRC-32 of a key's body in base 62. Every request computes it, so
// it does without big numbers.
func checksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	var out [sumDigits]byte
	for i := range out {
		out[sumDigits-1-i] = base62[sum%62]
		sum /= 62
	}
	return string(out[:])
}

// digits writes n in base 62 with leading zeros.
func digits(n *big.Int, width int) string {
	out := make([]byte, width)
	base, digit := big.NewInt(62), new(big.Int)
	for i := width - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		out[i] = base62[digit.Int64()]
	}
	return string(out)
}
