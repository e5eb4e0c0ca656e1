package client

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// retry repeats a call while it fails for a reason that passes, after growing
// pauses with jitter, or after the time that the service demands.
func (c *Client) retry(ctx context.Context, o Operation, try func() error) error {
	pauses := &pauses{ExponentialBackOff: backoff.NewExponentialBackOff(), patience: c.Patience, began: time.Now()}
	pauses.InitialInterval, pauses.MaxInterval = 100*time.Millisecond, 3*time.Second
	if pauses.patience == 0 {
		pauses.patience = DefaultPatience
	}
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := try()
		if err != nil && !pauses.repeats(c, o, err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(err error, wait time.Duration) {
		if c.OnRetry != nil {
			c.OnRetry(err, wait)
		}
	}))
	return err
}

// pauses are the waits between the tries of one call.
type pauses struct {
	*backoff.ExponentialBackOff
	patience time.Duration
	began    time.Time
	limited  time.Duration // spent waiting for the rate limit, which patience does not bound
	demanded time.Duration // what the service demands for the next wait; 0: nothing
	isLimit  bool
}

// repeats reports whether a call that failed like this is worth repeating, and
// notes how long to wait.
func (p *pauses) repeats(c *Client, o Operation, err error) bool {
	p.demanded, p.isLimit = 0, false
	var away *Unreachable
	if errors.As(err, &away) {
		return c.Patience > 0
	}
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	p.demanded = time.Duration(e.RetryAfter) * time.Second
	p.isLimit = e.Status == http.StatusTooManyRequests && e.RetryAfter > 0 && e.Code != "EGRESS_QUOTA_EXCEEDED" // a quota may take an hour
	// The first call with the same key is still running: its response is worth waiting for.
	running := e.Status == http.StatusConflict && e.RetryAfter > 0 && o.Writes
	return p.isLimit || e.Retryable || running || e.Status >= http.StatusInternalServerError && c.Patience > 0
}

// NextBackOff implements backoff.BackOff.
func (p *pauses) NextBackOff() time.Duration {
	wait := p.ExponentialBackOff.NextBackOff()
	if p.demanded > 0 {
		wait = p.demanded
	}
	switch {
	case p.isLimit:
		p.limited += wait
	case time.Since(p.began)-p.limited+wait > p.patience:
		return backoff.Stop
	}
	return wait
}
