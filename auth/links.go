package auth

import (
	"context"
	"time"

	"vitrine/library"
)

// linkKey is a key as signed links name it, in the tenant that they are for.
type linkKey struct {
	id     string
	tenant library.TenantID
}

// linkCheck is what the database said of a linkKey, and when.
type linkCheck struct {
	valid     bool
	checkedAt time.Time
}

// KeyValid reports whether links that a key made in a tenant are good: the key is
// known, reaches that tenant, and is neither revoked nor expired. The answer may be a
// second old.
func (a *Authenticator) KeyValid(ctx context.Context, tenant library.TenantID, keyID string) (bool, error) {
	k := linkKey{keyID, tenant}
	if c, ok := a.linkCache.Get(k); ok && a.now().Sub(c.checkedAt) < keyCacheTTL {
		return c.valid, nil
	}
	asked := a.now() // before the answer: what changes meanwhile is seen in time
	valid, err := a.store.KeyValid(ctx, tenant, keyID)
	if err != nil {
		return false, err
	}
	a.linkCache.Add(k, linkCheck{valid, asked})
	return valid, nil
}
