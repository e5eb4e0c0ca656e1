package bench

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"vitrine/indexer"
	"vitrine/library"
)

// chunk is how many assets are made and copied together.
const chunk = 2000

// filled are the tables that hold the corpus and belong to tenants.
var filled = []string{"assets", "lineage", "models", "asset_models"}

// fill makes assets until there are count, copies their rows into the database and
// builds the index anew from there, as an operator would after restoring a backup:
// by the product's own reader, builder and versions. Then it waits until the
// index has merged what it was given, so that this is not measured as search.
func (e *env) fill(ctx context.Context, c *corpus, count int) error {
	began := time.Now()
	if err := e.copyRows(ctx, c, count); err != nil {
		return err
	}
	e.Step("Made and copied %d assets in %s", count, time.Since(began).Round(time.Second))
	built, err := e.Indexer.Rebuild(ctx, e.tell())
	if err != nil {
		return err
	}
	if built.Count != int64(count) {
		return fmt.Errorf("the index has %d documents of %d assets", built.Count, count)
	}
	e.filled = built.Took
	e.Step("Indexed %d assets in %s; waiting for the index to merge its parts", count, built.Took.Round(time.Second))
	return e.merged(ctx)
}

// tell returns what shows the progress of a rebuild, now and then.
func (e *env) tell() func(indexer.Progress) {
	var last time.Time
	return func(p indexer.Progress) {
		if time.Since(last) > 5*time.Second {
			last = time.Now()
			e.Step("Indexing: %s, %d of %d", p.Phase, p.Done, p.Total)
		}
	}
}

// mergeLimit is how long the index is given to merge; what goes on then goes on
// beside the measurement.
const mergeLimit = 2 * time.Minute

func (e *env) merged(ctx context.Context) error {
	quiet := 0
	err := until(ctx, 500*time.Millisecond, mergeLimit, "the index has merged its parts", func() (bool, error) {
		var response struct {
			All struct {
				Primaries struct {
					Merges struct {
						Current int `json:"current"`
					} `json:"merges"`
				} `json:"primaries"`
			} `json:"_all"`
		}
		if err := e.index(ctx, http.MethodGet, "/"+e.alias()+"/_stats/merge", nil, &response); err != nil {
			return false, err
		}
		if quiet++; response.All.Primaries.Merges.Current > 0 {
			quiet = 0
		}
		return quiet > 1, nil
	})
	if ctx.Err() == nil && err != nil {
		e.Step("%s", err)
		return nil
	}
	return err
}

