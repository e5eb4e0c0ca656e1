package indexstate

import (
	"context"
	"encoding/binary"
	"errors"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"vitrine/store/internal/pg"
)

// Embeddings keeps vectors of texts, so that each is computed once.
type Embeddings struct{ db }

// TextHash is the SHA-256 of a text that was embedded.
type TextHash [32]byte

// EmbeddingVector is what an embedding configuration makes of a text: a vector, or nil
// where the provider refuses the text.
type EmbeddingVector []float32

// Get returns what is known of some texts under a configuration.
func (em *Embeddings) Get(ctx context.Context, configuration string, texts []TextHash) (map[TextHash]EmbeddingVector, error) {
	hashes := make([][]byte, len(texts))
	for i := range texts {
		hashes[i] = texts[i][:]
	}
	rows, err := em.pool.Query(ctx, `SELECT text_h, vector FROM embeddings WHERE configuration = $1 AND text_h = ANY($2)`, configuration, hashes)
	if err != nil {
		return nil, pg.Unavailable(err)
	}
	known := make(map[TextHash]EmbeddingVector, len(texts))
	var hash, vector []byte
	_, err = pgx.ForEachRow(rows, []any{&hash, &vector}, func() error {
		known[TextHash(hash)] = unpackVector(vector)
		return nil
	})
	return known, pg.Unavailable(err)
}

// Save remembers what a configuration made of some texts. What is known
// already stays.
func (em *Embeddings) Save(ctx context.Context, configuration string, made map[TextHash]EmbeddingVector) error {
	hashes, vectors := make([][]byte, 0, len(made)), make([][]byte, 0, len(made))
	for h, v := range made {
		hashes, vectors = append(hashes, h[:]), append(vectors, packVector(v))
	}
	_, err := em.pool.Exec(ctx, `
		INSERT INTO embeddings (configuration, text_h, vector)
		SELECT $1, h, v FROM unnest($2::bytea[], $3::bytea[]) AS x(h, v) ON CONFLICT DO NOTHING`, configuration, hashes, vectors)
	return pg.Unavailable(err)
}

// DeleteUnused forgets the vectors of every configuration that no index has a
// field for and that is not the given one, and reports how many they were.
func (em *Embeddings) DeleteUnused(ctx context.Context, but string) (int64, error) {
	tag, err := em.pool.Exec(ctx, `
		DELETE FROM embeddings WHERE configuration <> $1 AND configuration NOT IN (SELECT embedding FROM index_generations)`, but)
	return tag.RowsAffected(), pg.Unavailable(err)
}

// ErrEmbeddingBackfillBusy means that another process embeds what was left behind.
var ErrEmbeddingBackfillBusy = errors.New("another process embeds what was left behind")

// LockBackfill runs fn while no other process does, or gives ErrEmbeddingBackfillBusy at once.
func (em *Embeddings) LockBackfill(ctx context.Context, fn func() error) error {
	return pg.TryLocked(ctx, em.pool, pg.EmbeddingLock, ErrEmbeddingBackfillBusy, func(*pgxpool.Conn) error { return fn() })
}

func packVector(v []float32) []byte {
	if v == nil {
		return nil
	}
	out := make([]byte, 0, 4*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

func unpackVector(b []byte) []float32 {
	if b == nil {
		return nil
	}
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}
