package inplace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"vitrine/internal/panics"
	"vitrine/library"
	"vitrine/media/folder"
	"vitrine/media/memory"
	"vitrine/store"
)

// Config is what an Engine works with.
type Config struct {
	Store   *store.Store
	Roots   *Roots
	Memory  *memory.Budget // of decoding
	MaxFile int64          // bytes of one file
	Readers int            // files read at once; 0 means one per processor
	// Rescan is how often a watched folder is looked through as a whole; 0 means
	// DefaultRescan.
	Rescan time.Duration
	Log    *slog.Logger
}

// DefaultRescan is how often a watched folder is looked through as a whole: file systems
// over a network tell of no changes.
const DefaultRescan = 5 * time.Minute

// Engine runs imports.
type Engine struct {
	cfg    Config
	holder string
	busy   busy
}

// New returns an engine.
func New(cfg Config) *Engine {
	if cfg.Readers == 0 {
		cfg.Readers = max(2, runtime.GOMAXPROCS(0))
	}
	if cfg.Rescan == 0 {
		cfg.Rescan = DefaultRescan
	}
	return &Engine{cfg: cfg, holder: fmt.Sprintf("%d-%d", os.Getpid(), time.Now().UnixNano())}
}

const (
	// pollEvery is how long an import that was queued may wait.
	pollEvery = 500 * time.Millisecond
	// holdFor is when another process takes an import over from one that died.
	holdFor = 15 * time.Second
	// saveEvery is how often the report of an import is saved.
	saveEvery = time.Second
	// parallel is how many imports one process runs at once, those that watch included.
	parallel = 32
)

// Run works on imports until ctx ends. What is under way then goes on in the next process.
func (e *Engine) Run(ctx context.Context) error {
	slots := make(chan struct{}, parallel)
	var all sync.WaitGroup
	defer all.Wait()
	for {
		due, err := e.cfg.Store.Imports.Due(ctx, parallel)
		if err != nil && ctx.Err() == nil {
			e.cfg.Log.Warn("imports wait for the database", "error", err)
		}
		for _, i := range due {
			select {
			case slots <- struct{}{}:
			default:
				continue
			}
			got, claimed, err := e.cfg.Store.Imports.Claim(ctx, i, e.holder, holdFor)
			if err != nil || !claimed {
				<-slots
				continue
			}
			all.Go(func() {
				defer func() { <-slots }()
				e.one(ctx, got)
			})
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pollEvery):
		}
	}
}

// run is one import under way.
type run struct {
	*Engine
	i      library.Import
	actor  library.Actor
	report *report
	reader *reader
	place  place
	cancel context.CancelFunc

	later []candidate // files that are being written
	mu    sync.Mutex
}

// one works on an import until it ends, or ctx does.
func (e *Engine) one(ctx context.Context, i library.Import) {
	noted, err := e.noted(ctx, i)
	if err != nil {
		e.cfg.Log.Warn("an import could not begin; it is tried again", "import", i.ID, "error", err)
		return
	}
	runCtx, cancel := context.WithCancel(library.WithCall(ctx, library.Call{Tool: "StartImport", Permission: library.PermAdmin}))
	defer cancel()
	r := &run{Engine: e, i: i, report: newReport(i, noted), cancel: cancel,
		actor: library.Actor{Kind: i.ActorKind, ID: i.Actor, Tenant: i.Tenant, Permissions: []library.Permission{library.PermAdmin, library.PermWrite, library.PermRead}}}
	saved := make(chan struct{})
	stop := make(chan struct{})
	go func() { defer close(saved); r.keepSaving(runCtx, stop) }()
	err = panics.Try(func() error { return r.work(runCtx) })
	close(stop)
	<-saved
	switch {
	case ctx.Err() != nil: // the process stops: the next one goes on
		r.save(context.WithoutCancel(ctx), -holdFor)
		return
	case runCtx.Err() != nil:
		r.end(library.ImportCancelled, "")
	case err != nil && passes(err):
		r.report.wait(library.AsError(err).Detail)
		e.cfg.Log.Warn("an import waits", "import", i.ID, "error", err)
		r.save(ctx, waitFor)
		return
	case err != nil:
		e.cfg.Log.Error("an import failed", "import", i.ID, "error", err)
		r.end(library.ImportFailed, library.AsError(err).Detail)
	default:
		r.end(library.ImportCompleted, "")
	}
	r.save(context.WithoutCancel(ctx), 0)
}

