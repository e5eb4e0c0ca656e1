package relevance

import (
	"context"
	"errors"
	"strings"
)

// The engines that are compared.
const (
	RetrieverSmart    = "smart"
	RetrieverWords    = "smart without meaning"
	RetrieverBM25     = "BM25"
	RetrieverEnglish  = "BM25, stems"
	RetrieverKNN      = "kNN"
	RetrieverRRF      = "RRF"
	RetrieverPostgres = "PostgreSQL"
	RetrieverSQLite   = "SQLite"
	RetrieverFuzzy    = "fuzzy"
)

// retriever is one engine: for each query it ranks assets by their number, at most depth.
type retriever struct {
	name string
	only []string // the classes it is asked for; nil means all
	rank func(context.Context, []*Query) ([][]int, error)
}

// engines are all retrievers over one library.
type engines struct {
	retrievers []retriever
	index      *index
	undo       []func() error
}

// close removes what was made, the last first.
func (e *engines) close() error {
	var errs []error
	for i := len(e.undo) - 1; i >= 0; i-- {
		errs = append(errs, e.undo[i]())
	}
	return errors.Join(errs...)
}

func (e *engines) add(name string, rank func(context.Context, []*Query) ([][]int, error), only ...string) {
	e.retrievers = append(e.retrievers, retriever{name, only, rank})
}

// openEngines puts the library into every engine there is. What cannot be had is
// noted in the report. The engines are to be closed also after an error.
func openEngines(ctx context.Context, cfg Config, set *Set, report *Report) (*engines, error) {
	all := &engines{}
	e := memorize(cfg.Embedder)
	cfg.Step("Indexing %d assets", len(set.assets))
	x, err := openIndex(ctx, cfg, set, e)
	if x != nil {
		all.undo = append(all.undo, x.remove)
	}
	if err != nil {
		return all, err
	}
	all.index = x
	if e == nil {
		report.lack("There was no embedder: search by meaning was not measured.")
	} else {
		all.add(RetrieverSmart, x.product(e, "smart"))
	}
	all.add(RetrieverWords, x.product(nil, "smart"))
	all.add(RetrieverBM25, x.bm25(x.plain()))
	all.add(RetrieverEnglish, x.bm25(x.english()))
	if e != nil {
		all.add(RetrieverKNN, x.nearest)
		all.add(RetrieverRRF, x.reciprocalRanks)
	}
	all.add(RetrieverFuzzy, x.product(nil, "fuzzy"), ClassTypo, ClassSlip)
	return all, all.addSQL(ctx, cfg, set, report)
}

// addSQL adds the two SQL engines, where they are there.
func (e *engines) addSQL(ctx context.Context, cfg Config, set *Set, report *Report) error {
	if cfg.PostgresURL == "" {
		report.lack("There was no PostgreSQL: its full text was not measured.")
	} else {
		p, err := openPostgres(ctx, cfg.PostgresURL, set)
		if err != nil {
			return err
		}
		e.undo = append(e.undo, p.close)
		e.add(RetrieverPostgres, p.rank)
	}
	l, err := openSQLite(cfg.SQLite, set)
	if err != nil {
		report.lack("There was no program sqlite3 with FTS5: SQLite was not measured.")
		return nil //nolint:nilerr // the report says it
	}
	e.add(RetrieverSQLite, l.rank)
	return nil
}

// sql is the condition over the columns that both SQL engines have.
func (c condition) sql() string {
	switch c.field {
	case "tag":
		return "shelf LIKE '%|" + c.value + "|%'"
	case "width":
		return "width >= " + strings.TrimLeft(c.value, "0")
	case "created":
		return "created >= '" + c.value + "'"
	}
	return c.field + " = '" + c.value + "'"
}

// columns are the asset's values for the SQL engines: title, tags, prompt,
// description, tool, status, shelf, width and created.
func (a *asset) columns() []any {
	tool := ""
	if a.prompt != "" {
		tool = strings.ToLower(a.tool)
	}
	return []any{a.title, strings.ReplaceAll(strings.Join(a.tags, ", "), "_", " "), a.prompt, a.description, tool, string(a.status),
		"|" + strings.Join(a.tags, "|") + "|", a.width, a.created.Format("2006-01-02")}
}
