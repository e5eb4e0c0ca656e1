package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"vitrine/api/client"
)

// side is one side of a comparison.
type side struct {
	name string
	ask  func(context.Context, *question) (asked, error)
}

// cachedFacets names facets that OpenSearch answers from its request cache. They
// are shown, but stand outside the mix: their floor is a look-up in a map.
const cachedFacets = "facets, again (OpenSearch answers from its cache)"

// measureSearch asks every question of OpenSearch itself, over REST and over MCP
// in turn. All three must find the same, else the run fails.
func (e *env) measureSearch(ctx context.Context, r *rand.Rand) ([]Figure, error) {
	list, err := e.questions()
	if err != nil {
		return nil, err
	}
	again := []question{}
	for _, q := range list {
		if q.tool == "GetFacets" {
			q.class = cachedFacets
			again = append(again, q)
		}
	}
	sides := []side{{"OpenSearch", e.direct}, {"REST", e.viaREST}, {"MCP", e.viaMCP}}
	e.Step("Warming up: %d searches per side", e.WarmUp)
	for i := range e.WarmUp {
		for _, a := range sides {
			if _, err := e.patiently(ctx, a, &list[i%len(list)]); err != nil {
				return nil, err
			}
		}
	}
	e.Step("Searching: %d searches, %d times each, on 3 sides", len(list), e.Repeats)
	times, err := e.turns(ctx, r, rounds{counted: e.Repeats, agree: sameAnswer}, append(list, again...), sides)
	if err != nil {
		return nil, err
	}
	details, err := e.measureDetails(ctx, r)
	if err != nil {
		return nil, err
	}
	return []Figure{searchFigure(times), mcpFigure(times, details)}, nil
}

// attempts are made of a search that fails: the index cancels searches of more
// than some seconds, which a machine with other work may need.
const attempts = 4

// patiently asks again when a search fails, and counts that for the report.
func (e *env) patiently(ctx context.Context, a side, q *question) (got asked, err error) {
	for range attempts {
		if got, err = a.ask(ctx, q); err == nil || ctx.Err() != nil {
			return got, err
		}
		e.repeated++
		if err := sleep(ctx, time.Second); err != nil {
			return got, err
		}
	}
	return got, fmt.Errorf("%s, %q: %w", a.name, q.text, err)
}

// clearFacetCache makes OpenSearch count facets anew, for whichever side asks next: an
// answer that only the second and third side find in its cache compares nothing.
func (e *env) clearFacetCache(ctx context.Context, q *question) error {
	if q.tool != "GetFacets" || q.class == cachedFacets {
		return nil
	}
	return e.index(ctx, http.MethodPost, "/"+e.alias()+"/_cache/clear?request=true", nil, nil)
}

func searchFigure(times spans) Figure {
	f := Figure{Key: KeySearch, Rows: []Row{times.all().row(mixOfAll, 0, 1)}}
	for _, c := range classes {
		f.Rows = append(f.Rows, times.row(c.name, 0, 1))
	}
	cached := times.row(cachedFacets, 0, 1)
	cached.Name += "; not in the mix"
	f.Rows = append(f.Rows, cached)
	f.Value, f.Repeats = f.Rows[0].Ratio, f.Rows[0].Ours.N
	return f
}

func mcpFigure(times spans, details [2][]time.Duration) Figure {
	mix := times.all()[mixOfAll]
	tools := spans{"SearchAssets and GetFacets, the mix": {mix[1], mix[2]}, "GetAssetDetails": details[:]}
	f := Figure{Key: KeyMCP}
	for _, name := range []string{"SearchAssets and GetFacets, the mix", "GetAssetDetails"} {
		row := tools.row(name, 0, 1)
		row.Ratio = row.Ours.P50 - row.Floor.P50
		f.Rows = append(f.Rows, row)
		f.Value, f.Repeats = max(f.Value, row.Ratio), f.Repeats+row.Ours.N
	}
	return f
}

// measureDetails reads single assets over REST and over MCP in turn.
func (e *env) measureDetails(ctx context.Context, r *rand.Rand) (times [2][]time.Duration, err error) {
	hashes, err := e.someAssets(ctx)
	if err != nil {
		return times, err
	}
	e.Step("Reading %d assets on 2 sides", len(hashes)*e.Repeats)
	for round := range e.Repeats + 2 { // the first two warm up
		for _, h := range hashes {
			for _, side := range r.Perm(2) {
				took, err := e.details(ctx, side, h)
				if err != nil {
					return times, err
				}
				if round >= 2 {
					times[side] = append(times[side], took)
				}
			}
		}
	}
	return times, nil
}

// details reads one asset, over REST (0) or MCP (1), and gives how long it took.
func (e *env) details(ctx context.Context, side int, hash string) (time.Duration, error) {
	message, err := mcpMessage("tools/call", map[string]any{"name": "GetAssetDetails", "arguments": map[string]any{"asset_h": hash}})
	if err != nil {
		return 0, err
	}
	began := time.Now()
	var response map[string]any
	if side == 0 {
		raw, failed := e.callREST(ctx, http.MethodGet, "/api/v1/assets/"+hash, nil)
		if err = failed; err == nil {
			err = json.Unmarshal(raw, &response)
		}
	} else {
		response, err = callMCP[map[string]any](ctx, e, "GetAssetDetails", message)
	}
	if err != nil {
		return 0, err
	}
	took := time.Since(began)
	if response["asset_h"] != hash {
		return 0, fmt.Errorf("asked for the asset %s and got %v", hash, response["asset_h"])
	}
	return took, nil
}

// detailAssets is how many different assets are read for their details.
const detailAssets = 40

// someAssets returns hashes of assets that tell of their making.
func (e *env) someAssets(ctx context.Context) (hashes []string, err error) {
	found, err := e.client().SearchAssets(ctx, client.SearchAssetsInput{Query: "has:prompt", Limit: detailAssets})
	if err != nil {
		return nil, err
	}
	for _, d := range found.Data {
		hashes = append(hashes, d.AssetH)
	}
	if len(hashes) == 0 {
		return nil, errors.New("no asset of the sample tells of its making")
	}
	return hashes, nil
}
