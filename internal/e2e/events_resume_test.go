package e2e

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"

	"vitrine/api/client"
	"vitrine/internal/nodetest"
	"vitrine/service/servicetest"
)

//go:embed testdata/eventsource.mjs
var eventSource []byte

// TestEvents_AnEventSourceMissesNothingAndGetsNothingTwice has a client that we did not write read the stream
// while its connection is cut and the service is killed and started again.
func TestEvents_AnEventSourceMissesNothingAndGetsNothingTwice(t *testing.T) {
	t.Parallel()
	k := newKilled(t)
	p := serve(t, k.cfg, "")
	line := newCuttable(t, k.cfg.Listen)
	var want []string
	store := func() {
		t.Helper()
		out, err := k.store(picture(3000+len(want), ""))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, "asset/"+out.Asset.AssetH)
	}
	store()
	printed := make(chan []byte, 1)
	go func() {
		defer close(printed)
		printed <- nodetest.Run(t, "mcp-client-typescript", eventSource, nil, "KEY="+k.api.Key, "URL=http://"+line.address()+"/api/v1/events?after=0&types=asset.created,collection.created")
	}()
	for n := range 4 {
		store()
		line.awaitPassed(want[len(want)-1])
		switch n {
		case 0, 1:
			line.cut()
		case 2:
			p.kill()
			p = serve(t, k.cfg, "")
		}
		store() // while nobody is connected
	}
	if _, err := k.api.CreateCollection(t.Context(), client.CreateCollectionInput{Name: "The end"}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Opened int
		Seen   []struct{ ID, Type, Key string }
	}
	if out := <-printed; json.Unmarshal(out, &got) != nil {
		t.Fatalf("it printed %q", out)
	}
	p.stop()
	var keys, ids []string
	for _, m := range got.Seen[:max(0, len(got.Seen)-1)] {
		keys, ids = append(keys, m.Key), append(ids, m.ID)
	}
	slices.Sort(ids)
	if !slices.Equal(keys, want) || len(slices.Compact(ids)) != len(keys) || got.Opened < 4 {
		t.Errorf("over %d connections it read\n%v\nwant\n%v", got.Opened, keys, want)
	}
}

// cuttable passes connections on to an address, and cuts them.
type cuttable struct {
	t      *testing.T
	listen net.Listener
	mu     sync.Mutex
	open   []net.Conn
	passed bytes.Buffer // to clients
}

func newCuttable(t *testing.T, to string) *cuttable {
	t.Helper()
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cuttable{t: t, listen: listen}
	t.Cleanup(func() { listen.Close(); c.cut() })
	go func() {
		for {
			in, err := listen.Accept()
			if err != nil {
				return
			}
			go c.pass(in, to)
		}
	}()
	return c
}

func (c *cuttable) address() string { return c.listen.Addr().String() }

func (c *cuttable) pass(in net.Conn, to string) {
	defer in.Close()
	out, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer out.Close()
	c.mu.Lock()
	c.open = append(c.open, in, out)
	c.mu.Unlock()
	go func() { _, _ = io.Copy(out, in) }()
	_, _ = io.Copy(io.MultiWriter(in, c), out)
}

// Write notes what was passed on.
func (c *cuttable) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.passed.Write(p)
}

// cut closes every connection.
func (c *cuttable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.open {
		_ = conn.Close()
	}
	c.open = nil
}

// awaitPassed waits until a text was passed on.
func (c *cuttable) awaitPassed(text string) {
	c.t.Helper()
	servicetest.Eventually(c.t, "the client is sent "+text, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !bytes.Contains(c.passed.Bytes(), []byte(text)) {
			return fmt.Errorf("of %d bytes", c.passed.Len())
		}
		return nil
	})
}
