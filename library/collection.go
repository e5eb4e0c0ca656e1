package library

import (
	"crypto/sha1"
	"encoding/hex"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// CollectionHash is a collection's identity inside its tenant: 40 lower-case hex
// digits. It stays the same when the collection is renamed or moved.
type CollectionHash string

// The limits of collections.
const (
	MaxCollectionDepth = 5
	MaxCollectionName  = 100 // characters of a label
	MaxCollections     = 20_000
)

// BranchType is how a collection was branched from another; empty: it was not.
type BranchType string

// The kinds of branches.
const (
	BranchEditable         BranchType = "branch"
	BranchSnapshot         BranchType = "snapshot" // frozen
	BranchTemplateInstance BranchType = "template_instance"
)

// MemberRole is what an asset is in a collection; empty: nobody said.
type MemberRole string

// MemberRoles lists the roles.
var MemberRoles = []MemberRole{"KeyVisual", "SupportingElement", "ReferenceMaterial", "BackgroundAsset", "Logo", "Variation", "Other"}

// Collection is a named, ordered set of assets and text cards in a tenant's tree.
type Collection struct {
	Hash          CollectionHash
	Parent        CollectionHash // empty for a root
	Path          string         // labels with dots between them
	Name          string         // the label: its last part
	DisplayName   string
	Description   string
	Icon          string
	Color         string // #rrggbb, or empty
	Branch        BranchType
	Source        CollectionHash // what it is a branch of; empty: of nothing
	SnapshotLabel string
	SavedSearch   string // a smart collection holds what this saved search finds
	Frozen        bool   // its items cannot be changed
	CreatedAt     time.Time
	CreatedBy     string
	UpdatedAt     time.Time
}

// Smart reports whether the collection holds what a saved search finds.
func (c Collection) Smart() bool { return c.SavedSearch != "" }

// Depth returns the level of the collection; roots have 1.
func (c Collection) Depth() int { return strings.Count(c.Path, ".") + 1 }

// TextCard is a text among the assets of a collection; it is a slide when the
// collection is exported.
type TextCard struct {
	Heading     string   `json:"heading,omitempty"`
	HeadingSize string   `json:"heading_size,omitempty"`
	Body        string   `json:"body,omitempty"`
	Bullets     []string `json:"bullets,omitempty"`
	AccentText  string   `json:"accent_text,omitempty"`
	Background  string   `json:"background,omitempty"`
	AccentColor string   `json:"accent_color,omitempty"`
	Layout      string   `json:"layout,omitempty"`
}

// latin are letters that do not decompose into a Latin letter and an accent.
var latin = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i")

// CollectionLabel returns the label that a name has in a path: its Latin letters,
// without accents and in lower case, and its digits. A name without any gets a label
// that is derived from its hash, so the same name always has the same label. It is empty
// for a name that is blank.
func CollectionLabel(name string) string {
	name = strings.ToLower(strings.Join(strings.Fields(norm.NFC.String(name)), " "))
	if name == "" {
		return ""
	}
	var b strings.Builder
	for _, r := range norm.NFKD.String(latin.Replace(name)) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		}
	}
	if b.Len() > 0 {
		return b.String()[:min(b.Len(), MaxCollectionName)]
	}
	if !strings.ContainsFunc(name, unicode.IsGraphic) {
		return ""
	}
	sum := sha1.Sum([]byte(name))
	return "x" + hex.EncodeToString(sum[:6])
}

// CollectionPath returns a path as it is stored: the labels of its parts, which dots
// or slashes separate. It is empty where a part is blank.
func CollectionPath(path string) string {
	parts := strings.Split(strings.ReplaceAll(strings.Trim(path, "./ "), "/", "."), ".")
	for i, p := range parts {
		if parts[i] = CollectionLabel(p); parts[i] == "" {
			return ""
		}
	}
	return strings.Join(parts, ".")
}

// CollectionPlace is a collection on the way to a path.
type CollectionPlace struct{ Path, Parent, Name string }

// CollectionAncestry returns the collections on the way to a path, its root first and itself
// last.
func CollectionAncestry(path string) (list []CollectionPlace) {
	parent := ""
	for _, name := range strings.Split(path, ".") {
		at := strings.TrimPrefix(parent+"."+name, ".")
		list = append(list, CollectionPlace{Path: at, Parent: parent, Name: name})
		parent = at
	}
	return list
}

// CollectionItem is an asset or a text card in a collection.
type CollectionItem struct {
	ID       string // the asset's hash, or the card's id
	Path     string // of its collection
	Position int    // among the items of its collection that the actor sees, from 0
	Role     MemberRole
	AddedAt  time.Time
	AddedBy  string
	Asset    *Asset // nil: a card
	Card     *TextCard
}
