package store_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vitrine/library"
	"vitrine/store"
)

// collectionChanges changes collections for the test of undos in any order.
func (s bench) collectionChanges(t *testing.T) changes {
	return changes{trash: "deleted", depend: true,
		read: `SELECT collection_h, jsonb_build_object('parent', parent_h, 'name', name, 'description', description, 'deleted', deleted_at IS NOT NULL) FROM collections`,
		refused: func(now things, key string, as thing) bool {
			after := maps.Clone(now)
			after[key] = as
			return !soundTree(after)
		},
		random: func(r *rand.Rand, keys []string) string {
			some := func() string {
				if len(keys) == 0 {
					return ""
				}
				return pick(r, keys...)
			}
			parent := some()
			if r.IntN(3) == 0 {
				parent = ""
			}
			var out store.CollectionChange
			var err error
			switch what := r.IntN(6); {
			case len(keys) < 3 || what < 2:
				out, err = s.Collections.Create(t.Context(), s.a, library.Collection{Name: pick(r, "a", "b", "c", "d")}, parent)
			case what == 2:
				out, err = s.Collections.Delete(t.Context(), s.a, some())
			case what == 3:
				out, err = s.Collections.Move(t.Context(), s.a, some(), parent)
			default:
				name, words := pick(r, "a", "b", "c", "d"), pick(r, "", "x", "y")
				out, err = s.Collections.Change(t.Context(), s.a, some(), func(c *library.Collection) error { c.Name, c.Description = name, words; return nil })
			}
			if kind := library.AsError(err).Kind; err != nil && (kind == library.KindInvalid || kind == library.KindNotFound) {
				return "" // too deep, below itself, or below what is deleted
			}
			return must[string](t)(out.OperationID, err)
		}}
}

// soundTree reports whether collections that are not deleted make a tree of at most five
// levels in which siblings have different names.
func soundTree(all things) bool {
	paths := map[string]bool{}
	for _, n := range all {
		if n["deleted"] == "true" {
			continue
		}
		path, depth := n["name"], 1
		for at := n["parent"]; at != "null"; at = all[at]["parent"] {
			if up := all[at]; up == nil || up["deleted"] == "true" || depth > 20 {
				return false
			}
			path = all[at]["name"] + "." + path
			depth++
		}
		if paths[path] || depth > library.MaxCollectionDepth {
			return false
		}
		paths[path] = true
	}
	return true
}

// collectionItemChanges changes the items of two collections.
func (s bench) collectionItemChanges(t *testing.T) changes {
	var hashes []library.AssetHash
	for i := range 5 {
		hashes = append(hashes, add(t, s, s.a, file(fmt.Sprint("item", i))).Asset.Hash)
	}
	for _, name := range []string{"one", "two"} {
		must[store.CollectionChange](t)(s.Collections.Create(t.Context(), s.a, library.Collection{Name: name}, ""))
	}
	return changes{
		read: `SELECT item_id || '/' || collection_h, jsonb_build_object('rank', rank, 'role', role, 'card', card::text, 'added', added_at) FROM collection_items`,
		random: func(r *rand.Rand, keys []string) string {
			ref := pick(r, "one", "two")
			some := []library.AssetHash{hashes[r.IntN(5)], hashes[r.IntN(5)]}
			switch r.IntN(5) {
			case 0:
				return must[store.ItemsChange](t)(s.Collections.Remove(t.Context(), s.a, ref, some)).OperationID
			case 1:
				var cards []string
				for _, k := range keys {
					if item, _, _ := strings.Cut(k, "/"); !slices.Contains(hashes, library.AssetHash(item)) {
						cards = append(cards, k)
					}
				}
				if len(cards) < 2 {
					return must[store.CardChange](t)(s.Collections.AddCard(t.Context(), s.a, ref, library.TextCard{Heading: "x"}, nil)).OperationID
				}
				card, of, _ := strings.Cut(pick(r, cards...), "/")
				if r.IntN(2) == 0 {
					return must[store.CardChange](t)(s.Collections.RemoveCard(t.Context(), s.a, of, card)).OperationID
				}
				body := pick(r, "", "long", "longer")
				return must[store.CardChange](t)(s.Collections.ChangeCard(t.Context(), s.a, of, card, nil, func(c *library.TextCard) error { c.Body = body; return nil })).OperationID
			}
			role, at := library.MemberRoles[r.IntN(3)], r.IntN(4)
			in := store.NewItems{Assets: some, Role: &role}
			if r.IntN(2) == 0 {
				in.Position = &at
			}
			return must[store.ItemsChange](t)(s.Collections.Add(t.Context(), s.a, ref, in)).OperationID
		}}
}
