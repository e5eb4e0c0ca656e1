package indexer

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"vitrine/library"
)

func TestSubscribe_FollowHandlesEveryChangeUnderItsOwnGroup(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	var mu sync.Mutex
	seen := map[library.AssetHash]int{}
	e.run(e.relay(), e.indexer(), serviceFunc(func(ctx context.Context) error {
		return Subscribe(ctx, e.cfg, "previews", 2, func(_ context.Context, ev Event) {
			mu.Lock()
			defer mu.Unlock()
			seen[ev.Hash]++
		})
	}))
	var hashes []library.AssetHash
	for i := range 20 {
		hashes = append(hashes, e.add(newAsset(fmt.Sprint(i))).Hash)
	}
	e.eventually(time.Minute, func() string {
		mu.Lock()
		defer mu.Unlock()
		return missingFrom(seen, hashes...)
	})
	e.eventually(time.Minute, func() string { return e.differs(hashes...) })
}
