package bench

import (
	"context"
	"fmt"
	"time"
)

// How the nearest neighbours are checked: how many of them, for how many vectors.
const (
	recallAt      = 10
	recallVectors = 25
)

// measureRecall compares the neighbours that the service finds with those that are
// computed from all vectors, where all assets pass the filter and where few do.
func (e *env) measureRecall(ctx context.Context, c *corpus) ([]Figure, error) {
	e.Step("Comparing %d times %d neighbours with the exact ones", recallVectors*(len(shelves)+1), recallAt)
	masks := []uint8{0}
	for bit := range shelves {
		masks = append(masks, 1<<bit)
	}
	recalls, times := make([][]float64, len(masks)), make([][]time.Duration, len(masks))
	for n := range recallVectors {
		v := c.vectorOf(some(fmt.Sprintf("S%d A%d E%d M%d", n*3, n, n*2, n%10)) + fmt.Sprint(n))
		near := c.nearness(v)
		for i, mask := range masks {
			q, err := e.nearestQuestion("", v, mask, recallAt)
			if err != nil {
				return nil, err
			}
			began := time.Now()
			hits, _, err := e.found(ctx, &q)
			if err != nil {
				return nil, err
			}
			took := time.Since(began)
			share, matches := c.share(hits, near, mask, recallAt)
			if len(hits) != min(recallAt, matches) {
				return nil, fmt.Errorf("%d neighbours found where %d of %d assets that pass the filter were asked for", len(hits), recallAt, matches)
			}
			recalls[i], times[i] = append(recalls[i], share), append(times[i], took)
		}
	}
	return []Figure{recallFigure(recalls, times)}, nil
}

func recallFigure(recalls [][]float64, times [][]time.Duration) Figure {
	f := Figure{Key: KeyRecall, Value: 1}
	for i, list := range recalls {
		name := "100 % of all assets pass the filter"
		if i > 0 {
			name = fmt.Sprintf("%g %%", 100/float64(shelves[i-1].every))
		}
		sum := 0.0
		for _, r := range list {
			sum += r
		}
		row := Row{Name: name, Unit: "a part of 1", Ours: summarize(list, true), Floor: milliseconds(times[i]), Ratio: sum / float64(len(list))}
		f.Rows = append(f.Rows, row)
		f.Value, f.Repeats = min(f.Value, row.Ratio), f.Repeats+len(list)
	}
	return f
}
