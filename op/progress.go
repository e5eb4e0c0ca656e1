package op

import "context"

// ProgressFunc reports to a client how far a call is. total is 0 when unknown.
type ProgressFunc func(done, total float64, message string)

type progressKey struct{}

// WithProgress attaches a listener to a call; the MCP transport does so when the
// client asked for progress.
func WithProgress(ctx context.Context, fn ProgressFunc) context.Context {
	return context.WithValue(ctx, progressKey{}, fn)
}

// ReportProgress reports to the client how far the call is; without a listener it does nothing.
func ReportProgress(ctx context.Context, done, total float64, message string) {
	if fn, ok := ctx.Value(progressKey{}).(ProgressFunc); ok {
		fn(done, total, message)
	}
}
