package op

import (
	"bytes"
	"context"
	"crypto/sha256"
	"log/slog"
	"time"

	"vitrine/internal/panics"
	"vitrine/internal/retry"
	"vitrine/library"
)

// IdempotencyStore keeps the answers to calls that carried an idempotency key,
// per tenant and credential, for 24 hours. Package store has the one in
// PostgreSQL.
type IdempotencyStore interface {
	// Begin claims the key, or returns the request that holds it and, once that one is
	// done, its response.
	Begin(ctx context.Context, tenant library.TenantID, actorID, key string, request [32]byte) (library.IdempotentRequest, error)
	// Renew keeps a claim from going void while its call runs.
	Renew(ctx context.Context, tenant library.TenantID, actorID, key string) error
	// Finish stores the response of a claimed key, and the version of what it shows.
	Finish(ctx context.Context, tenant library.TenantID, actorID, key string, response []byte, version string) error
	// Release removes a claimed key.
	Release(ctx context.Context, tenant library.TenantID, actorID, key string) error
}

// Secretive is implemented by outputs that hold a secret which is shown once. What is kept for
// an idempotency key lacks it.
type Secretive interface{ WithoutSecrets() any }

const (
	maxIdempotencyKey = 255
	// renewEvery is well below the minute after which the store gives up a claim.
	renewEvery = 15 * time.Second
	// finishTimeout bounds the store's part once the work is done; it must not end
	// with the caller's connection, or a lost connection would lose the answer.
	finishTimeout = 10 * time.Second
)

// runIdempotent runs work at most once for a key: the first call claims the key, later
// ones get its answer. Only success is kept: a failed call changed nothing, so
// the same key may try again.
func (c *Caller) runIdempotent(ctx context.Context, o Operation, actor library.Actor, key string, raw []byte, work func(context.Context) (any, error)) (value any, replayed bool, err error) {
	if err := checkIdempotencyKey(key); err != nil {
		return nil, false, err
	}
	request := requestHash(o.Name, raw)
	held, err := c.Idempotency.Begin(ctx, actor.Tenant, actor.ID, key, request)
	switch {
	case err != nil:
		return nil, false, library.AsError(err)
	case !held.Claimed && !bytes.Equal(held.Hash, request[:]):
		return nil, false, library.NewError(library.KindUnprocessable, library.CodeIdempotencyReuse,
			"This idempotency key was used for a different request. Send a new key with each new request.")
	case !held.Claimed && held.Response == nil:
		libErr := library.NewError(library.KindConflict, library.CodeConflict,
			"The first request with this idempotency key is still running. Repeat the request in a moment to get its response.")
		libErr.RetryAfter = time.Second
		return nil, false, libErr
	case !held.Claimed:
		return rawOutput{held.Response, held.Version}, true, nil
	}
	stop := c.renewClaim(ctx, actor, key)
	value, err = work(ctx)
	stop()
	return value, false, c.finishIdempotent(ctx, actor, key, value, err)
}

// requestHash tells one request from another: the operation and its arguments in
// canonical form.
func requestHash(operation string, raw []byte) [32]byte {
	h := sha256.New()
	h.Write([]byte(operation))
	h.Write([]byte{0})
	h.Write(raw)
	return [32]byte(h.Sum(nil))
}

// finishIdempotent stores the answer or gives the key back, and passes the work's error on.
// An answer that cannot be stored does not undo the work: the caller gets it, and
// a repeat within the claim's last minute is told to wait.
func (c *Caller) finishIdempotent(ctx context.Context, actor library.Actor, key string, value any, failed error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	if failed != nil {
		if err := c.Idempotency.Release(ctx, actor.Tenant, actor.ID, key); err != nil {
			slog.WarnContext(ctx, "releasing an idempotency key failed", "error", err)
		}
		return failed
	}
	if s, ok := value.(Secretive); ok {
		value = s.WithoutSecrets()
	}
	response, err := EncodeOutput(value)
	if err == nil {
		err = c.Idempotency.Finish(ctx, actor.Tenant, actor.ID, key, response, VersionOf(value))
	}
	if err != nil {
		slog.WarnContext(ctx, "storing the response of an idempotency key failed", "error", err)
	}
	return nil
}

// renewClaim renews the claim until stop is called.
func (c *Caller) renewClaim(ctx context.Context, actor library.Actor, key string) (stop func()) {
	return retry.Every(context.WithoutCancel(ctx), renewEvery, func(ctx context.Context) {
		renew := func() error { return c.Idempotency.Renew(ctx, actor.Tenant, actor.ID, key) }
		if err := panics.Try(renew); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "renewing an idempotency key failed", "error", err)
		}
	})
}

// checkIdempotencyKey takes 1 to 255 printable ASCII characters.
func checkIdempotencyKey(key string) error {
	ok := len(key) <= maxIdempotencyKey
	for i := range len(key) {
		ok = ok && key[i] > ' ' && key[i] <= '~'
	}
	if ok {
		return nil
	}
	return library.Invalid(library.FieldError{Field: "idempotency_key", Code: "format",
		Message: "Expected 1 to 255 printable ASCII characters without spaces, for example a UUID."})
}
