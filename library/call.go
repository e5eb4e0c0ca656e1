package library

import "context"

// Call is what a write records of the call of an operation that it is part of.
type Call struct {
	Tool       string     // the operation's name, for example UpdateAsset
	Permission Permission // what the operation needs; an undo of it needs the same
	RequestID  string
	Depth      int // how many rules led to the call, one through the run of the other
	// Expects returns an error where the caller read another version of the thing that the
	// call is about to change than the given one. Nil: the caller expects none.
	Expects func(version int64) error
}

// Check returns an error where the caller of a write expects another version of the thing
// that it is about to change. It is called in the transaction that writes.
func (c Call) Check(version int64) error {
	if c.Expects == nil {
		return nil
	}
	return c.Expects(version)
}

// IdempotentRequest is what is kept of a request with an idempotency key.
type IdempotentRequest struct {
	Claimed  bool   // the key is the caller's: the request is to be run
	Hash     []byte // of the request that holds the key, where another one does
	Response []byte // its answer; nil while it runs
	Version  string // of what the answer shows; empty: of no one thing
}

type callKey struct{}

// WithCall returns a context in which a call runs. Package op makes one for every
// operation; programs that write without one name themselves as the tool.
func WithCall(ctx context.Context, c Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// CallFrom returns the call that a context belongs to. Outside of any, the tool is
// "vitrine" and the permission PermWrite.
func CallFrom(ctx context.Context) Call {
	if c, ok := ctx.Value(callKey{}).(Call); ok {
		return c
	}
	return Call{Tool: "vitrine", Permission: PermWrite}
}
