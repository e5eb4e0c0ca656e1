package library

import (
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Status is an asset's review state.
type Status string

// The statuses. Approved marks an approved brand asset.
const (
	StatusDraft           Status = "Draft"
	StatusPendingApproval Status = "PendingApproval"
	StatusApproved        Status = "Approved"
	StatusRejected        Status = "Rejected"
	StatusArchived        Status = "Archived"
)

// Statuses lists every status in the order documents show them.
var Statuses = []Status{StatusDraft, StatusPendingApproval, StatusApproved, StatusRejected, StatusArchived}

// ParseStatus finds a status by name without regard to case.
func ParseStatus(s string) (Status, bool) {
	for _, x := range Statuses {
		if strings.EqualFold(string(x), s) {
			return x, true
		}
	}
	return "", false
}

// Visibility is who sees an asset.
type Visibility string

// The visibilities. None reaches beyond the tenant.
const (
	VisibilityPrivate Visibility = "private" // its owner, and credentials with PermAdmin
	VisibilityTeam    Visibility = "team"    // everybody in the tenant
	VisibilityPublic  Visibility = "public"  // as team; marks what may be shown outside
)

// Visibilities lists every visibility in the order documents show them.
var Visibilities = []Visibility{VisibilityPrivate, VisibilityTeam, VisibilityPublic}

// Asset is one stored file of a tenant with what people said about it. What the
// file says about its own making is its Lineage.
type Asset struct {
	Tenant      TenantID
	Hash        AssetHash
	SHA256      string // 64 hex digits; distinguishes a SHA-1 collision from a duplicate
	BLAKE3      string // 64 hex digits; ComfyUI's asset hash without its "blake3:" prefix
	Title       string
	Description string
	Filename    string // a label, without any folder
	SourcePath  string // where the importer found it, relative to the imported folder; a label too
	MIMEType    string // sniffed from the bytes
	ClaimedType string // what the uploader said
	Size        int64  // bytes
	Width       int    // pixels of the file itself; 0 when it has none
	Height      int
	DurationMS  int64 // milliseconds; 0 for stills
	Status      Status
	Tags        []string       // distinct, in order of first use
	Parent      AssetHash      // version or derivation parent as the uploader named it; may be empty
	Metadata    map[string]any // the uploader's asset_metadata, kept as it came
	CreatedAt   time.Time      // when the file was made, as far as is known; else when it was stored
	StoredAt    time.Time
	UpdatedAt   time.Time
	CreatedBy   string // actor id
	Owner       string // actor id; empty: nobody's
	Visibility  Visibility
	Rating      int // 1 to 5; 0: not rated
	Favorite    bool
	InPlace     bool // its file lies where its owner keeps it; the library has no bytes of its own
	Trashed     bool
	DocVersion  int64 // counts every change of the asset; the index's external version
}

// Limits of what people may write about an asset, in characters.
const (
	MaxTitle       = 500
	MaxDescription = 5000
	MaxTag         = 100
	MaxTags        = 500 // on one asset
	MaxBulkAssets  = 100
	MaxBulkTags    = 50
	MaxFilename    = 255
	MaxRating      = 5
)

// CleanTag trims a tag and folds runs of white space to one blank. Tags keep
// their case for people; they are equal when FoldTag makes them equal.
func CleanTag(tag string) string {
	return strings.Join(strings.FieldsFunc(tag, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// FoldTag returns the form in which two tags are compared.
func FoldTag(tag string) string { return strings.ToLower(CleanTag(tag)) }

// MergeTags returns have plus those of add that it lacks, in order, comparing by FoldTag.
func MergeTags(have, add []string) []string {
	seen := make(map[string]bool, len(have)+len(add))
	out := make([]string, 0, len(have)+len(add))
	for _, list := range [][]string{have, add} {
		for _, t := range list {
			t = CleanTag(t)
			if f := FoldTag(t); f != "" && !seen[f] {
				seen[f] = true
				out = append(out, t)
			}
		}
	}
	return out
}

// RemoveTags returns have without those that FoldTag finds in drop.
func RemoveTags(have, drop []string) []string {
	gone := make(map[string]bool, len(drop))
	for _, t := range drop {
		gone[FoldTag(t)] = true
	}
	out := make([]string, 0, len(have))
	for _, t := range have {
		if !gone[FoldTag(t)] {
			out = append(out, t)
		}
	}
	return out
}

// CleanFilename turns any string a client calls a file name into a label that is
// safe to show and to use in a Content-Disposition: no folders, no control or
// direction-changing characters, at most MaxFilename characters with its
// extension kept. It is empty when nothing is left.
func CleanFilename(name string) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, name)
	name = strings.TrimSpace(name)
	if name == "." || name == ".." || name == "/" {
		return ""
	}
	if n := utf8.RuneCountInString(name); n > MaxFilename {
		ext := []rune(path.Ext(name))
		if len(ext) > 20 {
			ext = nil
		}
		stem := []rune(name)[:MaxFilename-len(ext)]
		name = string(stem) + string(ext)
	}
	return name
}
