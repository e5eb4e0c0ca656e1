package search

import (
	"context"
	"strings"

	"vitrine/library"
	"vitrine/op"
	"vitrine/query"
	"vitrine/query/run"
)

type searchInput struct {
	op.TenantInput
	Query       string        `json:"query,omitempty" id:"query" doc:"Empty lists everything, newest first."`
	SearchMode  string        `json:"search_mode,omitempty" enum:"exact,partial,fuzzy,fulltext,boolean,smart" default:"smart" doc:"exact: whole values; partial: parts of names; fuzzy: misspellings; boolean: strict syntax; smart: words and meaning."`
	QueryVector []float64     `json:"query_vector,omitempty" maxItems:"4096" doc:"Instead of query. Its dimensions are those of the embedding configuration."`
	SimilarTo   string        `json:"similar_to_asset_h,omitempty" id:"asset" pattern:"^[0-9a-fA-F]{40}$" patternDescription:"a SHA-1 of 40 hex digits" doc:"Finds assets described alike."`
	Embedding   string        `json:"embedding_configuration_h,omitempty" id:"none" maxLength:"40" doc:"Required with query_vector. With similar_to_asset_h the active one is the default."`
	Filters     *filtersInput `json:"filters,omitempty" tool:"open" doc:"tags (all of them), status, mime_type (image/png or image/*), created_after, created_before. In addition to query."`
	OrderBy     string        `json:"order_by,omitempty" enum:"relevance,created,updated,title,filename,status,position,rating,size,width,height,megapixels,duration,steps,cfg,seed" default:"relevance" doc:"The order. relevance means newest first if the query has no words to rank by. position needs one collection:=path in the query."`
	Order       string        `json:"order,omitempty" enum:"asc,desc" doc:"Default: asc for names, else desc."`
	PageInput
}

// PageInput is embedded by inputs whose answer is a page of what a search finds.
type PageInput struct {
	Limit         int    `json:"limit,omitempty" minimum:"1" maximum:"100" default:"20" doc:"The page size."`
	Offset        int    `json:"offset,omitempty" minimum:"0" maximum:"10000" default:"0" doc:"Results to skip."`
	Cursor        string `json:"cursor,omitempty" id:"cursor" maxLength:"65536" doc:"* first, then next_cursor. Pages by cursor do not shift while the library changes."`
	IncludeScore  *bool  `json:"include_score,omitempty" default:"true" tool:"plain" doc:"Adds relevance_score."`
	Highlight     bool   `json:"highlight,omitempty" tool:"-" doc:"Adds highlights. They are places in title, description and prompt that match."`
	MinIndexToken string `json:"min_index_token,omitempty" id:"index_token" maxLength:"64" doc:"index_token of a write to wait for."`
	op.FormatInput
}

// Validate implements op.Validator.
func (in *searchInput) Validate() []library.FieldError {
	var errs []library.FieldError
	if in.Query != "" && len(in.QueryVector) > 0 {
		errs = append(errs, library.FieldError{Field: "query_vector", Code: "conflict", Message: "query and query_vector exclude each other."})
	}
	if len(in.QueryVector) > 0 && in.Embedding == "" {
		errs = append(errs, library.FieldError{Field: "embedding_configuration_h", Code: "required",
			Message: "It is required with query_vector: a vector means something under the configuration that made it.", Hint: "GetAssetDetails returns it as embedding.configurations."})
	}
	if len(in.QueryVector) > 0 && in.SimilarTo != "" {
		errs = append(errs, library.FieldError{Field: "similar_to_asset_h", Code: "conflict", Message: "query_vector and similar_to_asset_h exclude each other."})
	}
	if in.Cursor != "" && in.Offset > 0 {
		errs = append(errs, library.FieldError{Field: "offset", Code: "conflict", Message: "cursor and offset exclude each other."})
	}
	return append(errs, in.Filters.validate()...)
}

func (f *filtersInput) validate() []library.FieldError {
	if f == nil || f.Status == "" {
		return nil
	}
	if _, ok := library.ParseStatus(f.Status); ok {
		return nil
	}
	return []library.FieldError{{Field: "filters.status", Code: "enum", Message: "Allowed are Draft, PendingApproval, Approved, Rejected, Archived."}}
}

