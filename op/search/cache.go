package search

import (
	"fmt"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"vitrine/library"
)

// searchCache is what was found out lately: people type letter by letter, page, and
// search in a usual vocabulary. The zero value is empty.
type searchCache struct {
	once       sync.Once
	vectors    *ttlCache[[]float32]    // of query texts, by configuration and text
	values     *ttlCache[[]fieldValue] // counted, by viewer and what is typed
	knownWords *ttlCache[struct{}]     // that occur among what a viewer may see
	counts     *ttlCache[int64]        // of assets that have a term, by viewer and term
}

// caches returns the memories, made when they are first used. Vectors of a text stay
// what they are; counts are told to be at most 30 seconds old; words go with their
// assets.
func (r *searchCache) caches() *searchCache {
	r.once.Do(func() {
		r.vectors = newTTLCache[[]float32](1000, 0)
		r.values = newTTLCache[[]fieldValue](500, 30*time.Second)
		r.knownWords = newTTLCache[struct{}](20_000, 10*time.Minute)
		r.counts = newTTLCache[int64](50_000, 5*time.Minute)
	})
	return r
}

// ttlCache keeps the values that were used last.
type ttlCache[V any] struct {
	lru *lru.Cache[string, cacheEntry[V]]
	ttl time.Duration // how long a value is good; 0 means as long as it is kept
}

type cacheEntry[V any] struct {
	value V
	since time.Time
}

func newTTLCache[V any](size int, fresh time.Duration) *ttlCache[V] {
	c, err := lru.New[string, cacheEntry[V]](size)
	if err != nil {
		panic(err) // the sizes are constants above 0
	}
	return &ttlCache[V]{c, fresh}
}

func (m *ttlCache[V]) get(key string) (V, bool) {
	r, ok := m.lru.Get(key)
	return r.value, ok && (m.ttl == 0 || time.Since(r.since) < m.ttl)
}

func (m *ttlCache[V]) add(key string, value V) { m.lru.Add(key, cacheEntry[V]{value, time.Now()}) }

// viewerKey tells callers apart who may see different assets.
func viewerKey(actor library.Actor) string {
	return fmt.Sprintf("%s %s %t ", actor.Tenant, actor.ID, actor.SeesAll())
}
