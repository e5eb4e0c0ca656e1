// Package auth tells who is calling: it turns the credential of an HTTP request
// into a library.Actor, and it issues API keys.
//
// In comes a request with an API key in one of three headers; out goes the actor
// with its permissions, bound to one tenant, or an error that says what is wrong
// with the credential. A key is looked up by the SHA-256 of its text, which is
// all the store has of it. The package never logs a key, never accepts one in a
// URL, and decides nothing about what an actor may do.
package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"vitrine/internal/panics"
	"vitrine/library"
	"vitrine/store"
)

const (
	// freshFor is how long a checked key is trusted without asking the database,
	// and so the longest that a revoked key lives on.
	freshFor = time.Second
	// rememberedKeys bounds the cache, also against floods of keys that do not exist.
	rememberedKeys = 10_000
	// lookUpWithin bounds one look-up, which several requests may share.
	lookUpWithin = 5 * time.Second
	// touchEvery is how fine last_used_at is.
	touchEvery = time.Minute
)

// Authenticator checks credentials. It is safe for concurrent use.
type Authenticator struct {
	store   *store.Store
	checked *lru.Cache[[32]byte, *checkedKey]
	asking  singleflight.Group
	now     func() time.Time
}

// checkedKey is what the database said of a key, and when.
type checkedKey struct {
	key       store.Key
	found     bool
	checkedAt time.Time
	touchedAt *atomic.Int64 // unix seconds of the last note in last_used_at
}

// New makes an authenticator over the store's keys.
func New(s *store.Store) *Authenticator {
	checked, err := lru.New[[32]byte, *checkedKey](rememberedKeys)
	if err != nil {
		panic(err) // only a size below one can fail
	}
	return &Authenticator{store: s, checked: checked, now: time.Now}
}

// Authenticate gives the actor of a request. Errors: KEY_IN_URL, UNAUTHENTICATED,
// VALIDATION_FAILED for contradicting headers, NOT_FOUND for a tenant that the
// key cannot reach, STORE_UNAVAILABLE.
func (a *Authenticator) Authenticate(r *http.Request) (library.Actor, error) {
	if err := RefuseKeyInURL(r); err != nil {
		return library.Actor{}, err
	}
	secret, err := credential(r.Header)
	if err != nil {
		return library.Actor{}, err
	}
	if !wellFormed(secret) {
		return library.Actor{}, refused("The credential is not an API key of this service. Session and access tokens are not accepted; create a key that starts with " + prefix + ".")
	}
	k, err := a.check(r.Context(), sha256.Sum256([]byte(secret)))
	if err != nil {
		return library.Actor{}, err
	}
	actor := actorOf(k)
	return chooseTenant(actor, r.Header)
}

// check gives a key that is known, not revoked and not expired.
func (a *Authenticator) check(ctx context.Context, hash [32]byte) (store.Key, error) {
	c, ok := a.checked.Get(hash)
	if !ok || a.now().Sub(c.checkedAt) >= freshFor {
		var err error
		if c, err = a.lookUp(ctx, hash, c); err != nil {
			return store.Key{}, err
		}
	}
	switch {
	case !c.found:
		return store.Key{}, refused("This API key is not known. It may belong to another installation; create a key here.")
	case c.key.RevokedAt != nil:
		return store.Key{}, refused("This API key was revoked. Create a new one.")
	case c.key.ExpiresAt != nil && !a.now().Before(*c.key.ExpiresAt):
		return store.Key{}, refused("This API key has expired. Create a new one.")
	}
	a.touch(ctx, c)
	return c.key, nil
}

// lookUp asks the database, once for all requests that wait for the same key. A
// request that goes away does not take the answer from the others.
func (a *Authenticator) lookUp(ctx context.Context, hash [32]byte, before *checkedKey) (*checkedKey, error) {
	v, err, _ := a.asking.Do(string(hash[:]), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookUpWithin)
		defer cancel()
		asked := a.now() // before the answer: what changes meanwhile is seen in time
		k, found, err := a.store.FindKey(ctx, hash)
		if err != nil {
			return nil, err
		}
		c := &checkedKey{key: k, found: found, checkedAt: asked, touchedAt: new(atomic.Int64)}
		if before != nil {
			c.touchedAt = before.touchedAt
		}
		a.checked.Add(hash, c)
		return c, nil
	})
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, &library.Error{Kind: library.KindUnavailable, Code: library.CodeStoreUnavailable, RetryAfter: 2 * time.Second,
				Detail: "The credential could not be checked in time. Repeat the request.", Cause: err}
		}
		return nil, library.AsError(err)
	}
	return v.(*checkedKey), nil
}

// touch notes the use of a key in the background, at most once a minute.
func (a *Authenticator) touch(ctx context.Context, c *checkedKey) {
	last, now := c.touchedAt.Load(), a.now().Unix()
	if now-last < int64(touchEvery/time.Second) || !c.touchedAt.CompareAndSwap(last, now) {
		return
	}
	ctx = context.WithoutCancel(ctx)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, lookUpWithin)
		defer cancel()
		if err := panics.Try(func() error { return a.store.TouchKey(ctx, c.key.Tenant, c.key.ID) }); err != nil {
			slog.DebugContext(ctx, "noting the use of a key", "key_id", c.key.ID, "error", err)
		}
	}()
}

// actorOf makes the actor of a key, in the key's default tenant.
func actorOf(k store.Key) library.Actor {
	actor := library.Actor{Kind: library.ActorKey, ID: k.ID, Name: k.Name, Tenant: k.Tenant,
		Tenants: append([]library.TenantID{k.Tenant}, k.MoreTenants...)}
	for _, p := range library.Permissions {
		if p == library.PermRead || slices.Contains(k.Permissions, p) {
			actor.Permissions = append(actor.Permissions, p)
		}
	}
	return actor
}

// chooseTenant obeys X-Tenant-ID within the tenants of the key.
func chooseTenant(actor library.Actor, h http.Header) (library.Actor, error) {
	sent, there, err := single(h, "X-Tenant-ID")
	if err != nil || !there {
		return actor, err
	}
	t := library.TenantID(strings.ToLower(sent))
	if !slices.Contains(actor.Tenants, t) {
		return library.Actor{}, library.NotFound("tenant reachable with this credential")
	}
	actor.Tenant = t
	return actor, nil
}

func refused(detail string) error {
	return library.NewError(library.KindUnauthenticated, library.CodeUnauthenticated, "%s", detail)
}
