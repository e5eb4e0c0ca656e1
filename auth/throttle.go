package auth

import (
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"vitrine/library"
)

const (
	// failuresAtOnce is how many refused credentials an address may send in a row.
	failuresAtOnce = 30
	// failureEvery is how long it takes to be allowed one more.
	failureEvery = 2 * time.Second
	// rememberedAddresses bounds the memory of a throttle: about 100 bytes each.
	rememberedAddresses = 10_000
)

// throttle slows down clients that send one bad credential after the other. It counts
// refusals per address, never successes: a key that is good and remembered is let in
// whatever others behind the same address do.
type throttle struct {
	now  func() time.Time
	mu   sync.Mutex
	seen *lru.Cache[netip.Prefix, failures]
}

// failures is a bucket that fills with refusals and drains with time.
type failures struct {
	count float64
	at    time.Time
}

func newThrottle() *throttle {
	seen, err := lru.New[netip.Prefix, failures](rememberedAddresses)
	if err != nil {
		panic(err) // only a size below one can fail
	}
	return &throttle{now: time.Now, seen: seen}
}

// wait returns how long an address has to wait before its next unknown credential is
// looked at.
func (t *throttle) wait(from netip.Prefix) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	f, ok := t.drained(from)
	if !ok || f.count < failuresAtOnce {
		return 0
	}
	return time.Duration((f.count - failuresAtOnce + 1) * float64(failureEvery))
}

// refusedOne counts a refusal.
func (t *throttle) refusedOne(from netip.Prefix) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f, _ := t.drained(from)
	f.count++
	if f.count >= failuresAtOnce && f.count < failuresAtOnce+1 {
		slog.Warn("an address sends one bad credential after the other and is slowed down", "address", from.String())
	}
	f.at = t.now()
	t.seen.Add(from, f)
}

func (t *throttle) drained(from netip.Prefix) (failures, bool) {
	f, ok := t.seen.Get(from)
	if ok {
		f.count = math.Max(0, f.count-float64(t.now().Sub(f.at))/float64(failureEvery))
	}
	return f, ok
}

// tooMany is the answer to an address that has to wait.
func tooMany(wait time.Duration) error {
	return &library.Error{Kind: library.KindRateLimited, Code: library.CodeRateLimited, RetryAfter: wait,
		Detail: fmt.Sprintf("Too many bad credentials came from this address. Wait %d seconds, and check the key.", int(math.Ceil(wait.Seconds())))}
}

// clientAddress is the network a request comes from: one IPv4 address or one /64 of
// IPv6, which is what one client has. Behind a reverse proxy on this machine it is what the proxy
// added last to X-Forwarded-For, where the configuration trusts it.
func clientAddress(r *http.Request, trustProxy bool) netip.Prefix {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Prefix{}
	}
	if trustProxy && ip.Unmap().IsLoopback() {
		sent := r.Header.Values("X-Forwarded-For")
		if len(sent) > 0 {
			last := sent[len(sent)-1]
			if forwarded, err := netip.ParseAddr(strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])); err == nil {
				ip = forwarded
			}
		}
	}
	ip = ip.Unmap().WithZone("")
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	prefix, _ := ip.Prefix(bits) // these lengths always fit
	return prefix
}
