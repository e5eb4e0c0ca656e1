package pipeline

import (
	"slices"

	"vitrine/library"
	"vitrine/store"
)

// addToCollection puts assets into a collection.
type addToCollection struct {
	Path   string `json:"path" minLength:"1" maxLength:"600" doc:"The collection's path, or its collection_h."`
	Role   string `json:"role,omitempty" enum:"KeyVisual,SupportingElement,ReferenceMaterial,BackgroundAsset,Logo,Variation,Other" doc:"Of the assets in it."`
	Create bool   `json:"create_if_missing,omitempty" doc:"Makes the collection, and those above it, where it is not there."`

	target target
}

var kindAddToCollection = newKind[addToCollection](Kind{Type: "add_to_collection", Category: Action, Doc: "Puts assets into a collection, behind those that are in it, in the order of the set.", Args: []string{"path"},
	Example: map[string]any{"path": "clients.spring", "create_if_missing": true}})

func (s *addToCollection) check(c *checking) []library.FieldError {
	return checkPath(c, "path", s.Path)
}

// checkPath reports a text that is no path of a collection.
func checkPath(c *checking, key, path string) []library.FieldError {
	if library.CollectionPath(path) == "" || len(library.CollectionAncestry(library.CollectionPath(path))) > library.MaxCollectionDepth {
		return []library.FieldError{{Field: c.at + "." + key, Code: "format", Message: "Expected the path of a collection with 1 to 5 levels, such as clients.spring."}}
	}
	return nil
}

func (s *addToCollection) kinds() store.FactKinds { return store.FactKinds{Collections: true} }

func (s *addToCollection) begin(x *exec) (err error) {
	s.target, err = x.findTarget(s.Path, s.Create)
	return err
}

// target is a collection that a stage changes.
type target struct {
	path string
	hash library.CollectionHash // empty in a dry run that would make it
}

// findTarget returns the collection with a path or hash, and makes it where that is wanted and
// it is not there.
func (x *exec) findTarget(ref string, create bool) (target, error) {
	err := x.engine.Store.Collections.CheckEditable(x.ctx, x.actor(), ref)
	if err == nil {
		found, err := x.engine.Store.Collections.Get(x.ctx, x.actor(), ref, false)
		return target{found.Path, found.Hash}, err
	}
	if library.AsError(err).Kind != library.KindNotFound {
		return target{}, err
	}
	path := library.CollectionPath(ref)
	if !create {
		if x.createdBefore(path) {
			return target{path: path}, nil
		}
		return target{}, library.NewError(library.KindNotFound, library.CodeNotFound, "There is no collection %s. Create it, or set create_if_missing: true.", path)
	}
	made := int64(0)
	err = x.save(func(t *store.Tx) error {
		if x.dry() {
			made = x.missingLevels(path)
		} else {
			list, err := t.MakeCollection(x.ctx, path)
			if err != nil {
				return err
			}
			made = int64(len(list))
		}
		sum := tally{effects: x.trace().Effects}
		if !slices.ContainsFunc(sum.effects, func(e library.StageEffect) bool { return e.Kind == "collection.created" }) {
			sum.add("collection.created", "", made)
		}
		x.trace().Effects = sum.effects
		return nil
	})
	if err != nil || x.dry() {
		return target{path: path}, err
	}
	found, err := x.engine.Store.Collections.Get(x.ctx, x.actor(), path, false)
	return target{found.Path, found.Hash}, err
}

// createdBefore reports whether an earlier stage of a dry run would have made a collection.
func (x *exec) createdBefore(path string) bool {
	if !x.dry() {
		return false
	}
	for _, s := range x.claim.Stages[:x.index] {
		made, _ := s.Config["path"].(string)
		if to, ok := s.Config["to"].(string); ok {
			made = to
		}
		for _, c := range library.CollectionAncestry(library.CollectionPath(made)) {
			if s.Config["create_if_missing"] == true && c.Path == path {
				return true
			}
		}
	}
	return false
}

// missingLevels counts the collections on the way to a path that a dry run would make.
func (x *exec) missingLevels(path string) (n int64) {
	for _, c := range library.CollectionAncestry(path) {
		if _, err := x.engine.Store.Collections.Get(x.ctx, x.actor(), c.Path, false); err != nil && !x.createdBefore(c.Path) {
			n++
		}
	}
	return n
}

func (s *addToCollection) role() *library.MemberRole {
	if s.Role == "" {
		return nil
	}
	r := library.MemberRole(s.Role)
	return &r
}

func (s *addToCollection) simulate(_ *exec, rows []*Row, t *tally) error {
	for _, r := range rows {
		r.join(s.target, s.role(), t)
	}
	return nil
}

// join puts a row into a collection.
func (r *Row) join(to target, role *library.MemberRole, t *tally) {
	have, member := r.memberOf(to.path)
	switch {
	case !member:
		m := store.Membership{Collection: to.hash, Path: to.path}
		if role != nil {
			m.Role = *role
		}
		r.Facts.Collections = append(slices.Clone(r.Facts.Collections), m)
		t.add("collection.asset_added", "", 1)
	case role != nil && *role != have.Role:
		r.Facts.Collections = slices.Clone(r.Facts.Collections)
		i := slices.Index(r.Facts.Collections, have)
		r.Facts.Collections[i].Role = *role
		t.add("collection.item_changed", "", 1)
	default:
		return
	}
	t.changed = append(t.changed, r.Hash)
}

func (s *addToCollection) apply(x *exec, tx *store.Tx, assets []library.AssetHash, t *tally) error {
	return t.added(tx.AddToCollection(x.ctx, string(s.target.hash), store.NewItems{Assets: assets, Role: s.role()}))
}

// added counts what a change of a collection did.
func (t *tally) added(done store.ItemsChange, err error) error {
	t.add("collection.asset_added", "", int64(len(done.Added)))
	t.add("collection.item_changed", "", int64(len(done.Changed)))
	t.changed = slices.Concat(t.changed, done.Added, done.Changed)
	t.missing += int64(len(done.Missing))
	return err
}
