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
	actor     library.Actor
	valid     bool
	checkedAt time.Time
}

// LinkActor returns who acts by the links that a key made in a tenant, and reports
// whether they are good: the key is known, reaches that tenant, and is neither revoked
// nor expired. The answer may be a second old.
func (a *Authenticator) LinkActor(ctx context.Context, tenant library.TenantID, keyID string) (actor library.Actor, valid bool, err error) {
	k := linkKey{keyID, tenant}
	if c, ok := a.linkCache.Get(k); ok && a.now().Sub(c.checkedAt) < keyCacheTTL {
		return c.actor, c.valid, nil
	}
	asked := a.now() // before the answer: what changes meanwhile is seen in time
	actor, valid, err = a.keys.LinkActor(ctx, tenant, keyID)
	if err != nil {
		return actor, false, err
	}
	a.linkCache.Add(k, linkCheck{actor, valid, asked})
	return actor, valid, nil
}
