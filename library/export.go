package library

import "time"

// ExportPreset names what an export keeps and what it removes.
type ExportPreset string

// The presets.
const (
	ExportShare     ExportPreset = "share"
	ExportPortfolio ExportPreset = "portfolio"
	ExportClient    ExportPreset = "client"
	ExportArchive   ExportPreset = "archive"
	ExportCustom    ExportPreset = "custom"
)

// ExportPresets lists the presets in the order documents show them.
var ExportPresets = []ExportPreset{ExportShare, ExportPortfolio, ExportClient, ExportArchive, ExportCustom}

// How files of an export are named.
const (
	NamingNeutral  = "neutral"  // 0001.webp
	NamingTitle    = "title"    // neon-fox.jpg, after the title
	NamingOrdered  = "ordered"  // 0001-neon-fox.png
	NamingOriginal = "original" // as the file was called
)

// What an export says of each file beside it.
const (
	SidecarNone = "none"
	SidecarJSON = "json"
	SidecarXMP  = "xmp"
	SidecarCSV  = "csv" // one manifest.csv for all files
)

// ExportKeep is what of a file's metadata may stay.
type ExportKeep struct {
	Prompts  bool `json:"prompts"`
	Workflow bool `json:"workflow"`
	Models   bool `json:"models"`
	EXIF     bool `json:"exif"`
	GPS      bool `json:"gps"`
	IPTC     bool `json:"iptc"`
	ICC      bool `json:"icc"`
	C2PA     bool `json:"c2pa"`
}

// All reports whether everything may stay.
func (k ExportKeep) All() bool {
	return k == ExportKeep{true, true, true, true, true, true, true, true}
}

// ExportWatermark is a text drawn onto pictures.
type ExportWatermark struct {
	Text     string  `json:"text"`
	Position string  `json:"position,omitempty"`
	Opacity  float64 `json:"opacity,omitempty"`
}

// ExportSpec is how an export writes files.
type ExportSpec struct {
	Preset     ExportPreset     `json:"preset"`
	Format     string           `json:"format"`   // webp, jpeg, png or preserve
	Exact      bool             `json:"exact"`    // the format was asked for, so no other will do
	Original   bool             `json:"original"` // the bytes as they are stored
	MaxEdge    int              `json:"max_edge,omitempty"`
	Quality    int              `json:"quality,omitempty"`
	Keep       ExportKeep       `json:"keep"`
	Disclosure bool             `json:"ai_disclosure"` // IPTC's digital source type and the system, where the file was generated
	Creator    bool             `json:"creator"`       // creator and rights, where the file or its uploader names them
	Watermark  *ExportWatermark `json:"watermark,omitempty"`
	Naming     string           `json:"naming"`
	Sidecar    string           `json:"sidecar"`
	Credits    bool             `json:"credits,omitempty"`   // credits.txt
	Checksums  bool             `json:"checksums,omitempty"` // checksums.sha256, and workflows beside their files
}

// SpecOf returns what a preset does. That of custom removes all metadata but the color profile and
// leaves the picture as it is.
func SpecOf(p ExportPreset) ExportSpec {
	s := ExportSpec{Preset: p, Format: "preserve", Keep: ExportKeep{ICC: true}, Disclosure: true, Naming: NamingNeutral, Sidecar: SidecarNone}
	switch p {
	case ExportShare:
		s.Format, s.MaxEdge, s.Quality = "webp", 2048, 85
	case ExportPortfolio:
		s.Format, s.MaxEdge, s.Quality, s.Creator, s.Naming, s.Credits = "jpeg", 3840, 90, true, NamingTitle, true
	case ExportClient:
		s.Creator, s.Naming, s.Sidecar = true, NamingOrdered, SidecarCSV
	case ExportArchive:
		s.Original, s.Disclosure, s.Naming, s.Sidecar, s.Checksums = true, false, NamingOriginal, SidecarJSON, true
		s.Keep = ExportKeep{true, true, true, true, true, true, true, true}
	}
	return s
}

// Unchanged reports whether files leave as they are stored.
func (s ExportSpec) Unchanged() bool {
	return s.Original || s.Keep.All() && s.Format == "preserve" && s.MaxEdge == 0 && s.Watermark == nil && !s.Disclosure && !s.Creator
}

// ExportDeck is a collection as it is when a deck of it is asked for.
type ExportDeck struct {
	Collection CollectionHash `json:"collection_h"`
	Title      string         `json:"title"`
	Subtitle   string         `json:"subtitle,omitempty"`
	Color      string         `json:"color,omitempty"` // #rrggbb, or empty
	Language   string         `json:"language,omitempty"`
	Layout     string         `json:"layout"`            // one, two, grid or full_bleed
	Mark       bool           `json:"mark"`              // "Made with Vitrine" on slides
	Printed    bool           `json:"printed,omitempty"` // a browser is to draw it
	Slides     []DeckSlide    `json:"slides"`
	Private    []AssetHash    `json:"private,omitempty"` // assets that are left out
}

// DeckSlide is a text card or an asset of a deck.
type DeckSlide struct {
	Card   *TextCard `json:"card,omitempty"`
	Asset  AssetHash `json:"asset_h,omitempty"`
	Width  int       `json:"width,omitempty"` // of the asset, pixels
	Height int       `json:"height,omitempty"`
}

// Assets returns the assets of a deck in their order.
func (d ExportDeck) Assets() []AssetHash {
	list := []AssetHash{}
	for _, s := range d.Slides {
		if s.Asset != "" {
			list = append(list, s.Asset)
		}
	}
	return list
}

// MaxDeckSlides is how many items of a collection one deck may have.
const MaxDeckSlides = 2000

// ExportState is how far an export is.
type ExportState string

// The states of an export.
const (
	ExportQueued    ExportState = "queued"
	ExportRunning   ExportState = "running"
	ExportCompleted ExportState = "completed"
	ExportFailed    ExportState = "failed" // no file could be written
)

// Finished reports whether nothing further happens to the export.
func (s ExportState) Finished() bool { return s == ExportCompleted || s == ExportFailed }

// ExportFailure is why an asset is not in a zip.
type ExportFailure struct {
	Asset  AssetHash `json:"asset_h"`
	Code   string    `json:"code"`
	Detail string    `json:"detail"`
}

// Export is one export.
type Export struct {
	ID         string
	Actor      Actor // kind and id of who asked for it
	Spec       ExportSpec
	Assets     []AssetHash
	State      ExportState
	Done       int
	Files      int
	Failed     []ExportFailure
	Bytes      int64 // of the zip or the deck; 0 until it is completed
	SHA256     string
	Staged     string        // where the zip or the deck is among the staged files
	Deck       *ExportDeck   // nil: a zip
	Pages      int           // of a deck
	Renderer   string        // what drew a deck: builtin or chromium; empty until it is completed
	Note       string        // why a deck was not drawn by what it was to be drawn by
	Duration   time.Duration // of writing it
	Run        string        // the run of a pipeline whose stage began it; empty: none did
	CreatedAt  time.Time
	FinishedAt *time.Time
}
