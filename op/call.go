package op

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"vitrine/internal/panics"
	"vitrine/library"
)

// Call runs one operation for an actor: permission, tenant, defaults, schema,
// cross-field rules, then the work. It takes ownership of args. Every error it
// returns is a *library.Error. Transports go through a Caller instead, which
// adds limits and idempotency.
func (o Operation) Call(ctx context.Context, actor library.Actor, args map[string]any) (any, error) {
	if err := o.authorize(actor); err != nil {
		return nil, err
	}
	actor, raw, err := o.prepare(actor, args)
	if err != nil {
		return nil, err
	}
	return o.run(ctx, actor, raw)
}

// Caller runs operations for the transports. All fields are optional: without
// Limits nothing is limited, without Idempotency a key has no effect.
type Caller struct {
	Limits      *Limiter
	Idempotency IdempotencyStore
	Tenants     TenantLimits      // what tenants may use; nil: they have no limits
	Observe     func(Observation) // hears of every call once it is over
}

// TenantLimits returns what a tenant may use; package store has the one that reads it.
type TenantLimits interface {
	Limits(ctx context.Context, tenant library.TenantID) (library.Limits, error)
}

// Observation is what happened in one call.
type Observation struct {
	Operation string
	Transport string // rest or mcp
	Code      string // the error's code; empty for success
	Took      time.Duration
}

// CallOptions is what a request carries beside its arguments.
type CallOptions struct {
	Transport      string
	IdempotencyKey string   // has an effect on writes only
	IfMatch        []string // entity tags, one of which the thing that a write changes must have; none: any
}

// Result is the outcome of a call.
type Result struct {
	Value    any        // what the operation returned, or rawOutput when replayed
	Rate     *RateState // where the caller stands in its budget, also beside an error; nil without a budget
	Replayed bool       // the answer is that of an earlier call with the same idempotency key
}

// Call runs an operation: permission, rate limit, arguments, idempotency, work.
// It takes ownership of args. Every error is a *library.Error, a panic of the
// work included.
func (c *Caller) Call(ctx context.Context, o Operation, actor library.Actor, args map[string]any, opt CallOptions) (res Result, err error) {
	if c.Observe != nil {
		start := time.Now()
		defer func() {
			seen := Observation{Operation: o.Name, Transport: opt.Transport, Took: time.Since(start)}
			if err != nil {
				seen.Code = library.AsError(err).Code
			}
			c.Observe(seen)
		}()
	}
	if err := o.authorize(actor); err != nil {
		return res, err
	}
	if ctx, err = o.withIfMatch(ctx, opt.IfMatch); err != nil {
		return res, err
	}
	ctx, end := o.withDeadline(ctx)
	defer func() { err = end(err) }()
	if c.Limits != nil && o.Rate != "" {
		if res.Rate, err = c.Limits.Take(actor, o.Rate); err != nil {
			return res, err
		}
	}
	actor, raw, err := o.prepare(actor, args)
	if err != nil {
		return res, err
	}
	if !c.OffersDomain(ctx, actor.Tenant, o.Domain) {
		return res, DomainDisabled(o.Domain)
	}
	if err := c.takeTenant(ctx, o, actor.Tenant, &res); err != nil {
		return res, err
	}
	work := func(ctx context.Context) (any, error) { return o.run(ctx, actor, raw) }
	if opt.IdempotencyKey == "" || o.ReadOnly || c.Idempotency == nil {
		res.Value, err = work(ctx)
		return res, err
	}
	res.Value, res.Replayed, err = c.runIdempotent(ctx, o, actor, opt.IdempotencyKey, raw, work)
	return res, err
}

// DomainDisabled is the error of a call of a domain that the tenant does not have.
func DomainDisabled(d Domain) error {
	return library.NewError(library.KindForbidden, library.CodeDomainDisabled, "The tools of %s are turned off for this tenant. The operator turns them on (vitrine tenants limits --outreach on).", d)
}

// OffersDomain reports whether a tenant has a domain. While nobody can tell it does.
func (c *Caller) OffersDomain(ctx context.Context, tenant library.TenantID, d Domain) bool {
	if c == nil || c.Tenants == nil || d != Outreach {
		return true
	}
	limits, err := c.Tenants.Limits(ctx, tenant)
	return err != nil || limits.Outreach
}

// takeTenant counts a call for its tenant. Where both the credential and the tenant
// are limited, the client is told of the one that has less left.
func (c *Caller) takeTenant(ctx context.Context, o Operation, tenant library.TenantID, res *Result) error {
	if c.Limits == nil || c.Tenants == nil || o.Rate != RateSearch {
		return nil
	}
	limits, err := c.Tenants.Limits(ctx, tenant)
	if err != nil {
		return library.AsError(err)
	}
	state, err := c.Limits.TakeTenant(tenant, o.Rate, limits.SearchesPerMinute)
	if state != nil && (err != nil || res.Rate == nil || state.Remaining < res.Rate.Remaining) {
		res.Rate = state
	}
	return err
}

// defaultLimit is how long a call may take unless its operation says otherwise. A
// part that does not answer is noticed much sooner where it can be.
const defaultLimit = 30 * time.Second