type searchOutput struct {
	Data           []hit               `json:"data"`
	Total          int64               `json:"total" doc:"Total number of results; data is one page of them."`
	TotalByWords   int64               `json:"total_by_words" doc:"Of total, those that have the words of the query and fulfil its conditions. The others are only similar: change many assets at once by matched, not by total."`
	Relaxed        *relaxation         `json:"relaxed,omitempty" doc:"Set if no asset has all words of the query: which of them were not required."`
	Limit          int                 `json:"limit"`
	Offset         int                 `json:"offset"`
	NextOffset     *int                `json:"next_offset,omitempty" doc:"The offset of the next page; absent on the last page."`
	NextCursor     string              `json:"next_cursor,omitempty" doc:"The cursor of the next page, valid for three minutes; absent on the last page."`
	Interpretation interpretation      `json:"interpretation" doc:"How the query was parsed."`
	DidYouMean     *spellingSuggestion `json:"did_you_mean,omitempty" doc:"The query with another spelling, if the words match fewer than three assets or one of them occurs nowhere."`
	Degraded       []string            `json:"degraded" doc:"What is missing from this response: semantic (no vector search), semantic_partial (assets without embeddings yet are found by words only), index_behind (the write of min_index_token is not included yet), index_incomplete (the index is being rebuilt or reconciled; assets may be missing until then)."`
	SemanticShare  *float64            `json:"semantic_share,omitempty" doc:"With semantic_partial: the share of assets, 0 to 1, that vector search covers so far."`
	TookMS         int64               `json:"took_ms" doc:"Milliseconds spent in OpenSearch."`

	detailed bool
}

func (s *Service) searchAssets() op.Operation {
	return op.Define(op.Meta{
		Name: "SearchAssets", Title: "Search assets", Domain: op.Search,
		Doc:    "Finds assets. " + query.Summary(),
		Method: "POST", Path: "/api/v1/assets/search", Permission: library.PermSearch, Rate: op.RateSearch, ReadOnly: true, Idempotent: true, Chained: true,
		Example: map[string]any{"query": "fox lora:detail -tag:wip", "filters": map[string]any{"status": "Approved"}, "limit": 5},
	}, s.search)
}

func (s *Service) search(ctx context.Context, actor library.Actor, in searchInput) (searchOutput, error) {
	out := searchOutput{Limit: in.Limit, Offset: in.Offset, Degraded: []string{}, Data: []hit{}, detailed: in.Detailed()}
	mode := query.Mode(in.SearchMode)
	req := query.Request{Mode: mode, Filters: in.Filters.compile(), Sort: sortOrder(in.OrderBy, in.Order),
		Limit: in.Limit, Offset: in.Offset, Highlight: in.Highlight, SimilarTo: lowerHash(in.SimilarTo)}
	q, compiled, err := s.compile(ctx, actor, in.Query, req)
	if err != nil {
		return out, err
	}
	behind, err := s.awaitWrite(ctx, actor, in.MinIndexToken)
	if err != nil {
		return out, err
	}
	interpretation := interpret(q, compiled)
	near, err := s.knnSearch(ctx, actor, in, compiled)
	if err != nil {
		return out, err
	}
	find := s.offsetPage
	if in.Cursor != "" {
		find = s.cursorPage
	}
	page, err := find(ctx, actor, in, req, compiled, near, &out)
	if err != nil {
		return out, err
	}
	out.Total, out.TotalByWords, out.TookMS, out.Interpretation = page.Total, page.LexicalTotal, page.TookMS, interpretation
	if near == nil && in.Cursor == "" {
		out.DidYouMean = s.didYouMean(ctx, actor, q, req, page, out.Relaxed)
	}
	if out.Total == 0 && in.Cursor == "" {
		out.Interpretation.Warnings = append(out.Interpretation.Warnings, s.missingValues(ctx, actor, q)...)
	}
	if near != nil || page.ByVector {
		out.SemanticShare = s.semanticShare(ctx, actor)
	}
	if out.SemanticShare != nil {
		out.Degraded = append(out.Degraded, "semantic_partial")
	}
	out.Degraded = append(out.Degraded, s.degradedBy(actor, behind)...)
	withScore := in.IncludeScore == nil || *in.IncludeScore
	for _, h := range page.Hits {
		out.Data = append(out.Data, hitOf(s.Links.For(actor).In(in.FormatInput), h, withScore, out.detailed))
	}
	if out.detailed {
		s.addPlaceholders(ctx, actor, out.Data)
	}
	return out, nil
}

