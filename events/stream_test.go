package events_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"vitrine/events"
	"vitrine/library"
	"vitrine/op"
	"vitrine/op/all"
)

// streamServer serves streams to whatever actor a test names.
type streamServer struct {
	*env
	url   string
	actor atomic.Pointer[library.Actor]
}

func newStreamServer(t *testing.T, cfg events.StreamConfig) *streamServer {
	t.Helper()
	s := &streamServer{env: newEnv(t)}
	a := s.env.actor
	a.Permissions = []library.Permission{library.PermRead}
	s.actor.Store(&a)
	cfg.Catalog = all.DocumentedCatalog()
	cfg.Again = func(*http.Request) (library.Actor, error) { return *s.actor.Load(), nil }
	streams := events.NewStreams(s.store, cfg, events.NewMetrics(prometheus.NewRegistry()))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := streams.Serve(w, r, *s.actor.Load()); err != nil {
			op.WriteProblem(w, r, err)
		}
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	s.relay()
	return s
}

// reader reads a stream.
type reader struct {
	t      *testing.T
	lines  *bufio.Scanner
	cancel context.CancelFunc
	id     string // of the last event
}

func (s *streamServer) request(query, lastID string) (*http.Response, context.CancelFunc) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.url+query, nil)
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { cancel(); res.Body.Close() })
	return res, cancel
}

func (s *streamServer) open(query, lastID string) *reader {
	s.Helper()
	res, cancel := s.request(query, lastID)
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		s.Fatalf("the stream answers %s with %s", res.Status, res.Header.Get("Content-Type"))
	}
	return &reader{t: s.T, lines: bufio.NewScanner(res.Body), cancel: cancel}
}

// next returns the next event; ok is false when the stream ends.
func (r *reader) next() (m op.EventMessage, ok bool) {
	r.t.Helper()
	for r.lines.Scan() {
		line := r.lines.Text()
		if id, is := strings.CutPrefix(line, "id: "); is {
			r.id = id
		}
		if data, is := strings.CutPrefix(line, "data: "); is {
			if err := json.Unmarshal([]byte(data), &m); err != nil {
				r.t.Fatalf("%s: %v", data, err)
			}
			return m, true
		}
	}
	return m, false
}

func (r *reader) want(kind, key string) op.EventMessage {
	r.t.Helper()
	m, ok := r.next()
	if !ok || m.Type != kind || m.Key != key {
		r.t.Fatalf("the next event is %+v (%t), want %s of %s", m, ok, kind, key)
	}
	return m
}

func TestStream_ResumesBehindTheLastEventOfItsTenantAlone(t *testing.T) {
	t.Parallel()
	s := newStreamServer(t, events.StreamConfig{Poll: 20 * time.Millisecond})
	before := s.add("before")
	s.eventually(time.Minute, func() string { return noneBut(len(s.logged()), 1) })
	r := s.open("/", "")
	a := s.add("a")
	m := r.want("asset.created", "asset/"+string(a))
	if len(m.Data) == 0 || m.Timestamp == "" {
		t.Errorf("the event is %+v", m)
	}
	r.cancel()

	operation := s.retitle(a, "while nobody reads")
	other := s.env.actor
	other.Tenant = library.TenantID(uuid.NewString())
	s.exec(`INSERT INTO tenants (tenant_id, name) VALUES ($1, 'other')`, string(other.Tenant))
	mine := s.env.actor
	s.env.actor = other
	s.add("of another tenant")
	s.env.actor = mine
	r2 := s.open("/", r.id)
	m = r2.want("asset.updated", "asset/"+string(a))
	var data library.ChangeEvent
	if err := json.Unmarshal(m.Data, &data); err != nil || data.OperationID != operation || len(data.Changed) != 1 || data.Changed[0] != "title" {
		t.Errorf("data %+v, error %v", data, err)
	}
	b := s.add("b")
	r2.want("asset.created", "asset/"+string(b))

	r3 := s.open("/?after=0&types=asset.created", "")
	for _, h := range []library.AssetHash{before, a, b} {
		r3.want("asset.created", "asset/"+string(h))
	}
}

func TestStream_RefusesPositionsThatTheLogDoesNotGoOnFrom(t *testing.T) {
	t.Parallel()
	s := newStreamServer(t, events.StreamConfig{})
	h := s.add("a")
	s.retitle(h, "b")
	s.eventually(time.Minute, func() string { return noneBut(len(s.logged()), 2) })
	log, err := s.store.Events.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.exec(`DELETE FROM events WHERE position = 1`)
	short := log.Epoch[:8]
	for _, c := range []struct {
		query, id string
		status    int
	}{
		{"/", short + ".1", 200}, {"/", short + ".2", 200}, {"/", short + ".0", 410}, {"/", short + ".3", 410}, {"/", "00000000.1", 410},
		{"/", "rubbish", 400}, {"/", short + ".-1", 400}, {"/", short + ".99999999999999999999", 400},
		{"/?after=0", "", 200}, {"/?after=1", "", 200}, {"/?after=9", "", 410}, {"/?after=-1", "", 400}, {"/?after=x", "", 400},
		{"/?types=asset.created,nothing", "", 400}, {"/?types=,", "", 400},
	} {
		res, cancel := s.request(c.query, c.id)
		if res.StatusCode != c.status {
			t.Errorf("%s with id %q answers %d, want %d", c.query, c.id, res.StatusCode, c.status)
		}
		cancel()
	}
}

