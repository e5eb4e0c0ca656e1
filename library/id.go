package library

import (
	"crypto/sha1"
	"encoding/hex"
	"regexp"
)

// TenantID names a tenant (workspace): a UUID in its canonical lower-case text form.
type TenantID string

// AssetHash is an asset's identity inside its tenant: the SHA-1 of its bytes as
// 40 lower-case hex digits. The interface calls it asset_h,
// asset_hash and asset_id; the three are the same thing.
type AssetHash string

// AssetKey names one asset among all tenants.
type AssetKey struct {
	Tenant TenantID
	Hash   AssetHash
}

// ModelHash is a model's identity inside its tenant: 40 lower-case hex digits,
// derived from the model's type and name by NewModelHash.
type ModelHash string

var (
	hex40 = regexp.MustCompile(`^[0-9a-f]{40}$`)
	uuid  = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
)

// Valid reports whether h has the form of a SHA-1 in lower-case hex.
func (h AssetHash) Valid() bool { return hex40.MatchString(string(h)) }

// Valid reports whether t has the canonical form of a UUID.
func (t TenantID) Valid() bool { return uuid.MatchString(string(t)) }

// NewModelHash derives the identity of a model from what every tool records of
// it: its type and its name. The content hash that some tools add is kept as a
// fact about the model, because most files name a model without hashing it.
func NewModelHash(modelType, name string) ModelHash {
	sum := sha1.Sum([]byte(modelType + "\x00" + FoldModelName(name)))
	return ModelHash(hex.EncodeToString(sum[:]))
}
