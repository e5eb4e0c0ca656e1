package events

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"vitrine/internal/retry"
	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

// StreamConfig bounds event streams. The zero value of every field but Catalog is useful.
type StreamConfig struct {
	Catalog   op.Catalog                                   // whose event types may be asked for
	Again     func(r *http.Request) (library.Actor, error) // authenticates a request again while its stream is open; may be nil
	PerTenant int                                          // streams of one tenant in this process; 0 means 20
	Heartbeat time.Duration                                // how often a quiet stream sends a comment; 0 means 15 s
	MaxAge    time.Duration                                // when a stream ends and the client connects again; 0 means 10 min
	SendLimit time.Duration                                // how long a client may take to read one batch; 0 means 30 s
	Poll      time.Duration                                // how often the log is looked at while there are streams; 0 means 250 ms
}

// Streams serves the log of events as server-sent events.
type Streams struct {
	cfg     StreamConfig
	store   *store.Store
	metrics *Metrics

	mu     sync.Mutex
	open   map[library.TenantID]int
	total  int
	epoch  string
	newest int64
	moved  chan struct{} // closed when newest or epoch has changed
	stop   context.CancelFunc
}

// NewStreams returns the streams of a process.
func NewStreams(st *store.Store, cfg StreamConfig, m *Metrics) *Streams {
	setDefault(&cfg.PerTenant, 20)
	setDefault(&cfg.Heartbeat, 15*time.Second)
	setDefault(&cfg.MaxAge, 10*time.Minute)
	setDefault(&cfg.SendLimit, 30*time.Second)
	setDefault(&cfg.Poll, 250*time.Millisecond)
	return &Streams{cfg: cfg, store: st, metrics: m, open: map[library.TenantID]int{}, moved: make(chan struct{})}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// codePositionExpired is the code of a position that the log does not have any more.
const codePositionExpired = "POSITION_EXPIRED"

// Serve answers a request with the events of the actor's tenant until the client goes,
// does not read, or the stream is old.
func (s *Streams) Serve(w http.ResponseWriter, r *http.Request, actor library.Actor) error {
	types, err := s.types(r)
	if err != nil {
		return err
	}
	log, err := s.store.Events.State(r.Context())
	if err != nil {
		return err
	}
	after, err := startOf(r, log)
	if err != nil {
		return err
	}
	if err := s.enter(actor.Tenant); err != nil {
		return err
	}
	defer s.leave(actor.Tenant)
	ctx, cancel := context.WithTimeout(r.Context(), s.cfg.MaxAge)
	defer cancel()
	out := &stream{s: s, r: r, w: w, control: http.NewResponseController(w), epoch: log.Epoch, actor: actor, types: types, after: after}
	out.run(ctx)
	return nil
}

// types reads the types that a request wants; nil means all.
func (s *Streams) types(r *http.Request) ([]string, error) {
	asked := r.URL.Query().Get("types")
	if asked == "" {
		return nil, nil
	}
	list := strings.Split(asked, ",")
	for _, name := range list {
		if _, known := s.cfg.Catalog.EventType(name); !known {
			var all []string
			for _, e := range s.cfg.Catalog.Events {
				all = append(all, e.Name)
			}
			slices.Sort(all)
			return nil, library.Invalid(library.FieldError{Field: "types", Code: "enum", Message: "It names an event type that does not exist.",
				Hint: "Event types are " + strings.Join(all, ", ") + "; separate several by commas."})
		}
	}
	return list, nil
}

// startOf returns the position behind which a stream begins.
func startOf(r *http.Request, log store.EventLog) (int64, error) {
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		epoch, number, _ := strings.Cut(id, ".")
		position, err := strconv.ParseInt(number, 10, 64)
		switch {
		case err != nil || position < 0:
			return 0, library.Invalid(library.FieldError{Field: "Last-Event-ID", Code: "pattern", Message: "It is not the id of an event.", Hint: "Send the id of the last event that you read, or leave it out."})
		case epoch != shortEpoch(log.Epoch) || position > log.Newest || position+1 < log.Oldest:
			return 0, expired()
		}
		return position, nil
	}
	after := r.URL.Query().Get("after")
	if after == "" {
		return log.Newest, nil
	}
	position, err := strconv.ParseInt(after, 10, 64)
	switch {
	case err != nil || position < 0:
		return 0, library.Invalid(library.FieldError{Field: "after", Code: "pattern", Message: "It is not a position.", Hint: "Positions are whole numbers from 0; 0 begins with the oldest event that is kept."})
	case position == 0:
		return log.Oldest - 1, nil
	case position > log.Newest || position+1 < log.Oldest:
		return 0, expired()
	}
	return position, nil
}

