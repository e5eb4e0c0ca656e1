package inplace

import (
	"context"
	"time"

	"vitrine/internal/retry"
	"vitrine/library"
)

// postpone keeps a file for later that is being written.
func (r *run) postpone(c candidate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.attempts++
	r.later = append(r.later, c)
	n := len(r.later)
	r.report.count(func(c *library.ImportCounts) { c.Waiting = n })
}

// mostAttempts is how often a file is waited for that is being written, two seconds each,
// before an import that does not watch gives it up.
const mostAttempts = 30

// readPostponed reads files again that were being written, until they are not. A folder that
// is watched goes on with other things meanwhile.
func (r *run) readPostponed(ctx context.Context) error {
	for {
		list := r.takeLater()
		if len(list) == 0 {
			return nil
		}
		waiting := len(list)
		r.report.count(func(c *library.ImportCounts) { c.Waiting = waiting })
		if err := retry.Sleep(ctx, quietTime+100*time.Millisecond); err != nil {
			return err
		}
		r.report.count(func(c *library.ImportCounts) { c.Waiting = 0 })
		if err := r.place.away(r.reader.root); err != nil {
			return err
		}
		if err := r.again(ctx, list); err != nil {
			return err
		}
	}
}

// takeLater returns the files that were kept for later, and keeps them no more.
func (r *run) takeLater() []candidate {
	r.mu.Lock()
	list := r.later
	r.later = nil
	r.mu.Unlock()
	r.report.count(func(c *library.ImportCounts) { c.Waiting = 0 })
	return list
}

// again reads files that were being written when they were looked at last.
func (r *run) again(ctx context.Context, list []candidate) error {
	if len(list) == 0 {
		return nil
	}
	return r.pipeline(ctx, func(_ context.Context, out func(candidate) error) error {
		for _, c := range list {
			if c.attempts > mostAttempts && !r.i.Options.Watch {
				r.report.file(c.path, resultFailed, "it was written to all the time; import the folder again when it is finished", "")
			} else if err := out(c); err != nil {
				return err
			}
		}
		return nil
	})
}
