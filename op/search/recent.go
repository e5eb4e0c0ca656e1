package search

import (
	"fmt"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"vitrine/library"
)

// recent is what was found out lately: people type letter by letter, page, and
// search in a usual vocabulary. The zero value is empty.
type recent struct {
	once    sync.Once
	vectors *memory[[]float32]    // of query texts, by configuration and text
	values  *memory[[]fieldValue] // counted, by viewer and what is typed
	words   *memory[struct{}]     // that occur among what a viewer may see
}

// open gives the memories, made when they are first used. Vectors of a text stay
// what they are; counts are told to be at most 30 seconds old; words go with their
// assets.
func (r *recent) open() *recent {
	r.once.Do(func() {
		r.vectors = newMemory[[]float32](1000, 0)
		r.values = newMemory[[]fieldValue](500, 30*time.Second)
		r.words = newMemory[struct{}](20_000, 10*time.Minute)
	})
	return r
}

// memory keeps the values that were used last.
type memory[V any] struct {
	lru   *lru.Cache[string, remembered[V]]
	fresh time.Duration // how long a value is good; 0 means as long as it is kept
}

type remembered[V any] struct {
	value V
	since time.Time
}

func newMemory[V any](size int, fresh time.Duration) *memory[V] {
	c, err := lru.New[string, remembered[V]](size)
	if err != nil {
		panic(err) // the sizes are constants above 0
	}
	return &memory[V]{c, fresh}
}

func (m *memory[V]) get(key string) (V, bool) {
	r, ok := m.lru.Get(key)
	return r.value, ok && (m.fresh == 0 || time.Since(r.since) < m.fresh)
}

func (m *memory[V]) add(key string, value V) { m.lru.Add(key, remembered[V]{value, time.Now()}) }

// viewer tells callers apart who may see different assets.
func viewer(actor library.Actor) string {
	return fmt.Sprintf("%s %s %t ", actor.Tenant, actor.ID, actor.Can(library.PermAdmin))
}
