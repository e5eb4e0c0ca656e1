package run

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"vitrine/internal/opensearch"
	"vitrine/internal/panics"
	"vitrine/library"
	"vitrine/mappings"
)

// An index that is not the library's answers too: one that OpenSearch or somebody
// else made under the same name finds nothing, without an error. So a searcher asks
// beside its searches, once in a while, what stands behind the alias.

// indexState is what was last found behind the alias.
type indexState struct {
	incomplete bool                      // it lacks documents and says so
	own        map[library.TenantID]bool // who is searched in another index
	wrongIndex error                     // an error: it is no index of ours
	unknown    bool                      // there was no answer; a search that has one is believed
}

// indexStateCache reads the state of the index and remembers it for mappings.MetaTTL.
type indexStateCache struct {
	client *opensearch.Client
	names  mappings.IndexNames
	alias  string

	mu      sync.Mutex
	known   indexState
	read    time.Time
	heard   time.Time // when it last said who is searched elsewhere
	own     map[library.TenantID]bool
	reading *stateRequest
}

// stateRequest is a question that is under way; all who come meanwhile share it.
type stateRequest struct {
	done  chan struct{}
	state indexState
}

// errUnheard is why nothing is searched while it is not known where.
var errUnheard = errors.New("the shared index does not say whose assets are elsewhere")

// stateTimeout ends a question that gets no answer. It is not one caller's alone.
const stateTimeout = 5 * time.Second

// begin returns what is known while it is fresh, or else a question under way.
func (s *indexStateCache) begin(ctx context.Context, fresh time.Duration) (indexState, *stateRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.read) < fresh {
		return s.known, nil
	}
	if s.reading == nil {
		r := &stateRequest{done: make(chan struct{})}
		s.reading = r
		go s.ask(context.WithoutCancel(ctx), r)
	}
	return indexState{}, s.reading
}

func (s *indexStateCache) ask(ctx context.Context, r *stateRequest) {
	ctx, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	at := time.Now()
	r.state = indexState{unknown: true}
	_ = panics.Try(func() error { r.state = s.lookUp(ctx); s.moveOver(ctx, &r.state); return nil }) // unknown stays
	s.mu.Lock()
	s.reading = nil
	if r.state.unknown || r.state.wrongIndex != nil { // this is not remembered: it may end at any moment
		at = time.Time{}
	}
	s.known, s.read = r.state, at
	if !r.state.unknown && r.state.wrongIndex == nil {
		s.heard, s.own = at, r.state.own
	}
	s.mu.Unlock()
	close(r.done)
}

// moveOver makes the own indices of tenants that have just moved show all that the
// shared one showed: documents are written to them first, but seen later.
func (s *indexStateCache) moveOver(ctx context.Context, now *indexState) {
	s.mu.Lock()
	before, first := s.own, s.heard.IsZero()
	s.mu.Unlock()
	for tenant := range now.own {
		if first || before[tenant] {
			continue
		}
		if err := opensearch.Call(ctx, s.client, http.MethodPost, "/"+s.names.Own(tenant).Alias()+"/_refresh", nil, nil); err != nil {
			*now = indexState{unknown: true}
			return
		}
	}
}

// wait returns the answer to a question.
func (r *stateRequest) wait(ctx context.Context) indexState {
	select {
	case <-r.done:
		return r.state
	case <-ctx.Done():
		return indexState{unknown: true}
	}
}

const stateQuery = "filter_path=*.mappings.dynamic,*.mappings._meta,*.mappings.properties.tenant_id.type,*.mappings.properties.asset_h.type," +
	"*.mappings.properties.doc_version.type,*.mappings.properties.deleted.type"