// Left reports whether an error comes of a client that has gone: its request's context
// was cancelled, and the error is none that the client caused.
func Left(ctx context.Context, err error) bool {
	if !errors.Is(ctx.Err(), context.Canceled) {
		return false
	}
	kind := library.AsError(err).Kind
	return kind == library.KindInternal || kind == library.KindUnavailable
}

// withDeadline bounds a call. end turns an error that comes of the deadline into
// one that a client may repeat the call after, and one that comes of the client's
// leaving into one that says so.
func (o Operation) withDeadline(given context.Context) (ctx context.Context, end func(error) error) {
	ctx, cancel := context.WithTimeout(given, cmp.Or(o.Limit, defaultLimit))
	return ctx, func(err error) error {
		late := errors.Is(ctx.Err(), context.DeadlineExceeded) && given.Err() == nil
		cancel()
		if err != nil && Left(given, err) {
			return library.ClientClosed(err)
		}
		if err == nil || !late || library.AsError(err).Kind != library.KindInternal {
			return err
		}
		return &library.Error{Kind: library.KindUnavailable, Code: library.CodeDeadline, RetryAfter: 5 * time.Second, Cause: err,
			Detail: "The call took too long and was ended. Repeat it; with the same Idempotency-Key it cannot happen twice."}
	}
}

// authorize checks the one permission that the operation needs.
func (o Operation) authorize(actor library.Actor) error {
	if actor.Can(o.Permission) {
		return nil
	}
	return MissingPermission(o.Permission, o.Name)
}

// MissingPermission is the error of a credential that lacks what an operation or
// a resource needs.
func MissingPermission(p library.Permission, what string) error {
	return &library.Error{Kind: library.KindForbidden, Code: library.CodePermissionRequired, Permission: p,
		Detail: "This credential lacks the permission " + string(p) + ", which " + what + " needs. Use a key that has it."}
}

// prepare brings the arguments to the schema's form, checks them, binds the actor
// to the tenant they name, and gives them as canonical JSON.
func (o Operation) prepare(actor library.Actor, args map[string]any) (library.Actor, []byte, error) {
	normalize(o.Input, args)
	errs := numberErrors("", o.Input, args)
	said := map[string]bool{}
	for _, e := range errs {
		said[e.Field] = true
	}
	for _, e := range validate(o.Input, args) {
		if !said[e.Field] {
			errs = append(errs, e)
		}
	}
	errs = append(errs, textErrors(o.Input, "", args)...)
	if errs = append(errs, o.requiredErrors(args)...); len(errs) > 0 {
		return actor, nil, library.Invalid(errs[:min(len(errs), maxFieldErrors)]...)
	}
	actor, err := chooseTenant(actor, args)
	if err != nil {
		return actor, nil, err
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return actor, nil, library.AsError(err)
	}
	return actor, raw, nil
}

// run does the work. A panic becomes an internal error, so that one bad call
// cannot end the process or leave a client without an answer.
func (o Operation) run(ctx context.Context, actor library.Actor, raw []byte) (out any, err error) {
	ctx = library.WithCall(ctx, library.Call{Tool: o.Name, Permission: o.Permission, RequestID: RequestID(ctx), Expects: expects(ctx)})
	err = panics.Try(func() (err error) {
		out, err = o.call(ctx, actor, raw)
		return err
	})
	if err != nil {
		return nil, library.AsError(err)
	}
	return out, nil
}

// chooseTenant binds the actor to the tenant that the arguments name, if they do.
func chooseTenant(actor library.Actor, args map[string]any) (library.Actor, error) {
	sent, _ := args["tenant_id"].(string)
	if sent == "" {
		return actor, nil
	}
	t := library.TenantID(strings.ToLower(sent))
	if actor.TenantNamed && t != actor.Tenant {
		return actor, library.Invalid(library.FieldError{Field: "tenant_id", Code: "conflict",
			Message: "The request names another tenant in X-Tenant-ID.", Hint: "Name the tenant once, or the same one in both places."})
	}
	if t != actor.Tenant && !slices.Contains(actor.Tenants, t) {
		return actor, library.NotFound("tenant reachable with this credential")
	}
	actor.Tenant = t
	return actor, nil
}

// rawOutput is an output that is JSON already, with the version of what it shows.
type rawOutput struct {
	body    []byte
	version string
}

// EncodeOutput returns an operation's output as compact JSON, the same bytes over
// either transport. Characters that only HTML cares about stay as they are; those that no
// reader sees are left out of its texts.
func EncodeOutput(value any) ([]byte, error) {
	if raw, ok := value.(rawOutput); ok {
		return raw.body, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := panics.Try(func() error { return e.Encode(value) }); err != nil {
		return nil, library.AsError(fmt.Errorf("encoding an output: %w", err))
	}
	return visible(bytes.TrimSuffix(b.Bytes(), []byte("\n")), reflect.TypeOf(value)), nil
}

// Attachments returns the binary parts of an output; most have none.
func Attachments(value any) []Attachment {
	if a, ok := value.(Attacher); ok {
		return a.Attachments()
	}
	return nil
}
