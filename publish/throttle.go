package publish

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

const (
	// wrongAtOnce is how many wrong passwords a page takes from one address in a row.
	wrongAtOnce = 8
	// wrongEvery is how long it takes until one more is taken.
	wrongEvery = 15 * time.Second
	// fromAll is how many addresses may guess a page's password as fast as one may: whoever has
	// many addresses gains no more than that.
	fromAll = 10
)

// throttle slows down who guesses passwords, by page and address and by page. Each process has
// its own.
type throttle struct {
	mu   sync.Mutex
	seen *lru.Cache[string, bucket]
	now  func() time.Time
}

// bucket fills with passwords and drains with time.
type bucket struct {
	count float64
	at    time.Time
}

func newThrottle() *throttle {
	seen, err := lru.New[string, bucket](10_000)
	if err != nil {
		panic(err) // only a size below one can fail
	}
	return &throttle{seen: seen, now: time.Now}
}

// take counts a password that is about to be compared as a wrong one. Where too many were wrong
// it counts nothing, and returns how long the address has to wait.
func (t *throttle) take(page, address string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	one, all := t.drained(page+"|"+address, 1), t.drained(page, fromAll)
	if wait := max(left(one, 1), left(all, fromAll)); wait > 0 {
		return wait
	}
	t.add(page, address, 1)
	return 0
}

// giveBack takes back what take counted: the password was right.
func (t *throttle) giveBack(page, address string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(page, address, -1)
}

func (t *throttle) add(page, address string, n float64) {
	t.seen.Add(page+"|"+address, bucket{max(0, t.drained(page+"|"+address, 1)+n), t.now()})
	t.seen.Add(page, bucket{max(0, t.drained(page, fromAll)+n), t.now()})
}

// left is how long a bucket that is full needs to take one more; share is how many times more
// than that of one address it holds, and how many times faster it drains.
func left(count, share float64) time.Duration {
	if over := count - share*wrongAtOnce + 1; over > 0 {
		return time.Duration(over * float64(wrongEvery) / share)
	}
	return 0
}

func (t *throttle) drained(key string, share float64) float64 {
	b, _ := t.seen.Get(key)
	return max(0, b.count-float64(t.now().Sub(b.at))/float64(wrongEvery)*share)
}