// lookUp asks what the alias points at.
func (s *indexStateCache) lookUp(ctx context.Context) indexState {
	var found map[string]struct {
		Mappings mappings.IndexMapping `json:"mappings"`
	}
	if err := opensearch.Call(ctx, s.client, http.MethodGet, "/"+s.alias+"/_mapping?"+stateQuery, nil, &found); err != nil {
		return indexState{unknown: true}
	}
	var out indexState
	for name, d := range found {
		misfit := mappings.AssetIndex().Mismatch(d.Mappings)
		if len(found) > 1 {
			misfit = "the alias points at several indices"
		}
		if name == s.alias {
			misfit = "it is no alias"
		}
		if misfit != "" {
			return indexState{wrongIndex: notOurIndex(misfit)}
		}
		out.incomplete = d.Mappings.Meta.Vitrine.Incomplete
		out.own = make(map[library.TenantID]bool, len(d.Mappings.Meta.Vitrine.Own))
		for _, t := range d.Mappings.Meta.Vitrine.Own {
			out.own[t] = true
		}
	}
	if len(found) == 0 { // an index without any mapping
		return indexState{wrongIndex: notOurIndex("it has no mapping")}
	}
	return out
}

// notOurIndex is the error that the alias leads to something else.
func notOurIndex(misfit string) error {
	return &library.Error{Kind: library.KindUnavailable, Code: library.CodeIndexUnavailable, RetryAfter: 2 * time.Second,
		Detail: "The search index is being repaired. Repeat the search in a moment; reading and storing assets still work.",
		Cause:  errors.New("what stands under the alias is not the index: " + misfit)}
}

// call sends a request that reads the index, and asks beside it whether it is the
// library's.
func (s *Searcher) call(ctx context.Context, tenant library.TenantID, method, path string, body, out any) error {
	p := s.home(tenant)
	known, asked := p.states.begin(ctx, mappings.MetaTTL)
	err := opensearch.Call(ctx, s.client, method, path, body, out)
	if asked != nil {
		known = asked.wait(ctx)
	}
	if known.wrongIndex != nil {
		return known.wrongIndex
	}
	var refused *opensearch.ResponseError
	switch {
	case !errors.As(err, &refused):
		return err
	case cancelled(refused):
		return tooSlow()
	case refused.Status >= http.StatusInternalServerError:
		return err
	}
	if foreign := p.wrongIndex(ctx); foreign != nil {
		return foreign
	}
	return beyond(refused)
}

// cancelled reports whether the index gave up a search because of its time. It does
// not always say why.
func cancelled(r *opensearch.ResponseError) bool {
	return strings.Contains(r.Reason, "task_cancelled_exception") || strings.Contains(r.Reason, "cancelled task") ||
		r.Type == "search_phase_execution_exception" && r.Reason == "" && r.Status == http.StatusInternalServerError
}

// beyond turns the refusal of a pattern or a query that the index finds too large
// into what its author may know. The limits of the query language keep most of them
// away; what a pattern costs depends on how its characters repeat.
func beyond(r *opensearch.ResponseError) error {
	for _, said := range []string{"Determinizing automaton", "too complex to determinize", "max_regex_length", "axClauseCount", "max_clause_count", "too_many_clauses"} {
		if strings.Contains(r.Reason, said) {
			return &library.Error{Kind: library.KindInvalid, Code: library.CodeQueryTooComplex, Cause: r,
				Detail: "A word or value of the query makes a pattern that is too complex for the index. Use fewer wildcards, or shorter words."}
		}
	}
	return r
}

// wrongIndex is the error that the index behind the alias is none of ours, as of now:
// then a refusal is no defect of the request.
func (p *home) wrongIndex(ctx context.Context) error {
	if _, asked := p.states.begin(ctx, 0); asked != nil {
		return asked.wait(ctx).wrongIndex
	}
	return nil
}

// verifyIndex fails where answers find nothing, or one is a refusal, because the index is
// none of ours: an index without our mapping gives no others.
func (s *Searcher) verifyIndex(ctx context.Context, tenant library.TenantID, answers ...msearchItem) error {
	doubtful := true
	for _, a := range answers {
		if a.Error != nil {
			doubtful = true
			break
		}
		doubtful = doubtful && a.Total == 0 && len(a.Hits) == 0
	}
	if !doubtful {
		return nil
	}
	return s.home(tenant).wrongIndex(ctx)
}

// Incomplete reports whether the index lacks documents for now, because it had to be
// made anew or compared with the library. It is what the last search went by.
func (s *Searcher) Incomplete(tenant library.TenantID) bool {
	p := s.home(tenant)
	p.states.mu.Lock()
	defer p.states.mu.Unlock()
	return p.states.known.incomplete
}
