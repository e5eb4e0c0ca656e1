package inplace

import (
	"slices"
	"strings"
	"sync"
	"time"

	"vitrine/library"
	"vitrine/store"
)

// report collects what an import does until it is saved.
type report struct {
	mu       sync.Mutex
	counts   library.ImportCounts
	files    []library.ImportFile
	noted    map[string]string // path → result
	moves    []store.Moved
	warnings []string
	preset   string
	state    library.ImportState
	failure  string

	before float64 // seconds of earlier processes
	began  time.Time
	timed  bool // the time goes on
}

// newReport begins a report, or goes on with one of a process that was interrupted: what is
// noted of files is counted again, and the walk counts the others.
func newReport(i library.Import, noted []library.ImportFile) *report {
	r := &report{warnings: goneOn(i.Warnings), preset: i.Preset, state: i.State, before: i.Counts.Seconds, began: time.Now(), timed: true, noted: map[string]string{}}
	r.counts.Read = i.Counts.Read
	r.counts.NoLineage = i.Counts.NoLineage
	if r.counts.NoLineage == nil {
		r.counts.NoLineage = map[string]int{}
	}
	for _, f := range noted {
		r.noted[f.Path] = f.Result
		r.tally(f.Result, 1)
	}
	return r
}

func (r *report) count(change func(*library.ImportCounts)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.counts)
}

// file notes what became of a file. What was noted of it before counts no more.
func (r *report) file(path, result, reason string, asset library.AssetHash) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files = append(r.files, library.ImportFile{Path: path, Result: result, Reason: reason, Asset: asset})
	if before := r.noted[path]; before != result {
		r.tally(before, -1)
		r.tally(result, 1)
		r.noted[path] = result
	}
}

// tally counts a result of a file.
func (r *report) tally(result string, n int) {
	c := &r.counts
	switch result {
	case resultFailed:
		c.Failed += n
		c.Found += n
	case resultSkipped:
		c.Skipped += n
	case resultPaired:
		c.Paired += n
	case resultAlready:
		c.Already += n
		c.Found += n
	case resultMissing:
		c.Missing += n
	case resultChanged:
		c.Changed += n
	case resultMoved:
		c.Moved += n
	case resultBack:
		c.Back += n
	case store.InTrash, store.Purged:
		c.Absent += n
		c.Found += n
	}
}

// forget drops what was noted of a file that has been stored, and reports whether there was
// anything.
func (r *report) forget(path string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, was := r.noted[path]
	r.tally(before, -1)
	delete(r.noted, path)
	return was
}

// unchanged counts a file that is known. Those that this import stored before it was
// interrupted are stored; those of which something is noted are counted by that.
func (r *report) unchanged(k *known, importID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, noted := r.noted[k.Path]; noted {
		return
	}
	c := &r.counts
	c.Found++
	if k.Import == importID {
		c.Stored++
		c.Bytes += k.Stamp.Size
		return
	}
	c.Unchanged++
}

func (r *report) moved(m store.Moved) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.moves = append(r.moves, m)
}

// warn adds a sentence to the report, once.
func (r *report) warn(sentence string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.warnings, sentence) && len(r.warnings) < 100 {
		r.warnings = append(r.warnings, sentence)
	}
}

// An import that waits says for what, and afterwards for what it did.
const (
	waits  = "It waits, and goes on by itself: "
	waited = "It had to wait for a time: "
)

// wait adds to the report what the import waits for from now on.
func (r *report) wait(what string) {
	r.mu.Lock()
	r.warnings = slices.DeleteFunc(r.warnings, func(w string) bool { return w == waited+what })
	r.mu.Unlock()
	r.warn(waits + what)
}

// goneOn puts into the past what an import waited for.
func goneOn(warnings []string) (out []string) {
	for _, w := range warnings {
		if what, is := strings.CutPrefix(w, waits); is {
			w = waited + what
		}
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// is reports whether the import is in a state.
func (r *report) is(s library.ImportState) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state == s
}

// clock starts or stops the time that is counted.
func (r *report) clock(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tick()
	r.timed = on
}

// tick brings the counts of time up to date.
func (r *report) tick() {
	now := time.Now()
	if r.timed {
		r.before += now.Sub(r.began).Seconds()
	}
	r.began = now
	r.counts.Seconds = r.before
	if r.before > 0 {
		r.counts.Rate = float64(r.counts.Done()) / r.before
	}
}

// take returns what is to be saved, and keeps the counts.
func (r *report) take(i library.Import) (library.Import, []library.ImportFile) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tick()
	files := r.files
	r.files = nil
	i.Counts, i.Preset, i.Warnings, i.State, i.Error = r.counts, r.preset, r.warnings, r.state, r.failure
	i.Counts.NoLineage = map[string]int{}
	for k, n := range r.counts.NoLineage {
		i.Counts.NoLineage[k] = n
	}
	return i, files
}

// giveBack keeps for the next time what could not be saved.
func (r *report) giveBack(files []library.ImportFile) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files = append(files, r.files...)
}