// waitFor is when an import is tried again that waits for a disk or a server.
const waitFor = 10 * time.Second

// passes reports whether an error is one that passes by itself.
func passes(err error) bool {
	var e *library.Error
	return errors.As(err, &e) && (e.Kind == library.KindUnavailable || e.Kind == library.KindStorageFull)
}

// noted reads what an interrupted import has noted of files.
func (e *Engine) noted(ctx context.Context, i library.Import) (all []library.ImportFile, err error) {
	actor := library.Actor{Kind: i.ActorKind, ID: i.Actor, Tenant: i.Tenant}
	for after := ""; ; {
		list, err := e.cfg.Store.Imports.Files(ctx, actor, i.ID, "", after, 5000)
		if err != nil {
			return nil, err
		}
		if all = append(all, list...); len(list) < 5000 {
			return all, nil
		}
		after = list[len(list)-1].Path
	}
}

func (r *run) end(state library.ImportState, failure string) {
	r.report.mu.Lock()
	defer r.report.mu.Unlock()
	r.report.state, r.report.failure = state, failure
	r.report.counts.Searching = false
}

// keepSaving saves the report again and again, and ends the import when somebody asked for it.
func (r *run) keepSaving(ctx context.Context, stop chan struct{}) {
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ctx.Done():
			return
		case <-tick.C:
			if r.save(ctx, holdFor) {
				r.cancel()
				return
			}
		}
	}
}

// save writes the report, and reports whether the import is to end.
func (r *run) save(ctx context.Context, hold time.Duration) bool {
	i, files := r.report.take(r.i)
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	end, err := r.cfg.Store.Imports.Save(ctx, i, r.holder, hold, files)
	if err != nil {
		r.report.giveBack(files)
		if ctx.Err() == nil {
			r.cfg.Log.Warn("the report of an import could not be saved; it is tried again", "import", r.i.ID, "error", err)
		}
		return false
	}
	return end
}

// work does all that an import does.
func (r *run) work(ctx context.Context) error {
	root, allowed, err := r.cfg.Roots.get(ctx, r.i.Tenant, r.i.Root)
	if err != nil {
		return err
	}
	if !allowed {
		return library.NewError(library.KindInvalid, library.CodeValidationFailed, "The root %s is not one that the operator allows (VITRINE_IMPORT_ROOTS).", r.i.Root)
	}
	opened, err := root.open()
	if err != nil {
		return err
	}
	defer opened.Close()
	if r.place, err = newPlace(root, r.i.Folder, opened); err != nil {
		return err
	}
	preset := r.preset(opened)
	r.report.mu.Lock()
	r.report.preset = preset.Name
	r.report.mu.Unlock()
	r.reader = &reader{root: opened, name: root.Name, preset: preset, opt: r.i.Options, actor: r.actor, memory: r.cfg.Memory, limit: r.cfg.MaxFile}
	if err := r.pass(ctx, true); err != nil || !r.i.Options.Watch {
		return err
	}
	return r.watch(ctx, root)
}

// presetDepth is how deep below the folder is looked for what shows whose it is.
const presetDepth = 3

