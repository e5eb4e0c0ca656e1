package store

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"vitrine/store/internal/pg"
)

// A server that is down refuses connections, which is seen at once. One that
// hangs, because its process is stopped or its machine is gone, takes statements and
// never replies. That a statement waits is no proof of it: it may be slow, or wait
// for a lock. What is sent then is a connection's first message, which a healthy
// server answers before it does anything else.
const (
	// askAfter is how long a read waits before its server is asked.
	askAfter = time.Second
	// answerWithin is how long a server that is only busy may take to answer.
	answerWithin = 3 * time.Second
	// askAgain bounds the pause between two questions while a read goes on waiting.
	askAgain = 30 * time.Second
	// retryHanging is how often a server that hangs is asked whether it is back.
	retryHanging = 500 * time.Millisecond
)

// watch dials the connections of the pools and notices when a server hangs: reads
// under way end with pg.ErrHangs, and further statements and connections are refused at
// once until it answers again.
type watch struct {
	ctx    context.Context
	dialer net.Dialer
	asking singleflight.Group

	mu      sync.Mutex
	servers map[string]*server
}

// server is what is known of one address.
type server struct {
	w             *watch
	network, addr string
	hangs         atomic.Bool
}

// newWatch makes a watch whose background work ends with ctx.
func newWatch(ctx context.Context) *watch {
	return &watch{ctx: ctx, dialer: net.Dialer{Timeout: answerWithin, KeepAlive: 30 * time.Second}, servers: map[string]*server{}}
}

func (w *watch) server(network, addr string) *server {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.servers[addr]
	if s == nil {
		s = &server{w: w, network: network, addr: addr}
		w.servers[addr] = s
	}
	return s
}

// dial opens a connection, unless the server is known to hang.
func (w *watch) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	s := w.server(network, addr)
	if s.hangs.Load() {
		return nil, pg.ErrHangs
	}
	raw, err := w.dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c := &watchedConn{Conn: raw, server: s}
	c.timer = time.AfterFunc(time.Hour, c.suspect)
	c.timer.Stop()
	return c, nil
}

// watchedConn is a connection whose reads are watched.
type watchedConn struct {
	net.Conn
	server  *server
	timer   *time.Timer
	waiting atomic.Bool
	pause   atomic.Int64 // before the next question, in nanoseconds
	dropped atomic.Bool  // closed because the server hangs
}

func (c *watchedConn) Read(p []byte) (int, error) {
	c.pause.Store(int64(askAfter))
	c.waiting.Store(true)
	c.timer.Reset(askAfter)
	n, err := c.Conn.Read(p)
	c.waiting.Store(false)
	c.timer.Stop()
	if err != nil && c.dropped.Load() {
		err = pg.ErrHangs
	}
	return n, err
}

func (c *watchedConn) Write(p []byte) (int, error) {
	if c.server.hangs.Load() {
		c.drop()
		return 0, pg.ErrHangs
	}
	return c.Conn.Write(p)
}

func (c *watchedConn) drop() {
	c.dropped.Store(true)
	_ = c.Conn.Close()
}

// suspect asks the server while a read waits, at growing intervals: a session that
// listens for notifications waits for hours.
func (c *watchedConn) suspect() {
	if !c.waiting.Load() {
		return
	}
	if c.server.ask() {
		c.drop()
		return
	}
	if c.waiting.Load() {
		pause := min(2*time.Duration(c.pause.Load()), askAgain)
		c.pause.Store(int64(pause))
		c.timer.Reset(pause)
	}
}

// ask reports whether the server hangs. Those who ask at the same time share the
// question.
func (s *server) ask() bool {
	v, _, _ := s.w.asking.Do(s.addr, func() (any, error) {
		hangs := !s.answers()
		if hangs && s.hangs.CompareAndSwap(false, true) {
			go s.awaitReturn()
		}
		return hangs, nil
	})
	return v.(bool)
}

// awaitReturn asks until the server answers again.
func (s *server) awaitReturn() {
	tick := time.NewTicker(retryHanging)
	defer tick.Stop()
	for {
		select {
		case <-s.w.ctx.Done():
			return
		case <-tick.C:
			if s.answers() {
				s.hangs.Store(false)
				return
			}
		}
	}
}

// sslRequest is the message by which a client asks whether the server speaks TLS.
// It needs no login.
var sslRequest = []byte{0, 0, 0, 8, 4, 210, 22, 47}

// answers reports whether the server replies in time, with whatever it says. One
// that refuses connections does not hang: statements to it fail by themselves.
func (s *server) answers() bool {
	ctx, cancel := context.WithTimeout(s.w.ctx, answerWithin)
	defer cancel()
	conn, err := s.w.dialer.DialContext(ctx, s.network, s.addr)
	if err != nil {
		return !isTimeout(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(answerWithin)); err != nil {
		return true
	}
	if _, err = conn.Write(sslRequest); err == nil {
		_, err = conn.Read(make([]byte, 1))
	}
	return !isTimeout(err)
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}
