// Package c2pa reads what a file's content credentials claim about its making.
//
// In go the JUMBF boxes that a container holds (PNG caBX, JPEG APP11, WebP C2PA,
// an MP4 uuid box); out comes who made the claim, which actions it names, the kind
// of source it states, and the ingredients it was made from. Signatures and
// hashes are never checked: whatever comes out is unverified, and says so. No
// prompt stands in content credentials, so none is ever reported from here.
package c2pa

import (
	"cmp"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/fxamacker/cbor/v2"

	"vitrine/library"
)

// Unverified is the state of every signature: none is checked.
const Unverified = "unverified"

// Limits of what one claim may list.
const (
	maxActions     = 256
	maxIngredients = 256
	maxText        = 4096 // bytes of one text
	maxAncestors   = 8    // manifests that are followed for the kind of source
)

// Read takes the claim out of a manifest store (C2PA specification 2.1, section
// 11): the last manifest is the file's own, those before it belong to its
// ingredients. A store without a readable claim gives a library.Error of kind
// unprocessable.
func Read(boxes []byte) (*library.C2PA, error) {
	var w walker
	for _, top := range w.superboxes(boxes, 0) {
		if top.label != "c2pa" || len(top.children) == 0 {
			continue
		}
		s := store{manifests: top.children}
		if claim := s.active(); claim != nil {
			return claim, nil
		}
	}
	return nil, library.NewError(library.KindUnprocessable, library.CodeUnsupportedMedia,
		"The file's content credentials hold no claim that can be read.")
}

type store struct{ manifests []superbox }

// claim is what is read of a claim box, versions 1 and 2.
type claim struct {
	Generator  string        `cbor:"claim_generator"`
	Info       generatorInfo `cbor:"claim_generator_info"`
	InstanceID string        `cbor:"instanceID"`
}

type actions struct {
	Actions []struct {
		Action     string `cbor:"action"`
		SourceType string `cbor:"digitalSourceType"`
	} `cbor:"actions"`
}

type hashedURI struct {
	URL string `cbor:"url"`
}

type ingredient struct {
	Title        string    `cbor:"dc:title"`
	Format       string    `cbor:"dc:format"`
	Relationship string    `cbor:"relationship"`
	DocumentID   string    `cbor:"documentID"`
	InstanceID   string    `cbor:"instanceID"`
	Manifest     hashedURI `cbor:"c2pa_manifest"`  // versions 1 and 2
	Active       hashedURI `cbor:"activeManifest"` // version 3
}

// active reads the last manifest, nil when its claim cannot be read: the claims
// before it are of other files.
func (s *store) active() *library.C2PA {
	m := &s.manifests[len(s.manifests)-1]
	own, ok := claimOf(m)
	if !ok {
		return nil
	}
	c := &library.C2PA{ClaimGenerator: own.generator(), Signature: Unverified, ManifestID: clean(m.label), InstanceID: clean(own.InstanceID)}
	made, from := assertions(m)
	for _, a := range made.Actions {
		if a.Action != "" && len(c.Actions) < maxActions {
			c.Actions = append(c.Actions, clean(a.Action))
		}
	}
	for _, x := range from {
		c.Ingredients = append(c.Ingredients, library.C2PAIngredient{
			Title: clean(x.Title), Format: clean(x.Format), Relationship: clean(x.Relationship),
			DocumentID: clean(x.DocumentID), InstanceID: clean(x.InstanceID), ManifestID: clean(manifestLabel(cmp.Or(x.Active.URL, x.Manifest.URL))),
		})
	}
	c.SourceType = clean(s.sourceType(made, from, maxAncestors))
	return c
}

// claimOf reads a manifest's claim; false when the manifest has none.
func claimOf(m *superbox) (c claim, ok bool) {
	for _, label := range []string{"c2pa.claim.v2", "c2pa.claim"} {
		box := m.child(label)
		if box == nil || box.cbor == nil {
			continue
		}
		if decode(box.cbor, &c) {
			return c, true
		}
	}
	return claim{}, false
}

