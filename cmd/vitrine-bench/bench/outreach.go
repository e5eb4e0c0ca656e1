package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/api/client"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/query/run"
	"vitrine/service"
)

// OutreachConfig is how many prospects are searched, beside as many assets, and where they are kept.
type OutreachConfig struct {
	Servers service.Config // PostgresURL, Brokers, OpenSearchURL, Version and Log are used
	Count   int            // prospects, and assets beside them, 100 to 1,000,000
	Repeats int            // of each question; 0 means 50
	Seed    uint64         // of the corpus; 0 means 1
	Profile string         // folder for CPU profiles of each step; "" makes none
	Kafka   string         // its version, where it is known

	// Step is told what is done now, for a person who waits.
	Step func(format string, args ...any)
}

const minOutreach = 100

// The names of generated prospects: each is a first and a last name, both with a number.
const (
	firstNames = 400
	lastNames  = 2000
	campaigns  = 20
)

// RunOutreach fills a library with as many prospects as assets, and measures searches of prospects beside those
// of assets and beside the bare requests to OpenSearch.
func RunOutreach(ctx context.Context, cfg OutreachConfig) (report OutreachReport, err error) {
	if cfg.Count < minOutreach || cfg.Count > maxCount {
		return report, library.Invalid(library.FieldError{Field: "count", Code: "range", Message: fmt.Sprintf("Give a number of prospects from %d to %d.", minOutreach, maxCount)})
	}
	setDefault(&cfg.Repeats, 50)
	e, err := start(ctx, Config{Servers: cfg.Servers, Count: cfg.Count, Repeats: cfg.Repeats, Seed: cfg.Seed, Kafka: cfg.Kafka, Step: cfg.Step})
	if err != nil {
		return report, err
	}
	defer e.cleanUp(&err)
	report.Setting = e.setting(ctx)
	o := &searching{organizing: organizing{env: e}}
	if err := o.fillProspects(ctx, cfg.Count); err != nil {
		return report, err
	}
	report.Figures, err = measureAll(ctx, cfg.Profile, one("prospects", o.besideAssets), one("bare", o.besideBare))
	return report, err
}

// searching is a library with prospects, and words by which assets are found.
type searching struct {
	organizing
	titles []string
	n      int // of the question that is asked
}