func TestStream_ATenantHasABoundedNumber(t *testing.T) {
	t.Parallel()
	s := newStreamServer(t, events.StreamConfig{PerTenant: 2, Heartbeat: 20 * time.Millisecond})
	first := s.open("/", "")
	s.open("/", "")
	if res, _ := s.request("/", ""); res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") == "" {
		t.Errorf("a stream too many answers %s", res.Status)
	}
	other := *s.actor.Load()
	other.Tenant = library.TenantID(uuid.NewString())
	mine := s.actor.Swap(&other)
	if res, cancel := s.request("/", ""); res.StatusCode != http.StatusOK {
		t.Errorf("a stream of another tenant answers %s", res.Status)
	} else {
		cancel()
	}
	s.actor.Store(mine)
	first.cancel()
	s.eventually(10*time.Second, func() string {
		res, cancel := s.request("/", "")
		defer cancel()
		if res.StatusCode != http.StatusOK {
			return res.Status
		}
		return ""
	})
}

func TestStream_EndsWithItsCredentialAndWithItsAge(t *testing.T) {
	t.Parallel()
	s := newStreamServer(t, events.StreamConfig{Heartbeat: 20 * time.Millisecond})
	r := s.open("/", "")
	revoked := *s.actor.Load()
	revoked.Permissions = nil
	s.actor.Store(&revoked)
	if m, ok := r.next(); ok {
		t.Errorf("after the revocation comes %+v", m)
	}
	old := newStreamServer(t, events.StreamConfig{MaxAge: 100 * time.Millisecond})
	if m, ok := old.open("/", "").next(); ok {
		t.Errorf("an old stream sends %+v", m)
	}
}

func TestStream_ShowsWhatItsCredentialSeesNow(t *testing.T) {
	t.Parallel()
	s := newStreamServer(t, events.StreamConfig{Heartbeat: 20 * time.Millisecond, Poll: 20 * time.Millisecond})
	admin := library.Actor{Kind: library.ActorKey, ID: "key_of_an_admin", Tenant: s.env.actor.Tenant, Permissions: []library.Permission{library.PermRead, library.PermAdmin}}
	s.actor.Store(&admin)
	r := s.open("/?after=0", "")
	private := s.add("private")
	r.want("asset.created", "asset/"+string(private))
	if _, err := s.store.Assets.Change(t.Context(), s.env.actor, []library.AssetHash{private}, func(a *library.Asset) {
		a.Visibility, a.Owner = library.VisibilityPrivate, "key_of_another"
	}); err != nil {
		t.Fatal(err)
	}
	r.want("asset.updated", "asset/"+string(private))

	member := admin
	member.Permissions = []library.Permission{library.PermRead}
	s.actor.Store(&member)
	for since := time.Now(); time.Since(since) < 200*time.Millisecond && r.lines.Scan(); { // until a heartbeat has looked at the credential
	}
	s.retitle(private, "hidden")
	shown := s.add("shown")
	r.want("asset.created", "asset/"+string(shown))
}

func TestStream_AClientThatDoesNotReadHoldsNothing(t *testing.T) {
	t.Parallel()
	s := newStreamServer(t, events.StreamConfig{PerTenant: 1, SendLimit: 300 * time.Millisecond, Heartbeat: 50 * time.Millisecond})
	h := s.add("a")
	// Events large enough to fill every buffer between here and a client that does not read.
	s.exec(`INSERT INTO events (position, shard, previous, tenant_id, type, key, payload, at)
		SELECT 1000 + n, 15, 999 + n, $1, 'asset.updated', 'asset/x', jsonb_build_object('filler', repeat('x', 20000)), now() FROM generate_series(1, 1500) AS n`, string(s.env.actor.Tenant))
	s.exec(`INSERT INTO event_shards VALUES (15, 2500) ON CONFLICT (shard) DO UPDATE SET position = 2500`)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "GET /?after=0 HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	if res, cancel := s.request("/", ""); res.StatusCode != http.StatusTooManyRequests {
		t.Fatalf("beside the slow reader: %s", res.Status)
	} else {
		cancel()
	}
	s.eventually(20*time.Second, func() string { // the slow one is cut off
		res, cancel := s.request("/", "")
		defer cancel()
		if res.StatusCode != http.StatusOK {
			return res.Status
		}
		return ""
	})
	if err := conn.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	n, err := new(counter).readAll(conn)
	if err == nil || errors.Is(err, context.DeadlineExceeded) || n == 0 {
		t.Errorf("the slow reader got %d bytes, then %v", n, err)
	}
	_ = h
}

type counter struct{ n int }

// readAll counts what a connection brings until its end.
func (c *counter) readAll(conn net.Conn) (int, error) {
	buf := make([]byte, 64<<10)
	for {
		n, err := conn.Read(buf)
		c.n += n
		if err != nil {
			return c.n, err
		}
	}
}
