package bench

import (
	"fmt"
	"io"
	"slices"
)

// The figures of searches.
const (
	KeyWords   = "words"
	KeyMeaning = "meaning"
	KeyCompile = "compile"
	KeyRival   = "rival"
	KeyGrowth  = "growth"
	KeyRecall  = "recall"
)

// SearchCriteria are the figures of searches, in the order of the report.
var SearchCriteria = []Criterion{
	{Key: KeyWords, Title: "REST search by words over the same request sent to OpenSearch", Unit: "×", Bar: 1.15, Goal: 1.1, Ours: "REST", Floor: "OpenSearch",
		Meaning: "The median time of a search over REST divided by that of the same query, in OpenSearch's own language, sent to OpenSearch directly. " +
			"Both clients keep their connections open and decode the answer into values, and both must find as many assets. OpenSearch's request cache is emptied before every count of facets."},
	{Key: KeyMeaning, Title: "Search by words and meaning over the slower of its two retrievers", Unit: "×", Bar: 1.35, Goal: 1.2, Ours: "REST", Floor: "slower retriever",
		Meaning: "The median time of a search in the mode smart over REST, which asks by words and by nearness of vectors, joins both and fetches what it shows, divided by that of the slower of the two, " +
			"asked of OpenSearch directly for 200 ids. The further rows tell what it is made of: each retriever, both in one request, fetching the page of 20, and the retrievers as the service asks for them: " +
			"hashes out of a column instead of ids out of stored documents, in an order that compares no hashes. The vectors of the queries are in the service's cache, as those of repeated and paged searches are: making them is the provider's time and is not in here."},
	{Key: KeyCompile, Title: "Reading and compiling a query of ten terms", Unit: "µs", Bar: 60, Goal: 40, Ours: "time",
		Meaning: "From the text to the request for OpenSearch, in this process. The longest text may take 5 ms."},
	{Key: KeyRival, Title: "Facets in PostgreSQL over the service", Unit: "×", Bar: 3, Goal: 5, AtLeast: true, Ours: "REST", Floor: "PostgreSQL", Compared: "times faster",
		Meaning: "How many times faster the service counts eight facets over REST than PostgreSQL does over the same rows on the same machine: one flat table, full text and trigram indices (pg_trgm), " +
			"an index on each column that is filtered by, work_mem 64 MB, statements planned for their arguments. Both find as many assets for each search, else the run fails. The value is the geometric mean of the three rows of facets; the other rows are pages of 20 hits, with their total. " +
			"Words are required as they are on both sides, so that both look for the same."},
	{Key: KeyGrowth, Title: "Growth of the median time from a tenth of the assets to all", Unit: "×", Reported: true, Ours: "all", Floor: "a tenth", Compared: "growth",
		Meaning: "Searches over REST, measured when a tenth of the assets were in, and again with all ten tenths. The largest growth counts."},
	{Key: KeyRecall, Title: "Nearest neighbours that are the exact ones", Unit: "recall", Bar: 0.95, Goal: 0.99, AtLeast: true, Ours: "recall@10", Floor: "time in ms", Compared: "mean recall",
		Meaning: "Which part of the 10 nearest neighbours by vector the service finds, under filters that let through so many of the assets. What is nearest is computed from all vectors. " +
			"Every search must give 10 neighbours, or all that pass the filter if they are fewer, else the run fails. The lowest mean counts."},
}

// SearchSetting is where and with what a run measured searches.
type SearchSetting struct {
	Setting
	Repeats  int    `json:"repeats"`
	Segments int    `json:"segments"` // parts of the index
	IndexMB  int    `json:"index_mb"`
	Memory   string `json:"memory"` // of OpenSearch and PostgreSQL
	Filled   string `json:"filled"` // how long building the index took
}

// SearchReport is the outcome of measuring searches.
type SearchReport struct {
	Setting  SearchSetting `json:"setting"`
	Figures  []Figure      `json:"figures"`
	Repeated int           `json:"repeated"` // searches that failed and were asked again
}

// Met reports whether every figure meets its bar.
func (r SearchReport) Met() bool { return met(r.Figures) }

// Print writes the report as a table for a terminal.
func (r SearchReport) Print(w io.Writer) error {
	return Report{Figures: r.Figures, Repeated: r.Repeated}.Print(w)
}

// Markdown returns the report as a page; command is what wrote it, and before the
// page as it is, if there is one.
func (r SearchReport) Markdown(command, before string) string {
	s := r.Setting
	return page{
		title: "Performance of searches", command: command, sides: "the sides of each comparison", before: before,
		lines: [][2]string{s.dateLine(), s.machineLine(), s.togetherLine(), s.versionsLine(), {"Memory", s.Memory},
			{"Library", fmt.Sprintf("%d generated assets with vectors of %d dimensions; seed %d; words as frequent as in a language, 3 of 10 prompts used before, one of 20 assets without metadata", s.Count, dimensions, s.Seed)},
			{"Index", fmt.Sprintf("%d MB in %d segments, built by a rebuild from PostgreSQL in %s, in which OpenSearch merged what it wanted; not merged by hand", s.IndexMB, s.Segments, s.Filled)}},
		figures: r.Figures, repeated: r.Repeated,
	}.markdown()
}

// sortFigures brings figures into the order of their criteria.
func sortFigures(list []Figure, order []Criterion) {
	place := func(f Figure) int {
		return slices.IndexFunc(order, func(c Criterion) bool { return c.Key == f.Key })
	}
	slices.SortFunc(list, func(a, b Figure) int { return place(a) - place(b) })
}

func met(list []Figure) bool {
	return !slices.ContainsFunc(list, func(f Figure) bool { return !f.Met() })
}
