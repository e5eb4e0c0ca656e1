package pipeline

import (
	"context"

	"vitrine/library"
	"vitrine/query"
)

// search selects what a query finds.
type search struct {
	Query   string         `json:"query,omitempty" maxLength:"8192" doc:"As in SearchAssets; empty selects everything. What is only similar in meaning is not selected."`
	Mode    string         `json:"search_mode,omitempty" enum:"exact,partial,fuzzy,fulltext,boolean,smart" default:"smart" doc:"How words are matched."`
	Filters *searchFilters `json:"filters,omitempty" doc:"In addition to query."`
	Limit   int64          `json:"limit,omitempty" minimum:"1" maximum:"100000000" doc:"Without it everything is selected that the query finds."`
	OrderBy string         `json:"order_by,omitempty" enum:"relevance,created,updated,stored,title,filename,status,rating,size,width,height,megapixels,duration,steps,cfg,seed" default:"relevance" doc:"relevance means newest first if the query has no words to rank by."`
	Order   string         `json:"order,omitempty" enum:"asc,desc" doc:"Default: asc for names, else desc."`

	fused []query.Sort // the order of a sort stage that was fused into the search
}

// searchFilters narrow a search.
type searchFilters struct {
	Tags          []string `json:"tags,omitempty" maxItems:"50" doc:"All of these tags."`
	Status        string   `json:"status,omitempty" enum:"Draft,PendingApproval,Approved,Rejected,Archived"`
	MIMEType      string   `json:"mime_type,omitempty" maxLength:"255" doc:"Such as image/png or image/*."`
	CreatedAfter  string   `json:"created_after,omitempty" maxLength:"40" doc:"YYYY-MM-DD or RFC 3339, inclusive."`
	CreatedBefore string   `json:"created_before,omitempty" maxLength:"40" doc:"Exclusive."`
}

var kindSearch = newKind[search](Kind{Type: "search", Category: Select, Doc: "Selects the assets that a query finds, all of them unless limit is set.", Args: []string{"query"}, Example: map[string]any{"query": "fox -tag:wip"}})

func (s *search) check(*checking) []library.FieldError { return nil }

// request is the search as the query language compiles it.
func (s *search) request() query.Request {
	r := query.Request{Mode: query.Mode(s.Mode), Limit: 1, Sort: s.fused}
	if f := s.Filters; f != nil {
		r.Filters = query.Filters{Tags: f.Tags, CreatedAfter: f.CreatedAfter, CreatedBefore: f.CreatedBefore}
		if f.Status != "" {
			r.Filters.Status = []string{f.Status}
		}
		if f.MIMEType != "" {
			r.Filters.MIMEType = []string{f.MIMEType}
		}
	}
	if r.Sort == nil && s.OrderBy != "" && s.OrderBy != "relevance" {
		names := s.OrderBy == "title" || s.OrderBy == "filename" || s.OrderBy == "status"
		r.Sort = []query.Sort{{By: s.OrderBy, Desc: s.Order == "desc" || s.Order == "" && !names}}
	}
	return r
}

// compile checks the query for who runs it.
func (s *search) compile(ctx context.Context, e *Engine, actor library.Actor, at string) error {
	if e.Compile == nil {
		return nil
	}
	_, err := e.Compile(ctx, actor, s.Query, s.request())
	return below(at+".query", err)
}

// below names the field that the error of a query is about.
func below(at string, err error) error {
	if err == nil {
		return nil
	}
	known := *library.AsError(err)
	known.Fields = append([]library.FieldError{}, known.Fields...)
	for i := range known.Fields {
		known.Fields[i].Field = at
	}
	if len(known.Fields) == 0 && known.Kind == library.KindInvalid {
		known.Fields = []library.FieldError{{Field: at, Code: "format", Message: known.Detail}}
	}
	return &known
}

func (s *search) run(x *exec) error {
	compiled, err := x.engine.Compile(x.ctx, x.actor(), s.Query, s.request())
	if err != nil {
		return err
	}
	if x.behind || x.engine.AwaitIndex != nil && !x.engine.AwaitIndex(x.ctx, x.actor().Tenant) {
		x.warn("the index is behind: changes of the last seconds may be missing from the search")
	}
	_, err = x.engine.Scan(x.ctx, x.actor().Tenant, compiled, s.Limit, x.emitExisting)
	return err
}

// emitExisting passes on those assets that are in the library: the index may be a moment late.
func (x *exec) emitExisting(assets []library.AssetHash) error {
	there, err := x.engine.Store.Assets.Existing(x.ctx, x.actor(), assets)
	if err != nil {
		return err
	}
	live := make([]library.AssetHash, 0, len(assets))
	for _, h := range assets {
		if there[h] {
			live = append(live, h)
		}
	}
	return x.emit(live...)
}