// copyRows makes the missing assets and copies them into the database.
func (e *env) copyRows(ctx context.Context, c *corpus, count int) (err error) {
	conn, err := pgx.Connect(ctx, e.cfg.PostgresURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	// Rows cannot be copied under row level security.
	err = unforced(ctx, conn, filled, func() error {
		for len(c.assets) < count {
			if err := e.copyNext(ctx, conn, c, min(chunk, count-len(c.assets))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "ANALYZE")
	return err
}

// copyNext makes the next n assets and copies their rows.
func (e *env) copyNext(ctx context.Context, conn *pgx.Conn, c *corpus, n int) error {
	list := make([]asset, n)
	for i := range list {
		var err error
		if list[i], err = c.next(); err != nil {
			return err
		}
	}
	return e.copyChunk(ctx, conn, c, list)
}

// unforced runs do while the owner of some tables, which conn has logged in as, is not subject to
// their row level security. The tables are of a database of the benchmark's own.
func unforced(ctx context.Context, conn *pgx.Conn, tables []string, do func() error) error {
	alter := func(how string) (err error) {
		for _, t := range tables {
			_, failed := conn.Exec(ctx, "ALTER TABLE "+t+" "+how+" ROW LEVEL SECURITY")
			err = errors.Join(err, failed)
		}
		return err
	}
	err := alter("NO FORCE")
	if err == nil {
		err = do()
	}
	return errors.Join(err, alter("FORCE"))
}

// rows are what goes into one table.
type rows struct {
	table   string
	columns []string
	list    [][]any
}

// copyChunk copies the rows of some assets. The models come before their uses.
func (e *env) copyChunk(ctx context.Context, conn *pgx.Conn, c *corpus, list []asset) error {
	tenant, err := uuid.Parse(string(e.tenant))
	if err != nil {
		return err
	}
	id := [16]byte(tenant)
	if len(c.assets) == len(list) { // the first ones
		if err := copyTable(ctx, conn, knownModels(id)); err != nil {
			return err
		}
	}
	all := []rows{assetRows(id, list), lineageRows(id, list), useRows(id, list)}
	if e.Embedder != nil {
		all = append(all, vectorRows(e.Embedder.ID(), c, list))
	}
	for _, r := range all {
		if err := copyTable(ctx, conn, r); err != nil {
			return err
		}
	}
	return nil
}

func copyTable(ctx context.Context, conn *pgx.Conn, r rows) error {
	if _, err := conn.CopyFrom(ctx, pgx.Identifier{r.table}, r.columns, pgx.CopyFromRows(r.list)); err != nil {
		return fmt.Errorf("copying into %s: %w", r.table, err)
	}
	return nil
}

func assetRows(tenant [16]byte, list []asset) rows {
	r := rows{table: "assets", columns: []string{"tenant_id", "asset_h", "sha256", "blake3", "title", "description", "filename", "source_path", "mime_type",
		"size", "width", "height", "status", "tags", "created_at", "created_by", "doc_version"}}
	for _, a := range list {
		r.list = append(r.list, []any{tenant, string(a.Hash), a.SHA256, a.BLAKE3, a.Title, a.Description, a.Filename, a.SourcePath, a.MIMEType,
			a.Size, int32(a.Width), int32(a.Height), string(a.Status), a.Tags, a.CreatedAt, actor.ID, a.DocVersion})
	}
	return r
}

func lineageRows(tenant [16]byte, list []asset) rows {
	r := rows{table: "lineage", columns: []string{"tenant_id", "asset_h", "source", "parser_version", "tool", "doc"}}
	for _, a := range list {
		if a.lineage != nil {
			r.list = append(r.list, []any{tenant, string(a.Hash), string(library.LineageExtracted), int32(1), a.lineage.Tool, a.doc})
		}
	}
	return r
}

func knownModels(tenant [16]byte) rows {
	r := rows{table: "models", columns: []string{"tenant_id", "model_hash", "type", "name", "display_name"}}
	for kind, n := range map[string]int{"checkpoint": checkpoints, "lora": loras} {
		for i := range n {
			name := modelName(kind, i)
			r.list = append(r.list, []any{tenant, string(library.NewModelHash(kind, name)), kind, name, name})
		}
	}
	return r
}

func useRows(tenant [16]byte, list []asset) rows {
	r := rows{table: "asset_models", columns: []string{"tenant_id", "asset_h", "sequence", "model_hash", "node_id", "name", "weight", "detection_source"}}
	for _, a := range list {
		if a.lineage == nil {
			continue
		}
		for _, m := range a.lineage.Models {
			r.list = append(r.list, []any{tenant, string(a.Hash), int32(m.Sequence), string(library.NewModelHash(m.Type, m.Name)), m.NodeID, m.Name, m.Strength, "extracted"})
		}
	}
	return r
}

// vectorRows are what the service would have kept of its provider's answers.
func vectorRows(configuration string, c *corpus, list []asset) rows {
	r := rows{table: "embeddings", columns: []string{"configuration", "text_h", "vector"}}
	for _, a := range list {
		if !a.fresh {
			continue
		}
		hash := sha256.Sum256([]byte(a.text))
		var packed []byte
		for _, x := range c.vectors[c.byText[a.text]] {
			packed = binary.LittleEndian.AppendUint32(packed, math.Float32bits(x))
		}
		r.list = append(r.list, []any{configuration, hash[:], packed})
	}
	return r
}
