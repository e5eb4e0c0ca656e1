package run

import (
	"context"
	"sync"
	"time"

	"vitrine/library"
	"vitrine/mappings"
)

// How long a count of documents without a vector is believed: until anotherCount without
// asking, until staleCount while it is asked for again.
const (
	anotherCount = 3 * time.Second
	staleCount   = 15 * time.Second
)

// Embedded is how far the index of a tenant's assets is with its vectors.
type Embedded struct {
	Done, All int64 // assets that can be found by meaning, or have nothing to embed; and all of them
}

// Share returns Done as a share of All, from 0 to 1. A library without assets lacks nothing.
func (e Embedded) Share() float64 {
	if e.All == 0 {
		return 1
	}
	return float64(e.Done) / float64(e.All)
}

// embeddedCounts remembers what was counted last, by tenant and embedding configuration.
type embeddedCounts struct {
	mu    sync.Mutex
	known map[string]*embeddedCount
}

type embeddedCount struct {
	Embedded
	at      time.Time
	running bool
}

// Embedded counts how many of a tenant's assets have been embedded under a configuration.
// The answer may be some seconds old, so that searches need not wait for it.
func (s *Searcher) Embedded(ctx context.Context, tenant library.TenantID, config string) (Embedded, error) {
	c := &s.embedded
	c.mu.Lock()
	if c.known == nil {
		c.known = map[string]*embeddedCount{}
	}
	key := string(tenant) + " " + config
	known := c.known[key]
	if known == nil {
		known = &embeddedCount{}
		c.known[key] = known
	}
	last, age := known.Embedded, time.Since(known.at)
	ask := age > anotherCount && !known.running
	known.running = known.running || ask
	c.mu.Unlock()
	count := func(ctx context.Context) (Embedded, error) {
		now, err := s.countEmbedded(ctx, tenant, config)
		c.mu.Lock()
		defer c.mu.Unlock()
		known.running = false
		if err == nil {
			known.Embedded, known.at = now, time.Now()
		}
		return now, err
	}
	switch {
	case age > staleCount && ask:
		return count(ctx)
	case ask:
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), staleCount) // for the searches to come
			defer cancel()
			_, _ = count(ctx) // the next search tries again
		}()
	case age > staleCount: // another search is the first to count
		return s.countEmbedded(ctx, tenant, config)
	}
	return last, nil
}

func (s *Searcher) countEmbedded(ctx context.Context, tenant library.TenantID, config string) (Embedded, error) {
	type m = map[string]any
	exists := func(field string) m { return m{"exists": m{"field": field}} }
	count := func(not ...m) map[string]any {
		return m{"size": 0, "track_total_hits": true, "timeout": "2s",
			"query": m{"bool": m{"filter": []m{{"term": m{"tenant_id": string(tenant)}}}, "must_not": append(not, m{"term": m{"deleted": true}})}}}
	}
	parts, err := s.msearch(ctx, tenant, "", count(), count(exists(mappings.EmbeddedField), exists(mappings.VectorField(config))))
	if err != nil {
		return Embedded{}, err
	}
	for i := range parts {
		if err := parts[i].err(""); err != nil {
			return Embedded{}, err
		}
	}
	return Embedded{Done: parts[0].Total - parts[1].Total, All: parts[0].Total}, nil
}
