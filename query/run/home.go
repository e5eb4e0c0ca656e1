package run

import (
	"context"
	"strconv"
	"sync"
	"time"

	"vitrine/internal/opensearch"
	"vitrine/library"
	"vitrine/mappings"
)

// Searcher asks the index that tenants share, and for a large tenant its own. It is
// safe for concurrent use.
type Searcher struct {
	client  *opensearch.Client
	names   mappings.IndexNames
	shared  *home
	prompts string // the alias of the index of prompts
	// prospects is the alias of the index of prospects.
	prospects string

	embedded embeddedCounts
	limit    time.Duration // after which a search is stopped

	mu  sync.Mutex
	own map[library.TenantID]*home // those that were asked
}

// home is one index by the alias that it is read by, and what is remembered of it.
type home struct {
	alias   string
	vectors vectorFields
	states  indexStateCache
}

// DefaultTimeLimit is how long OpenSearch looks for what a search finds, and MaxTimeLimit the longest that can be set.
const (
	DefaultTimeLimit = 2 * time.Second
	MaxTimeLimit     = 20 * time.Second
)

// limited returns the body of a search with the time limit in it.
func (s *Searcher) limited(body map[string]any) map[string]any {
	body["timeout"] = milliseconds(s.limit)
	return body
}

// cancelAfter is when OpenSearch gives up a request; it stops collecting earlier.
func (s *Searcher) cancelAfter() string { return milliseconds(s.limit + time.Second) }

// milliseconds writes a time as OpenSearch reads it.
func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) + "ms" }

// New returns a searcher on the indices that the deployment's aliases point at. It stops searches after
// limit, at most MaxTimeLimit; 0 means DefaultTimeLimit.
func New(client *opensearch.Client, prefix string, limit time.Duration) *Searcher {
	if limit <= 0 {
		limit = DefaultTimeLimit
	}
	s := &Searcher{client: client, names: mappings.Names(prefix), prompts: mappings.PromptIndex().Names(prefix).Alias(),
		prospects: mappings.ProspectIndex().Names(prefix).Alias(), own: map[library.TenantID]*home{}, limit: min(limit, MaxTimeLimit)}
	s.shared = s.newHome(s.names.Alias())
	return s
}

func (s *Searcher) newHome(alias string) *home {
	return &home{alias: alias, states: indexStateCache{client: s.client, names: s.names, alias: alias}}
}

// home returns where a tenant's assets are, as was last heard.
func (s *Searcher) home(tenant library.TenantID) *home {
	s.shared.states.mu.Lock()
	elsewhere := s.shared.states.own[tenant]
	s.shared.states.mu.Unlock()
	if !elsewhere {
		return s.shared
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.own[tenant]
	if p == nil {
		p = s.newHome(s.names.Own(tenant).Alias())
		s.own[tenant] = p
	}
	return p
}

// Index names the index that a tenant's assets are in, for queries that look a
// document up on the way, and reports whether other tenants' are in it too. What it
// says is at most mappings.OwnTTL old: where that cannot be had, the fault is that
// the index is unavailable, because the wrong index would find nothing.
func (s *Searcher) Index(ctx context.Context, tenant library.TenantID) (alias string, shared bool, err error) {
	_, asked := s.shared.states.begin(ctx, mappings.MetaTTL)
	if asked != nil && s.shared.states.heardBefore(mappings.OwnTTL) {
		answer := asked.wait(ctx)
		switch {
		case answer.wrongIndex != nil:
			return "", false, answer.wrongIndex
		case answer.unknown && s.shared.states.heardBefore(mappings.OwnTTL):
			return "", false, opensearch.Unavailable(errUnheard)
		}
	}
	p := s.home(tenant)
	return p.alias, p == s.shared, nil
}

// heardBefore reports whether the index last said longer ago than this who is searched
// elsewhere.
func (s *indexStateCache) heardBefore(age time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.heard) > age
}
