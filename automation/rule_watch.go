package automation

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/store"
)

// hashSet is a set of assets: 20 bytes and a flag for each, since a query may match a million.
type hashSet map[[20]byte]bool

func keyOf(h library.AssetHash) (key [20]byte) {
	_, _ = hex.Decode(key[:], []byte(h)) // hashes of the library are valid
	return key
}

func hashOf(key [20]byte) library.AssetHash { return library.AssetHash(hex.EncodeToString(key[:])) }

// Prime returns the assets that match a query now, for a watch that is not to fire for them, and
// reports whether it found out within a few seconds. If not, the first look of the watch learns
// them.
func (rs *Rules) Prime(ctx context.Context, actor library.Actor, query string) (matches []library.AssetHash, primed bool) {
	const limit = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	matches, err := rs.matching(ctx, actor, query)
	if err != nil {
		rs.cfg.Log.Info("what matches a new watch is learned at its first look", "error", err)
		return nil, false
	}
	return matches, true
}

func (rs *Rules) matching(ctx context.Context, actor library.Actor, query string) (matches []library.AssetHash, err error) {
	err = rs.cfg.EachMatch(ctx, actor, query, func(page []library.AssetHash) error {
		matches = append(matches, page...)
		return nil
	})
	return matches, err
}

// lookForMatches fires a watch for the assets that match its query and that it did not know.
func (rs *Rules) lookForMatches(ctx context.Context, tenant library.TenantID, r library.Rule) (out []Result, err error) {
	now, actor := rs.cfg.Now(), store.RuleActor(tenant, r)
	next := now.Add(interval(r))
	if !r.Primed {
		matches, err := rs.matching(ctx, actor, r.Trigger.Query)
		if err == nil {
			err = rs.rules.Learn(ctx, tenant, r, matches)
		}
		if err != nil {
			return nil, err
		}
		return nil, rs.rules.Advance(ctx, tenant, r, now, next)
	}
	fresh, gone, err := rs.compare(ctx, actor, r)
	if err != nil {
		return nil, err
	}
	if err := rs.forget(ctx, actor, r, gone); err != nil {
		return nil, err
	}
	byDepth, err := rs.byDepth(ctx, tenant, fresh)
	if err != nil {
		return nil, err
	}
	for depth, assets := range byDepth {
		for part := range slices.Chunk(assets, library.MaxRuleAssets) {
			run, err := rs.fire(ctx, tenant, r, matched(r, part, depth, now))
			if err != nil {
				return out, err
			}
			if run.State == library.FiringStale { // another process looked meanwhile
				return out, rs.rules.Advance(ctx, tenant, r, now, now)
			}
			out = append(out, Result{r, run})
			if run.State == library.FiringRateLimited || run.State == library.FiringDisabled {
				return out, rs.rules.Advance(ctx, tenant, r, now, next) // what is left fires later
			}
		}
	}
	return out, rs.rules.Advance(ctx, tenant, r, now, next)
}

// matched returns the firing of a watch for assets that newly match.
func matched(r library.Rule, assets []library.AssetHash, depth int, now time.Time) library.RuleFiring {
	ids := make([]any, len(assets))
	for i, h := range assets {
		ids[i] = string(h)
	}
	return library.RuleFiring{Source: "watch/" + rand.Text(), At: now, Depth: depth, Assets: assets,
		Reason: map[string]any{"query": r.Trigger.Query, "assets": len(assets), "first": assets[:min(len(assets), 5)]}, Vars: map[string]any{"asset_ids": ids}}
}

// compare returns the assets that match a watch's query and that it does not know, in the order of
// the query, and those that it knows and that do not match.
func (rs *Rules) compare(ctx context.Context, actor library.Actor, r library.Rule) (fresh, gone []library.AssetHash, err error) {
	list, err := rs.rules.Matches(ctx, actor.Tenant, r.ID)
	if err != nil {
		return nil, nil, err
	}
	known := make(hashSet, len(list)) // true: it still matches
	for _, h := range list {
		known[keyOf(h)] = false
	}
	err = rs.cfg.EachMatch(ctx, actor, r.Trigger.Query, func(page []library.AssetHash) error {
		for _, h := range page {
			key := keyOf(h)
			if _, ok := known[key]; !ok {
				fresh = append(fresh, h)
			}
			known[key] = true
		}
		return nil
	})
	for key, matches := range known {
		if !matches {
			gone = append(gone, hashOf(key))
		}
	}
	return fresh, gone, err
}

// byDepth returns assets by how many rules led to the last change of each.
func (rs *Rules) byDepth(ctx context.Context, tenant library.TenantID, assets []library.AssetHash) (map[int][]library.AssetHash, error) {
	out := map[int][]library.AssetHash{}
	for part := range slices.Chunk(assets, library.MaxRuleAssets) {
		depths, err := rs.rules.Depths(ctx, tenant, part)
		if err != nil {
			return nil, err
		}
		for _, h := range part {
			out[depths[h]] = append(out[depths[h]], h)
		}
	}
	return out, nil
}

// forget makes a watch forget assets that do not match any more, so that it fires again when they
// do. An asset that the index has lost, because it is being rebuilt for example, still matches as
// far as anybody knows: it would fire once more when the index is whole again.
func (rs *Rules) forget(ctx context.Context, actor library.Actor, r library.Rule, gone []library.AssetHash) error {
	for part := range slices.Chunk(gone, 100) {
		live, err := rs.assets.Existing(ctx, actor, part)
		if err != nil {
			return err
		}
		lost := map[library.AssetHash]bool{}
		var names []string
		for _, h := range part {
			if live[h] {
				lost[h] = true
				names = append(names, string(h))
			}
		}
		if len(names) > 0 {
			if err := rs.cfg.EachMatch(ctx, actor, strings.Join(names, " OR "), func(page []library.AssetHash) error {
				for _, h := range page {
					delete(lost, h)
				}
				return nil
			}); err != nil {
				return err
			}
		}
		part = slices.DeleteFunc(slices.Clone(part), func(h library.AssetHash) bool { return lost[h] })
		if err := rs.rules.Unlearn(ctx, actor.Tenant, r.ID, part); err != nil {
			return err
		}
	}
	return nil
}
