package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"

	"vitrine/library"
)

// assetNoun is an asset; its key is the hash. Undoing the upload of a file moves the
// asset to the trash.
var assetNoun = (&Noun{name: "asset"}).trashed("trashed", "created", "updated", "trashed", "restored", "deleted")

func init() { register(assetNoun, undoAssets) }

func undoAssets(ctx context.Context, t *Tx, _ *Noun, entries []entry) ([]library.Outcome, error) {
	list, err := decodeAssetEntries(entries)
	if err != nil {
		return nil, err
	}
	hashes := make([]library.AssetHash, len(list))
	var moving []library.AssetHash
	for i, e := range list {
		hashes[i] = e.hash
		if e.after.Trashed != nil {
			moving = append(moving, e.hash)
		}
	}
	if len(moving) > 0 {
		if err := lockLineage(ctx, t, t.tenant(), moving); err != nil {
			return nil, err
		}
	}
	have, err := lockAssets(ctx, t, t.tenant(), hashes)
	if err != nil {
		return nil, err
	}
	outcomes := make([]library.Outcome, 0, len(list))
	var changes []change
	for _, e := range list {
		a, ok := have[e.hash]
		if !ok || !t.actor.Sees(a) {
			outcomes = append(outcomes, library.Outcome{Key: string(e.hash), Outcome: library.OutcomeGone, Reason: "the asset was deleted"})
			continue
		}
		after, reason := revertFields(a, e.before, e.after, t.actor)
		c := change{before: a, after: after}
		_, _, same := c.difference()
		outcomes = append(outcomes, library.Outcome{Key: string(e.hash), Name: nameOf(a), Outcome: outcomeOf(!same, reason), Reason: reason})
		changes = append(changes, c)
	}
	_, err = applyChanges(ctx, t, changes)
	return outcomes, err
}

func nameOf(a library.Asset) string {
	if a.Title != "" {
		return a.Title
	}
	return a.Filename
}

// assetEntry is a decoded journal entry of an asset.
type assetEntry struct {
	hash          library.AssetHash
	before, after fields
}

func decodeAssetEntries(entries []entry) ([]assetEntry, error) {
	list := make([]assetEntry, len(entries))
	trashed, stored := true, false
	for i, e := range entries {
		list[i].hash = library.AssetHash(e.key)
		if e.before == nil { // it was stored: undoing that moves it to the trash
			list[i].before.Trashed, list[i].after.Trashed = &trashed, &stored
			continue
		}
		if err := json.Unmarshal(e.before, &list[i].before); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(e.after, &list[i].after); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// revertFields returns an asset with the fields as they were before, where nobody
// changed them since. reason names the first field that was, or that the actor may not
// change.
func revertFields(a library.Asset, before, after fields, actor library.Actor) (result library.Asset, reason string) {
	restore := func(name string, same bool, set func()) {
		switch {
		case same:
			set()
		case reason == "":
			reason = name + " was changed again since"
		}
	}
	if after.Title != nil {
		restore("title", a.Title == *after.Title, func() { a.Title = *before.Title })
	}
	if after.Description != nil {
		restore("description", a.Description == *after.Description, func() { a.Description = *before.Description })
	}
	if after.Status != nil {
		restore("status", a.Status == *after.Status, func() { a.Status = *before.Status })
	}
	if after.Trashed != nil {
		restore("trash", a.Trashed == *after.Trashed, func() { a.Trashed = *before.Trashed })
	}
	switch shares := actor.MayShare(a); { // asked of the asset as it is, before its owner is put back
	case after.Owner == nil && after.Visibility == nil:
	case !shares:
		reason = cmp.Or(reason, "only its owner or an admin changes who sees it")
	default:
		if after.Owner != nil {
			restore("owner", a.Owner == *after.Owner, func() { a.Owner = *before.Owner })
		}
		if after.Visibility != nil {
			restore("visibility", a.Visibility == *after.Visibility, func() { a.Visibility = *before.Visibility })
		}
	}
	if after.Rating != nil {
		restore("rating", a.Rating == *after.Rating, func() { a.Rating = *before.Rating })
	}
	if after.Favorite != nil {
		restore("favorite", a.Favorite == *after.Favorite, func() { a.Favorite = *before.Favorite })
	}
	if after.Metadata != nil {
		a.Metadata = revertMetadata(a.Metadata, *before.Metadata, *after.Metadata, func() { restore("asset_metadata", false, nil) })
	}
	if after.Tags != nil {
		added := library.RemoveTags(*after.Tags, *before.Tags)
		removed := library.RemoveTags(*before.Tags, *after.Tags)
		kept := library.RemoveTags(a.Tags, added)
		if missing := library.RemoveTags(removed, a.Tags); len(missing) == 0 {
			a.Tags = kept // an order alone is not put back
		} else {
			a.Tags = restoreOrder(library.MergeTags(kept, removed), *before.Tags)
		}
	}
	return a, reason
}

// revertMetadata returns metadata with the keys as they were before, where nobody changed
// them since; kept is called for every other one.
func revertMetadata(now, before, after map[string]any, kept func()) map[string]any {
	out := maps.Clone(now)
	if out == nil {
		out = map[string]any{}
	}
	for key := range mergedKeys(before, after) {
		old, was := before[key]
		changed, is := after[key]
		current, have := now[key]
		switch {
		case was == is && equalJSON(old, changed):
		case have != is || !equalJSON(current, changed):
			kept()
		case was:
			out[key] = old
		default:
			delete(out, key)
		}
	}
	return out
}

func mergedKeys(a, b map[string]any) map[string]bool {
	keys := make(map[string]bool, len(a)+len(b))
	for key := range a {
		keys[key] = true
	}
	for key := range b {
		keys[key] = true
	}
	return keys
}

// equalJSON reports whether two values encode to the same JSON.
func equalJSON(a, b any) bool {
	x, err := json.Marshal(a)
	if err != nil {
		return false
	}
	y, err := json.Marshal(b)
	return err == nil && bytes.Equal(x, y)
}

// restoreOrder sorts the tags of before to their old places and leaves the others behind them.
func restoreOrder(tags, before []string) []string {
	old := library.RemoveTags(before, library.RemoveTags(before, tags))
	return library.MergeTags(old, tags)
}
