package memory

import "context"

// Lease is the memory of one piece of work that learns midway what it needs, and
// keeps what it decoded until Release. A nil Lease allows everything. It must not be
// used by two goroutines at once.
type Lease struct {
	budget  *Budget
	release func()
}

// Lease returns a lease that holds nothing yet.
func (b *Budget) Lease() *Lease { return &Lease{budget: b} }

// Acquire sets need bytes aside until Release, with the errors of Budget.Use. A lease
// that holds memory already keeps what it has: it never waits for more, since others
// might wait for what it holds.
func (l *Lease) Acquire(ctx context.Context, need int64) error {
	if l == nil || l.release != nil {
		return nil
	}
	release, err := l.budget.acquire(ctx, need)
	l.release = release
	return err
}

// Use runs decode, within what the lease holds or else as Budget.Use does.
func (l *Lease) Use(ctx context.Context, need int64, decode func() error) error {
	if l == nil || l.release != nil {
		return decode()
	}
	return l.budget.Use(ctx, need, decode)
}

// Release hands back what the lease holds. It may be called again.
func (l *Lease) Release() {
	if l != nil && l.release != nil {
		l.release()
		l.release = nil
	}
}
