package bench

import (
	"slices"
)

// The five figures.
const (
	KeySearch  = "search"
	KeyMCP     = "mcp"
	KeyIndexer = "indexer"
	KeyImport  = "import"
	KeyCommit  = "commit"
)

// Figure is one comparison and its outcome. What its value means and how good it
// must be is the same in every run: see Criteria.
type Figure struct {
	Key     string  `json:"key"`
	Value   float64 `json:"value"`         // a ratio, or milliseconds
	P95     float64 `json:"p95,omitempty"` // of the commit figure, in milliseconds
	Repeats int     `json:"repeats"`       // measurements of our side
	Rows    []Row   `json:"rows"`
}

// Row is a part of a figure: our side, its floor where there is one, and ours
// over the floor, or ours less the floor in milliseconds for MCP.
type Row struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Ours  Summary `json:"ours"`
	Floor Summary `json:"floor"`
	Ratio float64 `json:"ratio"`
}

// Criterion is what a figure means and how good it must be.
type Criterion struct {
	Key, Title  string
	Unit        string // "×" of a ratio, "ms"
	Bar, Goal   float64
	P95Bar      float64 // of the commit figure
	AtLeast     bool    // more is better
	Ours, Floor string  // the two sides
	Compared    string  // what the last column is; "" means ratio or difference
	Reported    bool    // there is no bar: the figure is only told
	Meaning     string
}

// Criteria are the five, in the order of the report.
var Criteria = []Criterion{
	{Key: KeySearch, Title: "REST search over the same request sent to OpenSearch", Unit: "×", Bar: 1.3, Goal: 1.15, Ours: "REST", Floor: "OpenSearch",
		Meaning: "The median time of a search over REST divided by that of the same query, in OpenSearch's own language, sent to OpenSearch directly. " +
			"1 would mean that the service costs nothing; what is above is HTTP, the key check, reading and compiling the query, signing links, and one more round of JSON. " +
			"Both clients keep their connections open and decode the answer into values. Facets are counted anew each time: OpenSearch's request cache is emptied before every one."},
	{Key: KeyMCP, Title: "MCP over REST, the same call", Unit: "ms", Bar: 0.3, Goal: 0.2, Ours: "MCP", Floor: "REST",
		Meaning: "The median time of a call over MCP less that of the same call over REST: what the protocol costs. The larger of the rows counts. " +
			"MCP carries every answer twice, as text and as structured content."},
	{Key: KeyIndexer, Title: "Indexer over raw _bulk of the same documents", Unit: "×", Bar: 0.7, Goal: 0.85, AtLeast: true, Ours: "indexer", Floor: "raw _bulk",
		Meaning: "Documents per second from rows in the outbox until OpenSearch has accepted them all (relay, Kafka, consumer, reading PostgreSQL, building documents, bulk requests), " +
			"divided by that of bulk requests of the same documents, prepared beforehand and held in memory, 3 MB each and two under way, into an index of the same settings. " +
			"The median of the rounds' ratios."},
	{Key: KeyImport, Title: "Import over a bare loop", Unit: "×", Bar: 0.6, Goal: 0.8, AtLeast: true, Ours: "import", Floor: "bare loop",
		Meaning: "Files per second of an import into the running service, until the last file is stored durably with its row, its outbox row, its audit row, and the last preview is on disk, " +
			"divided by that of a loop on as many goroutines as there are processors that only reads each file, hashes it (SHA-1), decodes its header and makes the same preview, and keeps nothing. " +
			"The service indexes what arrives at the same time, on the same processors. The first row counts: pictures of the size that people make. The small ones fill the library; beside a preview of a few milliseconds they show what the way into the library costs each file, whatever its size."},
	{Key: KeyCommit, Title: "From commit to searchable", Unit: "ms", Bar: 800, P95Bar: 1300, Goal: 650, Ours: "service",
		Meaning: "Milliseconds from the answer of UpdateAsset until a search finds the new title, asked every 2 ms. The index is refreshed once a second, so a change waits half a second for that " +
			"on average and a second at worst; the second row leaves this wait out."},
}

// Criterion returns what the figure means.
func (f Figure) Criterion() Criterion {
	for _, c := range slices.Concat(Criteria, SearchCriteria, FolderCriteria, OrganizeCriteria, OutreachCriteria, PipelinesCriteria, WebhooksCriteria) {
		if c.Key == f.Key {
			return c
		}
	}
	panic("bench: a figure without a criterion: " + f.Key)
}

// Met reports whether the figure meets its bar.
func (f Figure) Met() bool {
	c := f.Criterion()
	if c.Reported {
		return true
	}
	if c.AtLeast {
		return f.Value >= c.Bar
	}
	return f.Value <= c.Bar && (c.P95Bar == 0 || f.P95 <= c.P95Bar)
}

// Verdict returns one word on how good the figure is.
func (f Figure) Verdict() string {
	c := f.Criterion()
	switch {
	case c.Reported:
		return "reported"
	case !f.Met():
		return "missed"
	case c.AtLeast && f.Value >= c.Goal, !c.AtLeast && f.Value <= c.Goal:
		return "goal reached"
	}
	return "met"
}

// Report is the outcome of a run.
type Report struct {
	Setting Setting  `json:"setting"`
	Figures []Figure `json:"figures"`
	// Repeated counts searches that failed and were asked again: the machine was
	// too busy to measure on.
	Repeated int `json:"repeated"`
}

// Met reports whether every figure meets its bar.
func (r Report) Met() bool { return met(r.Figures) }
