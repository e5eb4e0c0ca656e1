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
	"net/netip"
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
	// keyCacheTTL is how long a checked key is trusted without asking the database,
	// and so the longest that a revoked key lives on.
	keyCacheTTL = time.Second
	// keyCacheSize bounds the cache, also against floods of keys that do not exist.
	keyCacheSize = 10_000
	// lookupTimeout bounds one look-up, which several requests may share.
	lookupTimeout = 5 * time.Second
	// lastUsedInterval is how fine last_used_at is.
	lastUsedInterval = time.Minute
)

// Authenticator checks credentials. It is safe for concurrent use.
type Authenticator struct {
	keys    *store.Keys
	cache   *lru.Cache[[32]byte, *cachedKey]
	lookups singleflight.Group
	now     func() time.Time
	slow    *throttle
	// TrustProxy is set where a reverse proxy on this machine names its clients in
	// X-Forwarded-For.
	TrustProxy bool

	linkCache *lru.Cache[linkKey, linkCheck]
}

// cachedKey is what the database said of a key, and when.
type cachedKey struct {
	key       library.Key
	found     bool
	checkedAt time.Time
	touchedAt *atomic.Int64 // unix seconds of the last note in last_used_at
}

// New returns an Authenticator of the keys of a store.
func New(keys *store.Keys) *Authenticator {
	checked, err := lru.New[[32]byte, *cachedKey](keyCacheSize)
	if err != nil {
		panic(err) // only a size below one can fail
	}
	links, err := lru.New[linkKey, linkCheck](keyCacheSize)
	if err != nil {
		panic(err) // as above
	}
	return &Authenticator{keys: keys, cache: checked, linkCache: links, now: time.Now, slow: newThrottle()}
}

// Authenticate returns the actor of a request. Errors: KEY_IN_URL, UNAUTHENTICATED,
// RATE_LIMITED after many refused credentials of one address, VALIDATION_FAILED for
// contradicting headers, NOT_FOUND for a tenant that the key cannot reach,
// STORE_UNAVAILABLE.
func (a *Authenticator) Authenticate(r *http.Request) (library.Actor, error) {
	if err := RefuseKeyInURL(r); err != nil {
		return library.Actor{}, err
	}
	from := clientAddress(r, a.TrustProxy)
	k, err := a.key(r, from)
	if err != nil {
		if library.AsError(err).Kind == library.KindUnauthenticated && hasCredential(r.Header) {
			a.slow.refusedOne(from)
		}
		return library.Actor{}, err
	}
	actor := actorOf(k)
	return chooseTenant(actor, r.Header)
}

// key returns the key of a request. What was not found good a moment ago is looked at
// only while its address has not sent too many bad ones.
func (a *Authenticator) key(r *http.Request, from netip.Prefix) (library.Key, error) {
	wait := a.slow.wait(from)
	secret, err := credential(r.Header)
	if err == nil && wellFormed(secret) {
		hash := sha256.Sum256([]byte(secret))
		if wait == 0 || a.wasGood(hash) {
			return a.check(r.Context(), hash)
		}
	}
	switch {
	case wait > 0 && hasCredential(r.Header):
		return library.Key{}, tooMany(wait)
	case err != nil:
		return library.Key{}, err
	}
	return library.Key{}, unauthenticated("The credential is not an API key of this service. Session and access tokens are not accepted; create a key that starts with " + prefix + ".")
}

// wasGood reports whether a key is remembered that was good when it was last checked,
// however long ago.
func (a *Authenticator) wasGood(hash [32]byte) bool {
	c, ok := a.cache.Peek(hash)
	return ok && c.found && c.key.RevokedAt == nil
}

// check returns a key that is known, not revoked and not expired.
func (a *Authenticator) check(ctx context.Context, hash [32]byte) (library.Key, error) {
	c, ok := a.cache.Get(hash)
	if !ok || a.now().Sub(c.checkedAt) >= keyCacheTTL {
		var err error
		if c, err = a.lookup(ctx, hash, c); err != nil {
			return library.Key{}, err
		}
	}
	switch {
	case !c.found:
		return library.Key{}, unauthenticated("This API key is not known. It may belong to another installation; create a key here.")
	case c.key.RevokedAt != nil:
		return library.Key{}, unauthenticated("This API key was revoked. Create a new one.")
	case c.key.ExpiresAt != nil && !a.now().Before(*c.key.ExpiresAt):
		return library.Key{}, unauthenticated("This API key has expired. Create a new one.")
	}
	a.recordUse(ctx, c)
	return c.key, nil
}

// lookup asks the database, once for all requests that wait for the same key. A
// request that goes away does not take the answer from the others.
func (a *Authenticator) lookup(ctx context.Context, hash [32]byte, before *cachedKey) (*cachedKey, error) {
	v, err, _ := a.lookups.Do(string(hash[:]), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTimeout)
		defer cancel()
		asked := a.now() // before the answer: what changes meanwhile is seen in time
		k, found, err := a.keys.Find(ctx, hash)
		if err != nil {
			return nil, err
		}
		c := &cachedKey{key: k, found: found, checkedAt: asked, touchedAt: new(atomic.Int64)}
		if before != nil {
			c.touchedAt = before.touchedAt
		}
		a.cache.Add(hash, c)
		return c, nil
	})
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, &library.Error{Kind: library.KindUnavailable, Code: library.CodeStoreUnavailable, RetryAfter: 2 * time.Second,
				Detail: "The credential could not be checked in time. Repeat the request.", Cause: err}
		}
		return nil, library.AsError(err)
	}
	return v.(*cachedKey), nil
}

// recordUse notes the use of a key in the background, at most once a minute.
func (a *Authenticator) recordUse(ctx context.Context, c *cachedKey) {
	last, now := c.touchedAt.Load(), a.now().Unix()
	if now-last < int64(lastUsedInterval/time.Second) || !c.touchedAt.CompareAndSwap(last, now) {
		return
	}
	ctx = context.WithoutCancel(ctx)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
		defer cancel()
		if err := panics.Try(func() error { return a.keys.Touch(ctx, c.key.Tenant, c.key.ID) }); err != nil {
			slog.DebugContext(ctx, "recording the last use of a key failed", "key_id", c.key.ID, "error", err)
		}
	}()
}

// actorOf makes the actor of a key, in the key's default tenant.
func actorOf(k library.Key) library.Actor {
	actor := library.Actor{Kind: library.ActorKey, ID: k.ID, Name: k.Name, Tenant: k.Tenant,
		Tenants: append([]library.TenantID{k.Tenant}, k.MoreTenants...)}
	for _, p := range library.Permissions {
		if p == library.PermRead && library.CarriesRead(k.Permissions) || slices.Contains(k.Permissions, p) {
			actor.Permissions = append(actor.Permissions, p)
		}
	}
	return actor
}

// chooseTenant obeys X-Tenant-ID within the tenants of the key.
func chooseTenant(actor library.Actor, h http.Header) (library.Actor, error) {
	sent, there, err := singleHeader(h, "X-Tenant-ID")
	if err != nil || !there {
		return actor, err
	}
	t := library.TenantID(strings.ToLower(sent))
	if !slices.Contains(actor.Tenants, t) {
		return library.Actor{}, library.NotFound("tenant reachable with this credential")
	}
	actor.Tenant, actor.TenantNamed = t, true
	return actor, nil
}

func unauthenticated(detail string) error {
	return library.NewError(library.KindUnauthenticated, library.CodeUnauthenticated, "%s", detail)
}
