package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/api/client"
	"vitrine/indexer"
	"vitrine/library"
	"vitrine/service"
)

// OrganizeConfig is how large the collections are and where they are kept.
type OrganizeConfig struct {
	Servers     service.Config // PostgresURL, Brokers, OpenSearchURL, Version and Log are used
	Count       int            // assets in one collection, 100 to 1,000,000
	Collections int            // collections beside it; 0 means 5000
	Repeats     int            // of each call; 0 means 15
	Seed        uint64         // of the corpus; 0 means 1
	Profile     string         // folder for CPU profiles of each step; "" makes none
	Kafka       string         // its version, where it is known: Kafka itself does not tell

	// Step is told what is done now, for a person who waits.
	Step func(format string, args ...any)
}

const (
	minOrganize = 100
	// addAtOnce is how many assets one call adds to a collection.
	addAtOnce = 1000
	// itemsPage is the page of a collection that is measured.
	itemsPage = 1000
)

// RunOrganize fills a library and a collection of all its assets, and measures what is done with
// collections beside the SQL statements that do the same to the same rows.
func RunOrganize(ctx context.Context, cfg OrganizeConfig) (report OrganizeReport, err error) {
	if cfg.Count < minOrganize || cfg.Count > maxCount {
		return report, library.Invalid(library.FieldError{Field: "count", Code: "range", Message: fmt.Sprintf("Give a number of assets from %d to %d.", minOrganize, maxCount)})
	}
	setDefault(&cfg.Collections, 5000)
	setDefault(&cfg.Repeats, 15)
	e, err := start(ctx, Config{Servers: cfg.Servers, Count: cfg.Count, Repeats: cfg.Repeats, Seed: cfg.Seed, Kafka: cfg.Kafka, Step: cfg.Step})
	if err != nil {
		return report, err
	}
	defer e.cleanUp(&err)
	report.Setting, report.Collections = e.setting(ctx), cfg.Collections
	o := &organizing{env: e, collections: cfg.Collections}
	if err := o.fillCollections(ctx, cfg); err != nil {
		return report, err
	}
	report.Figures, err = measureAll(ctx, cfg.Profile, one("list", o.measureList), one("page", o.measurePage), one("branch", o.measureBranch), one("move", o.measureMove))
	return report, err
}

// organizing is a library with a large collection, and a connection that asks the database itself.
type organizing struct {
	*env
	conn        *pgx.Conn
	large       client.CreateCollectionOutput
	collections int // beside the large one
}

// fillAssets makes the assets and their documents, and connects to the database. The indexer,
// which would look after the index that is built, is stopped before; the caller starts it again.
func (o *organizing) fillAssets(ctx context.Context) (err error) {
	if err := o.streams.end(); err != nil {
		return err
	}
	if err := o.fill(ctx, newCorpus(o.Seed), o.Count); err != nil {
		return err
	}
	if o.conn, err = pgx.Connect(ctx, o.cfg.PostgresURL); err == nil {
		o.undo = append(o.undo, o.conn.Close)
	}
	return err
}

// fillCollections makes the assets, a collection of them all below a parent, and many small ones.
func (o *organizing) fillCollections(ctx context.Context, cfg OrganizeConfig) (err error) {
	if err := o.fillAssets(ctx); err != nil {
		return err
	}
	o.streams = o.run(service.RoleRelay, service.RoleIndex)
	api := o.client()
	for i := range cfg.Collections {
		in := client.CreateCollectionInput{Name: fmt.Sprintf("small%d", i)}
		if i%10 > 0 {
			in.ParentPath = fmt.Sprintf("small%d", i-i%10)
		}
		if _, err := api.CreateCollection(ctx, in); err != nil {
			return err
		}
	}
	if o.large, err = api.CreateCollection(ctx, client.CreateCollectionInput{Name: "large"}); err != nil {
		return err
	}
	rows, err := o.conn.Query(ctx, `SELECT asset_h FROM assets ORDER BY asset_h`)
	if err != nil {
		return err
	}
	hashes, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	o.Step("Adding %d assets to a collection", len(hashes))
	for len(hashes) > 0 {
		n := min(addAtOnce, len(hashes))
		if _, err := api.AddToCollection(ctx, client.AddToCollectionInput{CollectionPath: o.large.CollectionH, AssetHs: hashes[:n]}); err != nil {
			return err
		}
		hashes = hashes[n:]
	}
	if _, err := o.conn.Exec(ctx, "ANALYZE"); err != nil {
		return err
	}
	return o.awaitFound(ctx, "collection:=large")
}