// preset returns the preset that was asked for, or that of the folder.
func (r *run) preset(root *os.Root) folder.Preset {
	if p, ok := folder.ByName(r.i.Options.Preset); ok {
		return p
	}
	g := folder.Guess{}
	var look func(dir string, depth int)
	look = func(dir string, depth int) {
		entries, err := readDir(root, dir)
		if err != nil {
			return
		}
		var folders, files []string
		for _, e := range entries[:min(len(entries), 2000)] {
			if e.IsDir() {
				folders = append(folders, e.Name())
			} else {
				files = append(files, e.Name())
			}
		}
		g.Look(folders, files)
		for _, f := range folders[:min(len(folders), 20)] {
			if depth > 0 && f[0] != '.' {
				look(path.Join(dir, f), depth-1)
			}
		}
	}
	look(r.i.Folder, presetDepth)
	return g.Preset()
}

// pass looks through the whole folder once: list, read, store, and then what is gone.
func (r *run) pass(ctx context.Context, first bool) error {
	w, err := r.newWalker(ctx, r.i.Folder, first)
	if err != nil {
		return err
	}
	r.report.count(func(c *library.ImportCounts) { c.Searching = true })
	err = r.pipeline(ctx, func(ctx context.Context, out func(candidate) error) error {
		w.out = out
		defer r.report.count(func(c *library.ImportCounts) { c.Searching = false })
		return w.folder(ctx, r.i.Folder)
	})
	if err == nil {
		err = r.place.away(r.reader.root)
	}
	if err != nil {
		return err
	}
	if err := r.saveMoves(ctx); err != nil {
		return err
	}
	if !r.i.Options.Watch { // a file that is being written may be one that seems gone
		if err := r.readPostponed(ctx); err != nil {
			return err
		}
	}
	return r.vanished(ctx, w)
}

// newWalker returns a walker that knows of the files below a folder.
func (r *run) newWalker(ctx context.Context, dir string, first bool) (*walker, error) {
	w := r.emptyWalker()
	w.first = first
	return w, r.cfg.Store.Originals.Below(ctx, r.i.Tenant, r.i.Root, dir, func(o store.Original) error {
		w.know(o)
		return nil
	})
}

// emptyWalker returns a walker that knows of no files.
func (r *run) emptyWalker() *walker {
	return &walker{root: r.reader.root, preset: r.reader.preset, known: map[string]*known{}, same: map[identity]*known{}, report: r.report, id: r.i.ID}
}

// pipeline joins the stages: find → read → store in batches.
func (r *run) pipeline(ctx context.Context, find func(context.Context, func(candidate) error) error) error {
	defer r.busy.begin()()
	g, ctx := errgroup.WithContext(ctx)
	found, read := make(chan candidate, 1024), make(chan reading, 2*store.MaxInPlace)
	g.Go(func() error {
		defer close(found)
		return find(ctx, func(c candidate) error {
			select {
			case found <- c:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	var readers sync.WaitGroup
	for range r.cfg.Readers {
		readers.Add(1)
		g.Go(func() error { defer readers.Done(); return r.readAll(ctx, found, read) })
	}
	g.Go(func() error { readers.Wait(); close(read); return nil })
	for range writers {
		g.Go(func() error { return r.write(ctx, read) })
	}
	return g.Wait()
}

// writers is how many batches are stored at once: while one waits for its commit another
// one is made.
const writers = 2

func (r *run) readAll(ctx context.Context, in <-chan candidate, out chan<- reading) error {
	for c := range in {
		var got reading
		if err := panics.Try(func() error { got = r.reader.read(ctx, c); return nil }); err != nil {
			got = reading{candidate: c}.is(resultFailed, err.Error())
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if got.trouble {
			if err := r.unlessAway(); err != nil {
				return err
			}
		}
		r.report.count(func(n *library.ImportCounts) { n.Read += got.bytes })
		switch {
		case got.later:
			r.postpone(got.candidate)
		case got.file != nil:
			select {
			case out <- got:
			case <-ctx.Done():
				return ctx.Err()
			}
		case got.result != "":
			r.report.file(c.path, got.result, got.reason, got.asset)
		}
	}
	return nil
}
