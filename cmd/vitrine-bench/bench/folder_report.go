package bench

import (
	"fmt"
	"io"
)

// FolderReport is the outcome of an import in place.
type FolderReport struct {
	Setting Setting  `json:"setting"`
	Figures []Figure `json:"figures"`
	Drawn   int      `json:"drawn"` // distinct pictures
	Bytes   int64    `json:"bytes"` // of all files
}

// Met reports whether every figure meets its bar.
func (r FolderReport) Met() bool { return met(r.Figures) }

// Print writes the report as a table for a terminal.
func (r FolderReport) Print(w io.Writer) error { return Report{Figures: r.Figures}.Print(w) }

// Markdown returns the report as a page; command is what wrote it, and before the
// page as it is, if there is one.
func (r FolderReport) Markdown(command, before string) string {
	s := r.Setting
	return page{
		title: "Import of a folder in place", command: command, sides: "the service and its floor", before: before,
		lines: [][2]string{s.dateLine(), s.machineLine(), s.togetherLine(), s.versionsLine(),
			{"Folder", fmt.Sprintf("%d PNG files of %d drawn pictures of at most %d px, each with a chunk of text of its own; %d MB; seed %d", s.Count, r.Drawn, s.Edge, r.Bytes>>20, s.Seed)}},
		figures: r.Figures,
	}.markdown()
}