// awaitFound waits until a search finds every asset.
func (o *organizing) awaitFound(ctx context.Context, query string) error {
	return until(ctx, 100*time.Millisecond, 15*time.Minute, "searches find all assets by "+query, func() (bool, error) {
		found, err := o.client().SearchAssets(ctx, client.SearchAssetsInput{Query: query, Limit: 1})
		return err == nil && found.Total >= int64(o.Count), nil // an error is that of a busy index
	})
}

// turns times two sides that take turns, in milliseconds.
func (o *organizing) turns(repeats int, ours, floor func() error) (mine, bare Summary, err error) {
	var a, b []float64
	for i := range repeats + 1 {
		for _, side := range []struct {
			do   func() error
			into *[]float64
		}{{ours, &a}, {floor, &b}} {
			began := time.Now()
			if err := side.do(); err != nil {
				return mine, bare, err
			}
			if i > 0 { // the first round warms up
				*side.into = append(*side.into, float64(time.Since(began).Microseconds())/1000)
			}
		}
	}
	return summarize(a, false), summarize(b, false), nil
}

// values asks the database and reads every value of every row.
func (o *organizing) values(ctx context.Context, sql string, args ...any) error {
	rows, err := o.conn.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if _, err := rows.Values(); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (o *organizing) measureList(ctx context.Context) (Figure, error) {
	o.Step("Listing collections")
	list := func(counts bool) func() error {
		return func() error {
			_, err := o.client().ListCollections(ctx, client.ListCollectionsInput{Limit: 5000, IncludeAssetCounts: &counts})
			return err
		}
	}
	tree := func() error {
		text, err := o.readResource(ctx, "vitrine://collections")
		if n := strings.Count(text, `"collection_h"`); err == nil && n < o.collections {
			err = fmt.Errorf("the resource has %d collections of %d", n, o.collections)
		}
		return err
	}
	const plain = `SELECT c.*, NULL::bigint, NULL::bigint FROM collections c WHERE tenant_id = $1 AND deleted_at IS NULL ORDER BY tree LIMIT 5000`
	const counted = `SELECT c.*, n.assets, n.cards FROM collections c
		LEFT JOIN (SELECT collection_h, count(asset_h) assets, count(card) cards FROM collection_items WHERE tenant_id = $1 GROUP BY 1) n USING (collection_h)
		WHERE tenant_id = $1 AND deleted_at IS NULL ORDER BY tree LIMIT 5000`
	f := Figure{Key: KeyList, Repeats: o.Repeats}
	for _, side := range []struct {
		name string
		ours func() error
		sql  string
	}{{"without counts", list(false), plain}, {"with how many assets are in each", list(true), counted}, {"the resource vitrine://collections, over MCP", tree, counted}} {
		ours, floor, err := o.turns(o.Repeats, side.ours, func() error { return o.values(ctx, side.sql, o.tenant) })
		if err != nil {
			return f, fmt.Errorf("%s: %w", side.name, err)
		}
		f.Rows = append(f.Rows, Row{Name: side.name, Unit: "ms", Ours: ours, Floor: floor, Ratio: ours.P50 / floor.P50})
	}
	f.Value = f.Rows[1].Ratio
	return f, nil
}

func (o *organizing) measurePage(ctx context.Context) (Figure, error) {
	o.Step("Reading pages of a collection")
	api := o.client()
	f := Figure{Key: KeyPage, Repeats: o.Repeats}
	for _, p := range []struct {
		name   string
		offset int
	}{{"first page", 0}, {"page in the middle", o.Count / 2}} {
		ours, floor, err := o.turns(o.Repeats, func() error {
			_, err := api.GetCollectionAssets(ctx, client.GetCollectionAssetsInput{CollectionPath: o.large.CollectionH, Limit: itemsPage, Offset: p.offset})
			return err
		}, func() error {
			return errors.Join(o.values(ctx, `SELECT i.role, i.added_at, i.added_by, a.* FROM collection_items i JOIN assets a USING (tenant_id, asset_h)
				WHERE tenant_id = $1 AND i.collection_h = $2 AND a.trashed_at IS NULL ORDER BY i.rank, i.item_id LIMIT $3 OFFSET $4`, o.tenant, o.large.CollectionH, itemsPage, p.offset),
				o.values(ctx, `SELECT count(*) FROM collection_items WHERE tenant_id = $1 AND collection_h = $2`, o.tenant, o.large.CollectionH))
		})
		if err != nil {
			return f, err
		}
		f.Rows = append(f.Rows, Row{Name: p.name, Unit: "ms", Ours: ours, Floor: floor, Ratio: ours.P50 / floor.P50})
	}
	f.Value = max(f.Rows[0].Ratio, f.Rows[1].Ratio)
	return f, nil
}

// branches is how often branching and moving are measured: each changes every asset's document.
const branches = 3

func (o *organizing) measureBranch(ctx context.Context) (Figure, error) {
	o.Step("Branching a collection of %d assets", o.Count)
	api := o.client()
	n := 0
	ours, floor, err := o.turns(branches, func() error {
		n++
		out, err := api.BranchCollection(ctx, client.BranchCollectionInput{SourcePath: o.large.CollectionH, NewName: fmt.Sprintf("branch%d", n)})
		if err == nil && out.ItemsCopied != int64(o.Count) {
			err = fmt.Errorf("%d of %d items were copied", out.ItemsCopied, o.Count)
		}
		return err
	}, func() error {
		n++
		return o.copyItems(ctx, fmt.Sprintf("%040x", n), fmt.Sprintf("bare%d", n))
	})
	if err != nil {
		return Figure{}, err
	}
	row := Row{Name: "all members", Unit: "ms", Ours: ours, Floor: floor, Ratio: ours.P50 / floor.P50}
	return Figure{Key: KeyBranch, Value: row.Ratio, Repeats: branches, Rows: []Row{row}}, nil
}

// copyItems copies the items of the large collection to a new one by SQL alone. Nothing tells
// the index of it.
func (o *organizing) copyItems(ctx context.Context, hash, name string) error {
	return pgx.BeginFunc(ctx, o.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO collections (tenant_id, collection_h, name, path, created_by) VALUES ($1, $2, $3, $3, 'bench')`, o.tenant, hash, name); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO collection_items (tenant_id, collection_h, item_id, asset_h, card, rank, role, added_by)
			SELECT tenant_id, $2, item_id, asset_h, card, rank, role, 'bench' FROM collection_items WHERE tenant_id = $1 AND collection_h = $3`, o.tenant, hash, o.large.CollectionH)
		return err
	})
}

