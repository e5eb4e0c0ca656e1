package library

import "context"

// Call is what a write records of the call of an operation that it is part of.
type Call struct {
	Tool       string     // the operation's name, for example UpdateAsset
	Permission Permission // what the operation needs; an undo of it needs the same
	RequestID  string
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