// generator returns the name of the program that made a claim.
func (c claim) generator() string { return clean(cmp.Or(c.Generator, c.Info.name())) }

// generatorInfo is a map in version 2 of the claim, a list of maps in version 1.
type generatorInfo struct{ cbor.RawMessage }

func (i generatorInfo) name() string {
	type program struct {
		Name    string `cbor:"name"`
		Version string `cbor:"version"`
	}
	var one program
	if decode(i.RawMessage, &one) {
		return strings.TrimSpace(one.Name + " " + one.Version)
	}
	var list []program
	if decode(i.RawMessage, &list) && len(list) > 0 {
		return strings.TrimSpace(list[0].Name + " " + list[0].Version)
	}
	return ""
}

// assertions reads a manifest's actions and ingredients. A label may carry a
// version and, when it repeats, a number: c2pa.ingredient.v2__1.
func assertions(m *superbox) (made actions, from []ingredient) {
	box := m.child("c2pa.assertions")
	if box == nil {
		return made, nil
	}
	for _, a := range box.children {
		switch {
		case hasLabel(a.label, "c2pa.actions"):
			var more actions
			if decode(a.cbor, &more) {
				made.Actions = append(made.Actions, more.Actions...)
			}
		case hasLabel(a.label, "c2pa.ingredient") && len(from) < maxIngredients:
			var x ingredient
			if decode(a.cbor, &x) {
				from = append(from, x)
			}
		}
	}
	return made, from
}

func hasLabel(label, name string) bool {
	rest, ok := strings.CutPrefix(label, name)
	return ok && (rest == "" || strings.HasPrefix(rest, ".v") || strings.HasPrefix(rest, "__"))
}

// sourceType returns the kind of source that the actions state. An edit states none
// itself; then the manifest of the file that was edited, its parent, is asked.
func (s *store) sourceType(made actions, from []ingredient, depth int) string {
	for _, a := range made.Actions {
		if a.SourceType != "" {
			return a.SourceType
		}
	}
	for _, x := range from {
		if x.Relationship != "parentOf" || depth == 0 {
			continue
		}
		if m := s.manifest(cmp.Or(x.Active.URL, x.Manifest.URL)); m != nil {
			made, from := assertions(m)
			return s.sourceType(made, from, depth-1)
		}
	}
	return ""
}

// manifestLabel returns a manifest's name out of a link such as
// self#jumbf=/c2pa/urn:uuid:….
func manifestLabel(link string) string {
	_, path, _ := strings.Cut(link, "=")
	label, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(path, "/"), "c2pa/"), "/")
	return label
}

// manifest finds the manifest that a link leads to.
func (s *store) manifest(link string) *superbox {
	label := manifestLabel(link)
	for i := range s.manifests {
		if label != "" && s.manifests[i].label == label {
			return &s.manifests[i]
		}
	}
	return nil
}

// decoding bounds what a CBOR box may make the decoder build.
var decoding = func() cbor.DecMode {
	m, err := cbor.DecOptions{MaxNestedLevels: 32, MaxArrayElements: 4096, MaxMapPairs: 1024,
		UTF8: cbor.UTF8DecodeInvalid}.DecMode()
	if err != nil {
		panic(err) // the options are constants
	}
	return m
}()

// decode reads the fields that v knows. A field of an unexpected type is left
// empty and does not spoil the others; a value of another shape altogether fails.
func decode(b []byte, v any) bool {
	if len(b) == 0 {
		return false
	}
	err := decoding.Unmarshal(b, v)
	var mismatch *cbor.UnmarshalTypeError
	return err == nil || errors.As(err, &mismatch) && mismatch.StructFieldName != ""
}

// clean makes a text fit to store: valid, without NUL, of bounded length.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
	if len(s) <= maxText {
		return s
	}
	n := maxText
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
