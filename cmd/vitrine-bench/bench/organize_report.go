package bench

import (
	"fmt"
	"io"
)

// The figures of collections.
const (
	KeyList   = "list"
	KeyPage   = "page"
	KeyBranch = "branch"
	KeyMove   = "move"
)

// OrganizeCriteria are the figures of collections, in the order of the report.
var OrganizeCriteria = []Criterion{
	{Key: KeyList, Title: "Listing collections over the bare query", Unit: "×", Reported: true, Ours: "REST", Floor: "SQL",
		Meaning: "The time of ListCollections with up to 5,000 collections in one page, divided by that of a SELECT of the same rows by the owner of the tables, every value of which is read."},
	{Key: KeyPage, Title: "A page of 1,000 items over the bare query", Unit: "×", Reported: true, Ours: "REST", Floor: "SQL",
		Meaning: "The time of GetCollectionAssets with a limit of 1,000, divided by that of a SELECT of the same items with their assets and one that counts them all. The larger of the rows counts."},
	{Key: KeyBranch, Title: "Branching a collection over copying its rows", Unit: "×", Reported: true, Ours: "REST", Floor: "SQL",
		Meaning: "The time of BranchCollection, divided by that of one INSERT … SELECT of the same rows in a transaction. The operation also records journal, audit trail and outbox, and the indexer works beside both sides."},
	{Key: KeyMove, Title: "Moving a collection over indexing its documents", Unit: "×", Reported: true, Ours: "service", Floor: "raw _bulk",
		Meaning: "The time from the call of MoveCollection until a search by the new path finds every member, divided by that of bulk requests of as many documents, prepared beforehand. " +
			"Members are looked at again in the background, by the same way from outbox to index as other changes."},
}

// OrganizeReport is the outcome of measuring collections.
type OrganizeReport struct {
	Setting     Setting  `json:"setting"`
	Figures     []Figure `json:"figures"`
	Collections int      `json:"collections"` // beside the large one
}

// Met reports whether every figure meets its bar.
func (r OrganizeReport) Met() bool { return met(r.Figures) }

// Print writes the report as a table for a terminal.
func (r OrganizeReport) Print(w io.Writer) error { return Report{Figures: r.Figures}.Print(w) }

// Markdown returns the report as a page; command is what wrote it, and before the
// page as it is, if there is one.
func (r OrganizeReport) Markdown(command, before string) string {
	s := r.Setting
	return page{
		title: "Collections", command: command, sides: "the service and its floor", before: before,
		lines: [][2]string{s.dateLine(), s.machineLine(), s.togetherLine(), s.versionsLine(),
			{"Library", fmt.Sprintf("%d generated assets, all in one collection, and %d collections beside it; seed %d", s.Count, r.Collections, s.Seed)}},
		figures: r.Figures,
	}.markdown()
}
