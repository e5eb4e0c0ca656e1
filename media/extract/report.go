package extract

import (
	"slices"
	"strings"

	"vitrine/library"
	"vitrine/media/extract/container"
	"vitrine/media/extract/formats"
)

// State is how much generation metadata a file holds.
type State string

// The states of a report.
const (
	StateFull    State = "full"    // a prompt and settings
	StatePartial State = "partial" // some of it
	StateNone    State = "none"
)

// Reason is why something is missing.
type Reason string

// The reasons of a report.
const (
	ReasonOK            Reason = "ok"
	ReasonNoMetadata    Reason = "no_metadata"    // the file holds no text at all
	ReasonStripped      Reason = "stripped"       // a program that drops generation metadata saved the file
	ReasonUnknownWriter Reason = "unknown_writer" // there is text, but in no known format
	ReasonUnknownNodes  Reason = "unknown_nodes"  // the graph uses node classes that are not known
	ReasonUnreadable    Reason = "unreadable"     // the file is damaged or of a kind that is not read
)

// Report answers "why is there no prompt?".
type Report struct {
	State    State    `json:"state"`
	Reason   Reason   `json:"reason"`
	Sentence string   `json:"sentence"`         // one plain sentence for people
	By       string   `json:"by,omitempty"`     // the program that stripped the file, where it left its name
	Seen     []string `json:"seen,omitempty"`   // keys that were not understood, or node classes without a rule
	Detail   []string `json:"detail,omitempty"` // what could not be read, as the container reader words it
}

const maxSeen = 50

// explain writes the report on a file's lineage.
func explain(file container.File, src *formats.Source, l *library.Lineage) Report {
	r := Report{State: state(l), Detail: file.Warnings}
	switch {
	case r.State == StateFull:
		r.Reason, r.Sentence = ReasonOK, "The file holds its prompt and settings."
	case l.Workflow != nil && len(l.Workflow.Unknown) > 0:
		r.Reason, r.Seen = ReasonUnknownNodes, firstN(l.Workflow.Unknown)
		r.Sentence = "The file holds a node graph, but some of its nodes are of unknown classes."
	case r.State == StatePartial:
		r.Reason, r.Sentence = ReasonOK, "The file holds part of its generation metadata; the rest is not in it."
	default:
		absent(&r, file, src)
	}
	return r
}

func state(l *library.Lineage) State {
	switch {
	case l.Positive != nil && l.Parameters != nil:
		return StateFull
	case l.HasGenerationData() || l.ImageTool != nil:
		return StatePartial
	}
	return StateNone
}

// absent reports why a file has no generation metadata.
func absent(r *Report, file container.File, src *formats.Source) {
	r.Seen = unreadKeys(src)
	switch by := strippedBy(src); {
	case len(file.Chunks) == 0 && (file.Truncated || len(file.Warnings) > 0):
		r.Reason, r.Sentence = ReasonUnreadable, "The file is damaged, and no generation metadata could be read from what is left."
	case by != "":
		r.Reason, r.By = ReasonStripped, by
		r.Sentence = "The file was saved by " + by + ", which does not keep generation metadata."
	case hasC2PA(file):
		r.Reason, r.Sentence = ReasonNoMetadata, "The file has content credentials, which name its origin but contain no prompt."
	case len(r.Seen) > 0:
		r.Reason, r.Sentence = ReasonUnknownWriter, "The file holds text in a format that is not known as generation metadata."
	case file.MIME == "" || !readable(file.MIME):
		r.Reason, r.Sentence = ReasonUnreadable, "Files of this kind hold no generation metadata that can be read."
	default:
		r.Reason, r.Sentence = ReasonNoMetadata, "The file holds no generation metadata: none was written, or it was removed later."
	}
}

func readable(mime string) bool {
	for _, prefix := range []string{"image/", "video/", "audio/", "model/"} {
		if strings.HasPrefix(mime, prefix) {
			return true
		}
	}
	return false
}

func hasC2PA(file container.File) bool {
	return slices.ContainsFunc(file.Chunks, func(c container.Chunk) bool { return c.Place == "c2pa" })
}

// editors are programs that write their own name and drop what they do not know.
var editors = []string{"Photoshop", "Lightroom", "GIMP", "Paint.NET", "Affinity", "Snapseed", "Canva", "Pixelmator", "Krita",
	"Instagram", "WhatsApp", "Telegram", "Facebook", "PicsArt", "VSCO", "Figma", "Capture One", "XnView", "IrfanView", "ACDSee",
	"ImageMagick", "GraphicsMagick", "Lavf", "HandBrake", "Windows Photo", "Microsoft Windows Photo", "Topaz", "Luminar", "darktable", "Google Photos", "Discord"}

// strippedBy returns the editor or chat app that a file names as its last writer.
func strippedBy(src *formats.Source) string {
	for _, key := range []string{"Software", "CreatorTool", "encoder", "ProcessingSoftware", "OriginatingProgram", "comment"} {
		for _, rec := range src.Entries {
			if !strings.EqualFold(rec.Key, key) || len(rec.Text) > 200 {
				continue
			}
			for _, name := range editors {
				if !strings.Contains(strings.ToLower(rec.Text), strings.ToLower(name)) {
					continue
				}
				if key == "comment" { // a sentence about it, not its name
					return name
				}
				return firstLine(rec.Text)
			}
		}
	}
	return ""
}

// nameWriter takes the program that a file names as its last writer for the tool of
// generation metadata that names none, unless it is known to write none.
func nameWriter(src *formats.Source, l *library.Lineage) {
	if l.Tool != "" || !l.HasGenerationData() || strippedBy(src) != "" {
		return
	}
	for _, key := range []string{"Software", "CreatorTool"} {
		for _, rec := range src.Entries {
			if strings.EqualFold(rec.Key, key) && len(rec.Text) <= 60 && rec.Text != "" {
				l.Tool = strings.ToLower(firstLine(rec.Text))
				return
			}
		}
	}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// unreadKeys lists the places of texts that look as if someone had written them
// on purpose; dates, resolutions and colour notes are not worth a mention.
func unreadKeys(src *formats.Source) []string {
	var keys []string
	for _, rec := range src.Unused() {
		if len(strings.TrimSpace(rec.Text)) >= 40 || strings.HasPrefix(strings.TrimSpace(rec.Text), "{") {
			keys = append(keys, rec.Place)
		}
	}
	return firstN(keys)
}

func firstN(list []string) []string {
	return slices.Clone(list[:min(len(list), maxSeen)])
}