func expired() error {
	return library.NewError(library.KindGone, codePositionExpired,
		"The log does not go on from this position: events are kept for 30 days, and a restored database begins a new log. Read again what you need, then connect without a position.")
}

func shortEpoch(epoch string) string { return epoch[:min(8, len(epoch))] }

func (s *Streams) enter(tenant library.TenantID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[tenant] >= s.cfg.PerTenant {
		return &library.Error{Kind: library.KindRateLimited, Code: library.CodeRateLimited, RetryAfter: 10 * time.Second,
			Detail: fmt.Sprintf("This tenant has %d open event streams, the maximum. Close one, or ask for several types in one stream.", s.cfg.PerTenant)}
	}
	s.open[tenant]++
	if s.total++; s.total == 1 {
		ctx, stop := context.WithCancel(context.Background())
		s.stop = stop
		go s.follow(ctx)
	}
	s.metrics.streams.Set(float64(s.total))
	return nil
}

func (s *Streams) leave(tenant library.TenantID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[tenant]--; s.open[tenant] == 0 {
		delete(s.open, tenant)
	}
	if s.total--; s.total == 0 {
		s.stop()
	}
	s.metrics.streams.Set(float64(s.total))
}

// follow looks at the log for all streams of the process while there are some.
func (s *Streams) follow(ctx context.Context) {
	for ctx.Err() == nil {
		if log, err := s.store.Events.State(ctx); err == nil {
			s.mu.Lock()
			if log.Newest != s.newest || log.Epoch != s.epoch {
				s.newest, s.epoch = log.Newest, log.Epoch
				close(s.moved)
				s.moved = make(chan struct{})
			}
			s.mu.Unlock()
		}
		_ = retry.Sleep(ctx, s.cfg.Poll)
	}
}

// state returns what follow saw last, and a channel that is closed when it sees more.
func (s *Streams) state() (epoch string, moved <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.epoch, s.moved
}

// stream is one open stream.
type stream struct {
	s       *Streams
	r       *http.Request
	w       http.ResponseWriter
	control *http.ResponseController
	epoch   string
	actor   library.Actor
	types   []string
	after   int64
}

// streamBatch is how many events are read and sent at once.
const streamBatch = 200

// begin sends the header, and when to connect again.
func (t *stream) begin() error {
	h := t.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // proxies pass each event on at once
	return t.send("retry: 2000\n\n")
}

func (t *stream) run(ctx context.Context) {
	if t.begin() != nil {
		return
	}
	beat := time.NewTicker(t.s.cfg.Heartbeat)
	defer beat.Stop()
	for {
		epoch, moved := t.s.state() // before the read: what comes after it wakes
		if epoch != "" && epoch != t.epoch {
			return // the database was restored: the client learns so when it connects again
		}
		full, err := t.sendNew(ctx)
		if err != nil {
			return
		}
		if full {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-moved:
		case <-beat.C:
			if !t.stillMay() || t.send(": nothing new\n\n") != nil {
				return
			}
		}
	}
}

// sendNew sends the next events and reports whether there may be more.
func (t *stream) sendNew(ctx context.Context) (full bool, err error) {
	list, err := t.s.store.Events.After(ctx, t.actor, t.after, t.types, streamBatch)
	if err != nil || len(list) == 0 {
		return false, err
	}
	var b strings.Builder
	for _, e := range list {
		data, err := json.Marshal(op.EventMessage{Position: e.Position, Type: e.Type, Timestamp: e.At.UTC().Format(time.RFC3339Nano), Key: e.Key, Data: e.Payload})
		if err != nil {
			return false, err
		}
		fmt.Fprintf(&b, "id: %s.%d\ndata: %s\n\n", shortEpoch(t.epoch), e.Position, data)
	}
	t.after = list[len(list)-1].Position
	return len(list) == streamBatch, t.send(b.String())
}

// send writes to a client that must read within SendLimit.
func (t *stream) send(text string) error {
	if err := t.control.SetWriteDeadline(time.Now().Add(t.s.cfg.SendLimit)); err != nil {
		return err
	}
	if _, err := t.w.Write([]byte(text)); err != nil {
		return err
	}
	return t.control.Flush()
}

// stillMay reports whether the caller's credential is still good for the stream. From
// then on the stream shows what the caller sees now.
func (t *stream) stillMay() bool {
	if t.s.cfg.Again == nil {
		return true
	}
	actor, err := t.s.cfg.Again(t.r)
	if err != nil || actor.Tenant != t.actor.Tenant || !actor.Can(library.PermRead) {
		return false
	}
	t.actor = actor
	return true
}