// fillProspects makes the assets, then the prospects by SQL: a profile each, for every third a touch. Then the indices are
// built as after restoring a backup.
func (o *searching) fillProspects(ctx context.Context, count int) (err error) {
	if err := o.fillAssets(ctx); err != nil {
		return err
	}
	o.Step("Making %d prospects", count)
	statements := []string{
		`INSERT INTO prospects (tenant_id, prospect_h) SELECT $1, lpad(to_hex(i), 40, '0') FROM generate_series(1, $2::int) i`,
		fmt.Sprintf(`INSERT INTO prospect_rows (tenant_id, prospect_h, kind, at, recorded_by, record_source, data)
			SELECT $1, lpad(to_hex(i), 40, '0'), 'profile', now() - i %% 400 * interval '1 day', 'bench', 'bench', jsonb_build_object('profile', jsonb_build_object('email', 'p' || i || '@example.org',
				'name', 'First' || i %% %d || ' Last' || i * 7919 %% %d, 'title', 'Director ' || i %% 30, 'account', 'Studio' || i %% 5000, 'vertical', 'v' || i %% 12, 'campaign', 'c' || i %% %d, 'icp_score', i %% 101))
			FROM generate_series(1, $2::int) i`, firstNames, lastNames, campaigns),
		`INSERT INTO prospect_rows (tenant_id, prospect_h, kind, at, recorded_by, record_source, data)
			SELECT $1, lpad(to_hex(i), 40, '0'), 'touch', now() - i % 90 * interval '1 day', 'bench', 'bench', '{"touch":{"channel":"email","direction":"outbound"}}' FROM generate_series(1, $2::int) i WHERE i % 3 = 0`,
		`INSERT INTO prospect_keys (tenant_id, prospect_h, kind, value) SELECT $1, lpad(to_hex(i), 40, '0'), 'email', 'p' || i || '@example.org' FROM generate_series(1, $2::int) i`,
	}
	err = unforced(ctx, o.conn, []string{"prospects", "prospect_rows", "prospect_keys"}, func() error {
		for _, sql := range statements {
			if _, err := o.conn.Exec(ctx, sql, o.tenant, count); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := o.conn.Exec(ctx, "ANALYZE"); err != nil {
		return err
	}
	if _, err := o.Indexer.Rebuild(ctx, o.tell()); err != nil {
		return err
	}
	if err := o.merged(ctx); err != nil {
		return err
	}
	rows, err := o.conn.Query(ctx, `SELECT title FROM assets WHERE title <> '' ORDER BY asset_h LIMIT 500`)
	if err == nil {
		o.titles, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	o.streams = o.run(service.RoleRelay, service.RoleIndex)
	return err
}

// outreachQuestion is asked of prospects and, in the same words as far as there are any, of assets.
type outreachQuestion struct {
	name     string
	prospect func(n int) client.SearchProspectsInput
	asset    func(title string) client.SearchAssetsInput
}

// pageSize is how many results each question asks for.
const pageSize = 20

var outreachQuestions = []outreachQuestion{
	{"one word", func(n int) client.SearchProspectsInput {
		return client.SearchProspectsInput{Query: fmt.Sprintf("first%d", n%firstNames), Limit: pageSize}
	}, func(title string) client.SearchAssetsInput {
		return client.SearchAssetsInput{Query: title, SearchMode: "fulltext", Limit: pageSize}
	}},
	{"a word and a filter", func(n int) client.SearchProspectsInput {
		return client.SearchProspectsInput{Query: fmt.Sprintf("first%d", n%firstNames), Filters: &client.ProspectFilters{Campaign: fmt.Sprintf("c%d", n%campaigns)}, Limit: pageSize}
	}, func(title string) client.SearchAssetsInput {
		return client.SearchAssetsInput{Query: title + " mime_type:image/png", SearchMode: "fulltext", Limit: pageSize}
	}},
	{"a filter", func(n int) client.SearchProspectsInput {
		return client.SearchProspectsInput{Filters: &client.ProspectFilters{Campaign: fmt.Sprintf("c%d", n%campaigns)}, Limit: pageSize}
	}, func(string) client.SearchAssetsInput {
		return client.SearchAssetsInput{Query: "mime_type:image/png", SearchMode: "fulltext", Limit: pageSize}
	}},
}

// word returns the first word of the next asset's title.
func (o *searching) word() string {
	o.n++
	first, _, _ := strings.Cut(strings.TrimSpace(o.titles[o.n%len(o.titles)]), " ")
	return first
}

func (o *searching) besideAssets(ctx context.Context) (Figure, error) {
	o.Step("Searching %d prospects and %d assets", o.Count, o.Count)
	api := o.client()
	f := Figure{Key: KeyProspects, Repeats: o.Repeats}
	for _, q := range outreachQuestions {
		found := 0
		ours, floor, err := o.turns(o.Repeats, func() error {
			out, err := api.SearchProspects(ctx, q.prospect(o.n))
			found += len(out.Data)
			return err
		}, func() error {
			_, err := api.SearchAssets(ctx, q.asset(o.word()))
			return err
		})
		if err == nil && found == 0 {
			err = errors.New("no prospect was found by " + q.name)
		}
		if err != nil {
			return f, err
		}
		f.add(q.name, ours, floor)
	}
	return f, nil
}

// add adds a row; the largest ratio counts.
func (f *Figure) add(name string, ours, floor Summary) {
	r := Row{Name: name, Unit: "ms", Ours: ours, Floor: floor, Ratio: ours.P50 / floor.P50}
	f.Rows, f.Value = append(f.Rows, r), max(f.Value, r.Ratio)
}

// besideBare asks OpenSearch itself what the service asks it.
func (o *searching) besideBare(ctx context.Context) (Figure, error) {
	api := o.client()
	f := Figure{Key: KeyProspectsBare, Repeats: o.Repeats}
	path := "/" + mappings.ProspectIndex().Names(o.cfg.Prefix).Alias() + "/_search?routing=" + mappings.Routing(o.tenant)
	for _, q := range outreachQuestions {
		ours, floor, err := o.turns(o.Repeats, func() error {
			o.n++
			_, err := api.SearchProspects(ctx, q.prospect(o.n))
			return err
		}, func() error {
			in := q.prospect(o.n + 7) // another, so that no cache has it
			s := run.ProspectSearch{Words: in.Query, Size: in.Limit, Today: time.Now().UTC().Format(time.DateOnly)}
			if in.Filters != nil {
				s.Campaign = in.Filters.Campaign
			}
			body, err := json.Marshal(s.Body(o.tenant))
			if err != nil {
				return err
			}
			return o.index(ctx, http.MethodPost, path, body, nil)
		})
		if err != nil {
			return f, err
		}
		f.add(q.name, ours, floor)
	}
	return f, nil
}
