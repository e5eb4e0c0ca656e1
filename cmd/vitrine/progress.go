package main

import (
	"fmt"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// bar shows how far long work is: a bar on a terminal, a line every few seconds
// elsewhere.
type bar struct {
	title string
	live  *progressbar.ProgressBar
	last  time.Time
}

// lineEvery is how often a log gets a line of progress.
const lineEvery = 5 * time.Second

func newBar(title string) *bar {
	b := &bar{title: title, last: time.Now()}
	if term.IsTerminal(int(os.Stderr.Fd())) {
		b.live = progressbar.NewOptions64(-1, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetDescription(title),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetPredictTime(true), progressbar.OptionFullWidth(),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetRenderBlankState(true))
	}
	return b
}

// set reports how far the work is; a total of 0 or less is unknown.
func (b *bar) set(what string, done, total int64) {
	if b.live != nil {
		b.live.Describe(what)
		if total > 0 && b.live.GetMax64() != total {
			b.live.ChangeMax64(total)
		}
		_ = b.live.Set64(done) // a terminal that is gone is no reason to stop
		return
	}
	if time.Since(b.last) < lineEvery {
		return
	}
	b.last = time.Now()
	if total > 0 {
		fmt.Fprintf(os.Stderr, "%s: %d of %d\n", what, done, total)
		return
	}
	fmt.Fprintf(os.Stderr, "%s: %d\n", what, done)
}

func (b *bar) close() {
	if b.live != nil {
		_ = b.live.Finish()
	}
}
