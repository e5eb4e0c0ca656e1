package auth_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"vitrine/auth"
	"vitrine/library"
)

// from authenticates a request of an address.
func (b bench) from(address, key string, headers ...string) *library.Error {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = address
	if key != "" {
		r.Header.Set("X-API-Key", key)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	if _, err := b.Authenticate(r); err != nil {
		return library.AsError(err)
	}
	return nil
}

func TestThrottle_ManyBadKeysOfAnAddressAreAnswered429WithRetryAfter(t *testing.T) {
	t.Parallel()
	b := open(t)
	now := time.Now()
	b.SetClock(func() time.Time { return now })
	good, _ := b.key(t, nil)
	if e := b.from("192.0.2.1:1000", good); e != nil {
		t.Fatal(e)
	}
	other, _ := b.key(t, nil)
	refused := 0
	var last *library.Error
	for i := range 100 {
		key := auth.NewSecret()
		if i%2 == 1 {
			key = "not a key"
		}
		if last = b.from(fmt.Sprintf("192.0.2.1:%d", 1000+i), key); last.Code == library.CodeUnauthenticated {
			refused++
		} else if last.Kind != library.KindRateLimited || last.RetryAfter <= 0 || last.RetryAfter > 5*time.Second {
			t.Fatalf("attempt %d gave %v after %s", i, last, last.RetryAfter)
		}
	}
	if refused != 30 || last.Kind != library.KindRateLimited {
		t.Errorf("%d of 100 bad keys were looked at", refused)
	}
	if e := b.from("192.0.2.1:1", good); e != nil {
		t.Errorf("a good key behind the same address is held back: %v", e)
	}
	if e := b.from("192.0.2.1:1", other); e == nil || e.Kind != library.KindRateLimited {
		t.Errorf("a key that nobody has seen yet gave %v", e)
	}
	if e := b.from("192.0.2.1:1", ""); e == nil || e.Code != library.CodeUnauthenticated {
		t.Errorf("no key at all gave %v", e)
	}
	for _, elsewhere := range []string{"192.0.2.2:1", "[2001:db8::1]:1"} {
		if e := b.from(elsewhere, other); e != nil {
			t.Errorf("%s is held back: %v", elsewhere, e)
		}
	}
	now = now.Add(3 * time.Second)
	if e := b.from("192.0.2.1:1", "not a key"); e.Code != library.CodeUnauthenticated {
		t.Errorf("after a while it gave %v", e)
	}
}

func TestThrottle_CountsAnIPv6NetworkAsOneAndTheProxysClientsApart(t *testing.T) {
	t.Parallel()
	b := open(t)
	now := time.Now()
	b.SetClock(func() time.Time { return now })
	for i := range 30 {
		b.from(fmt.Sprintf("[2001:db8:0:1::%x]:1", i+1), "bad")
	}
	if e := b.from("[2001:db8:0:1:ffff::1]:1", "bad"); e.Kind != library.KindRateLimited {
		t.Errorf("another address of the network gave %v", e)
	}
	if e := b.from("[2001:db8:0:2::1]:1", "bad"); e.Code != library.CodeUnauthenticated {
		t.Errorf("another network gave %v", e)
	}
	for range 40 { // not trusted: all of them are the proxy
		b.from("127.0.0.1:1", "bad", "X-Forwarded-For", "203.0.113.7")
	}
	if e := b.from("127.0.0.1:1", "bad", "X-Forwarded-For", "203.0.113.8"); e.Kind != library.KindRateLimited {
		t.Errorf("a header that is not trusted was believed: %v", e)
	}
	b.TrustProxy = true
	if e := b.from("127.0.0.1:1", "bad", "X-Forwarded-For", "10.0.0.1, 203.0.113.8"); e.Code != library.CodeUnauthenticated {
		t.Errorf("a client of the proxy gave %v", e)
	}
	if e := b.from("192.0.2.9:1", "bad", "X-Forwarded-For", "203.0.113.7"); e.Code != library.CodeUnauthenticated {
		t.Errorf("a header from elsewhere was believed: %v", e)
	}
}

func TestThrottle_RemembersABoundedNumberOfAddresses(t *testing.T) {
	t.Parallel()
	b := open(t)
	for i := range 25_000 {
		b.from(fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255), "bad")
	}
	if n := b.Addresses(); n > 10_000 {
		t.Errorf("%d addresses are remembered", n)
	}
}