// measureMove moves the collection below another one and waits until every search by its new
// path finds everything. Its floor is the time in which OpenSearch takes as many documents.
func (o *organizing) measureMove(ctx context.Context) (Figure, error) {
	if err := o.awaitFound(ctx, "collection:=branch1"); err != nil {
		return Figure{}, err
	}
	o.Step("Moving a collection of %d assets", o.Count)
	api := o.client()
	var answered, agreed []float64
	for i := range branches {
		to := fmt.Sprintf("small%d", 10*i)
		began := time.Now()
		if _, err := api.MoveCollection(ctx, client.MoveCollectionInput{SourcePath: o.large.CollectionH, NewParentPath: to}); err != nil {
			return Figure{}, err
		}
		answered = append(answered, float64(time.Since(began).Microseconds())/1000)
		if err := o.awaitFound(ctx, "collection:="+to+".large"); err != nil {
			return Figure{}, err
		}
		agreed = append(agreed, float64(time.Since(began).Microseconds())/1000)
	}
	bare, err := o.rawBulk(ctx)
	if err != nil {
		return Figure{}, err
	}
	whole := Row{Name: "until searches find every member by the new path", Unit: "ms", Ours: summarize(agreed, false), Floor: bare}
	whole.Ratio = whole.Ours.P50 / bare.P50
	call := Row{Name: "of this, the call", Unit: "ms", Ours: summarize(answered, false), Floor: bare}
	call.Ratio = call.Ours.P50 / bare.P50
	return Figure{Key: KeyMove, Value: whole.Ratio, Repeats: branches, Rows: []Row{whole, call}}, nil
}

// rawBulk returns the milliseconds in which OpenSearch takes the documents of all assets.
func (o *organizing) rawBulk(ctx context.Context) (Summary, error) {
	o.Step("Indexing the same documents by bare requests")
	if err := errors.Join(o.streams.end(), o.others.end()); err != nil {
		return Summary{}, err
	}
	ix, err := indexer.New(o.Store, o.OpenSearch, o.cfg.Kafka(), indexer.NewMetrics())
	if err != nil {
		return Summary{}, err
	}
	defer ix.Close()
	var times []float64
	for range branches {
		raw, err := ix.MeasureRaw(ctx, o.Count)
		if err != nil {
			return Summary{}, err
		}
		times = append(times, 1000*float64(raw.Documents)/raw.PerSecond())
	}
	return summarize(times, false), nil
}