// offsetPage answers one page by its offset.
func (s *Service) offsetPage(ctx context.Context, actor library.Actor, in searchInput, req query.Request, compiled, near *query.Search, out *searchOutput) (run.Page, error) {
	var page run.Page
	var err error
	if near != nil {
		near.Size = min(near.Size, max(0, maxNeighbours-near.From))
		page, err = s.Searcher.Search(ctx, actor.Tenant, near)
		page.Total = min(page.Total, maxNeighbours)
		onlySimilar(&page)
	} else {
		queryVector, degraded := s.queryVector(ctx, actor, req.Mode, compiled)
		page, out.Relaxed, err = s.findRelaxed(ctx, actor, in.Query, req, compiled, func(compiled *query.Search) (run.Page, error) {
			weighed, err := s.weigh(ctx, actor, compiled)
			if err != nil {
				return run.Page{}, err
			}
			return s.Searcher.SearchWith(ctx, actor.Tenant, weighed, run.SearchOptions{QueryVector: queryVector})
		})
		out.lexicalOnly(degraded || page.LexicalOnly)
	}
	if next := in.Offset + len(page.Hits); int64(next) < page.Total && len(page.Hits) > 0 && next <= maxOffset {
		out.NextOffset = &next
	}
	return page, err
}

// onlySimilar notes that all hits of a page were found by a vector.
func onlySimilar(page *run.Page) {
	page.LexicalTotal = 0
	for i := range page.Hits {
		page.Hits[i].ByWords, page.Hits[i].ByMeaning = false, true
	}
}

// lexicalOnly notes that meaning could not be used.
func (out *searchOutput) lexicalOnly(yes bool) {
	if yes {
		out.Degraded = append(out.Degraded, "semantic")
	}
}

// IndexIncomplete is what answers are called that may lack assets because the index had
// to be made anew or compared with the library.
const IndexIncomplete = "index_incomplete"

// degradedBy names what an answer lacks because of the state of the index.
func (s *Service) degradedBy(actor library.Actor, behind bool) (list []string) {
	if behind {
		list = append(list, "index_behind")
	}
	if s.Searcher.Incomplete(actor.Tenant) {
		list = append(list, IndexIncomplete)
	}
	return list
}

// maxOffset is how deep pages go by offset.
const maxOffset = 10_000

// matchAll compiles the search for all that an actor may see.
func (s *Service) matchAll(ctx context.Context, actor library.Actor) (*query.Search, error) {
	_, all, err := s.compile(ctx, actor, "", query.Request{})
	return all, err
}

// compile reads and compiles a query text for the index that an actor's tenant is
// searched in.
func (s *Service) compile(ctx context.Context, actor library.Actor, text string, req query.Request) (*query.Query, *query.Search, error) {
	var err error
	if req.Index, req.Shared, err = s.Searcher.Index(ctx, actor.Tenant); err != nil {
		return nil, nil, err
	}
	q, err := query.Parse(text, query.Options{Strict: req.Mode.Strict()})
	if err != nil {
		return nil, nil, err
	}
	if relatives := q.RelativesOf(); len(relatives) > 0 {
		if req.Hidden, err = s.Store.Assets.Unseen(ctx, actor, relatives); err != nil {
			return nil, nil, err
		}
	}
	compiled, err := query.Compile(q, as(actor, req))
	return q, compiled, err
}

// Compile reads and compiles a query text for what an actor sees, with the weights by which its
// words are ranked.
func (s *Service) Compile(ctx context.Context, actor library.Actor, text string, req query.Request) (*query.Search, error) {
	_, compiled, err := s.compile(ctx, actor, text, req)
	if err != nil || !compiled.Scored {
		return compiled, err
	}
	return s.weigh(ctx, actor, compiled)
}

// read reads and compiles a query text for an actor's tenant, to be shown and not run.
func read(actor library.Actor, text string, req query.Request) (*query.Query, *query.Search, error) {
	q, err := query.Parse(text, query.Options{Strict: req.Mode.Strict()})
	if err != nil {
		return nil, nil, err
	}
	compiled, err := query.Compile(q, as(actor, req))
	return q, compiled, err
}

// as returns a request of an actor: it finds what the actor sees.
func as(actor library.Actor, req query.Request) query.Request {
	req.Tenant, req.Viewer, req.SeesPrivate = actor.Tenant, actor.ID, actor.SeesAll()
	return req
}

func sortOrder(by, direction string) []query.Sort {
	if by == "" || by == "relevance" {
		return nil
	}
	down := by != "title" && by != "filename" && by != "status" && by != query.ByPosition
	if direction != "" {
		down = direction == "desc"
	}
	return []query.Sort{{By: by, Desc: down}}
}

// lowerHash brings a hash to its canonical form.
func lowerHash(hash string) library.AssetHash { return library.AssetHash(strings.ToLower(hash)) }
