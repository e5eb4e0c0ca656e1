package bench

import (
	"context"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"time"

	"vitrine/api/client"
)

// measureCommit changes one asset after the other and waits for each change to be
// found. The pauses between are of random length, because a change made right
// after the index was refreshed would always wait for a whole interval.
func (e *env) measureCommit(ctx context.Context, r *rand.Rand) ([]Figure, error) {
	hashes, err := e.someAssets(ctx)
	if err != nil {
		return nil, err
	}
	e.Step("Changing %d assets and waiting for each to be found", e.Commits)
	var indexed, found []time.Duration
	for i := range e.Commits + 1 {
		if err := sleep(ctx, time.Duration(r.Int64N(int64(refreshInterval)))); err != nil {
			return nil, err
		}
		one, err := e.commit(ctx, r, hashes[i%len(hashes)])
		if err != nil {
			return nil, err
		}
		if i > 0 { // the first warms up
			indexed, found = append(indexed, one.indexed), append(found, one.found)
		}
	}
	f := Figure{Key: KeyCommit, Repeats: len(found)}
	f.Rows = []Row{{Name: "until a search finds it", Unit: "ms", Ours: milliseconds(found)},
		{Name: "until the index has it, which the next refresh shows", Unit: "ms", Ours: milliseconds(indexed)}}
	f.Value, f.P95 = f.Rows[0].Ours.P50, f.Rows[0].Ours.P95
	return []Figure{f}, nil
}

// refreshInterval is the one of the product's index settings.
const refreshInterval = time.Second

// commitLimit ends a wait that will not end well.
const commitLimit = 30 * time.Second

// arrival is how long after the answer of a write its change was in the index,
// and how long after it a search found it.
type arrival struct{ indexed, found time.Duration }

func (e *env) commit(ctx context.Context, r *rand.Rand, hash string) (a arrival, err error) {
	word := "w" + hex.EncodeToString([]byte{byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())})
	before, err := e.indexedSoFar(ctx)
	if err != nil {
		return a, err
	}
	if _, err := e.client().UpdateAsset(ctx, client.UpdateAssetInput{AssetH: hash, Title: &word}); err != nil {
		return a, err
	}
	began := time.Now()
	err = until(ctx, 2*time.Millisecond, commitLimit, "the change is in the index", func() (bool, error) {
		now, err := e.indexedSoFar(ctx)
		return now > before, err
	})
	if err != nil {
		return a, err
	}
	a.indexed = time.Since(began)
	err = until(ctx, 2*time.Millisecond, commitLimit, "a search finds the change", func() (bool, error) {
		found, err := e.client().SearchAssets(ctx, client.SearchAssetsInput{Query: "title:" + word, Limit: 1})
		return found.Total > 0, err
	})
	a.found = time.Since(began)
	return a, err
}

// indexedSoFar counts the documents that OpenSearch has taken; asking for it does
// not make a refresh happen, as asking for the document might.
func (e *env) indexedSoFar(ctx context.Context) (int64, error) {
	var response struct {
		All struct {
			Primaries struct {
				Indexing struct {
					Total int64 `json:"index_total"`
				} `json:"indexing"`
			} `json:"primaries"`
		} `json:"_all"`
	}
	err := e.index(ctx, http.MethodGet, "/"+e.alias()+"/_stats/indexing?filter_path=_all.primaries.indexing.index_total", nil, &response)
	return response.All.Primaries.Indexing.Total, err
}
