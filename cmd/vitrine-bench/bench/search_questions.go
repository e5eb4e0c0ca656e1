package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"vitrine/query"
	"vitrine/query/run"
)

// asks are searches of one class in one mode.
type asks struct {
	class   string
	mode    query.Mode
	facets  bool
	queries []string
}

// some puts the corpus's words into a text; see words.
func some(text string) string {
	var out []string
	for _, part := range strings.Fields(text) {
		out = append(out, words.Replace(part))
	}
	return strings.Join(out, " ")
}

// words stands for words of the corpus: S3 is the fourth most frequent subject.
// Queries are written with them, because the words themselves say nothing.
var words = func() *strings.Replacer {
	var pairs []string
	for n := 99; n >= 0; n-- { // S10 before S1
		for kind, letter := range []string{"S", "A", "Y", "E", "M", "D"} {
			pairs = append(pairs, fmt.Sprintf("%s%d", letter, n), word(kind, n))
		}
	}
	return strings.NewReplacer(pairs...)
}()

// wordQueries are searches by words and filters, whose floor is the same request
// sent to OpenSearch.
func wordQueries() []asks {
	prefix := func(kind, n int) string { return word(kind, n)[:4] + "*" }
	return []asks{
		{class: "text and filter", mode: query.FullText, queries: []string{"S10 A5 tool:comfyui", "S30 steps:>=20", "A20 sampler:euler", "D50 D80 mime_type:png",
			"Y10 cfg:5..9", "E10 width:>=1024", "S3 M2 has:lineage", "S60 -A0 media:image"}},
		{class: "filter only", mode: query.FullText, queries: []string{"tool:comfyui steps:20..30", "mime_type:jpeg", "sampler:euler cfg:>=6", "tag:S3 steps:<25",
			"created:2024.. media:image", "width:>=1024 height:>=1024", "has:workflow -sampler:ddim", "steps:30 OR steps:28"}},
		{class: "facets", mode: query.FullText, facets: true, queries: []string{"", "S5", "tool:comfyui", "S20 E5", "steps:>=25", "S8 -A1", "mime_type:png", "M3"}},
		{class: "phrase", mode: query.FullText, queries: []string{`"A0 S0"`, `"A1 S0"`, `"A0 S1"`, `"Y0 style"`, `"M0 mood"`, `"S2 E0"`, `"best quality"`, `"in the E1"`}},
		{class: "wildcard", mode: query.FullText, queries: []string{prefix(kindSubject, 3), prefix(kindSubject, 20), prefix(kindAttribute, 2), prefix(kindStyle, 5),
			prefix(kindSetting, 8), prefix(kindMood, 1), prefix(kindDetail, 30), prefix(kindDetail, 90)}},
	}
}

// meaningQueries are searches by words and meaning.
func meaningQueries() []asks {
	return []asks{
		{class: "words alone", mode: query.Smart, queries: []string{"S4 A3", "S12 E2", "S25 A10 E5", "Y3 S40", "M2 S7 A1", "S70 E20 D10"}},
		{class: "words and filter", mode: query.Smart, queries: []string{"S6 A2 tool:comfyui", "S15 steps:>=20", "S33 E4 sampler:euler", "Y6 S21 mime_type:png", "S9 created:2024..", "A14 S50 tag:D5"}},
	}
}

// wordSearches makes the searches of some classes.
func (e *env) wordSearches(list []asks) ([]question, error) {
	var out []question
	for _, a := range list {
		for _, text := range a.queries {
			q, err := e.question(a.class, a.mode, some(text), a.facets)
			if err != nil {
				return nil, fmt.Errorf("the search %q: %w", text, err)
			}
			out = append(out, q)
		}
	}
	return out, nil
}

// partsOf are a search by words and meaning, and what it is made of as requests
// to OpenSearch: its two retrievers, the same as the service asks for them, both retrievers in
// one request, and a page by its ids.
type partsOf struct {
	smart                      question
	words, meaning             question
	servedWords, servedMeaning question
	both                       []byte
	page                       question
}

func (e *env) meaningSearches(ctx context.Context, c *corpus) (list []partsOf, err error) {
	questions, err := e.wordSearches(meaningQueries())
	if err != nil {
		return nil, err
	}
	for _, q := range questions {
		hits, err := e.understood(ctx, &q)
		if err != nil {
			return nil, err
		}
		compiled, err := e.compile(query.Smart, q.text, 20)
		if err != nil {
			return nil, err
		}
		near, err := compiled.Neighbours(e.Embedder.ID(), c.vectorOf(compiled.TextForEmbedding), retrieverHits)
		if err != nil {
			return nil, err
		}
		p := partsOf{smart: q, words: q, meaning: q, servedWords: q, servedMeaning: q, page: q}
		for _, part := range []struct {
			q    *question
			body map[string]any
		}{{&p.words, retrieverBody(compiled)}, {&p.meaning, retrieverBody(near)}, {&p.servedWords, run.LexicalRetriever(compiled)}, {&p.servedMeaning, run.KNNRetriever(near)}, {&p.page, run.Body(compiled.Fetch(hits))}} {
			if part.q.dsl, err = json.Marshal(part.body); err != nil {
				return nil, err
			}
		}
		header := fmt.Sprintf("{\"index\":%q,\"routing\":%q}\n", e.alias(), e.tenant)
		p.both = fmt.Appendf(nil, "%s%s\n%s%s\n", header, p.words.dsl, header, p.meaning.dsl)
		list = append(list, p)
	}
	return list, nil
}

// retrieverHits is how many hits a fusion takes from each retriever.
const retrieverHits = 200

// retrieverBody asks for the hits of a retriever by their ids, as a program would that joins
// them itself.
func retrieverBody(s *query.Search) map[string]any {
	body := run.Body(s)
	body["_source"], body["from"], body["size"] = false, 0, retrieverHits
	return body
}

// rivalQuestion is a search that the service and its rival answer alike.
type rivalQuestion struct {
	class  string
	facets bool
	text   string
	condition
}

// rivalQueries are searches that mean the same to both: all words are required,
// and none is a part of another.
func rivalQueries(trigrams bool) []rivalQuestion {
	year := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	tool := condition{where: "tool = $1", args: []any{"comfyui"}}
	list := []rivalQuestion{
		{"facets over everything", true, "", condition{}},
		{"facets over what a filter leaves", true, "tool:comfyui", tool},
		{"facets over what a filter leaves", true, "steps:>=25", condition{where: "steps >= $1", args: []any{25}}},
		{"facets over what a filter leaves", true, "mime_type:image/png", condition{where: "mime_type = $1", args: []any{"image/png"}}},
		{"facets over what a filter leaves", true, "tag:" + some("S4"), condition{where: "tags @> ARRAY[$1]", args: []any{some("S4")}}},
		{"facets over what words find", true, "S0", condition{words: "S0"}},
		{"facets over what words find", true, "S5", condition{words: "S5"}},
		{"facets over what words find", true, "S2 E1", condition{words: "S2 E1"}},
		{"facets over what words find", true, "M3", condition{words: "M3"}},
		{"page of words and a filter", false, "S10 tool:comfyui", condition{words: "S10", where: tool.where, args: tool.args}},
		{"page of words and a filter", false, "S1 A1", condition{words: "S1 A1"}},
		{"page of words and a filter", false, "D30 steps:>=20", condition{words: "D30", where: "steps >= $1", args: []any{20}}},
		{"page of words and a filter", false, "S50", condition{words: "S50"}},
		{"page of words and a filter", false, "Y3 E4 sampler:euler", condition{words: "Y3 E4", where: "sampler = $1", args: []any{"euler"}}},
		{"page of words and a filter", false, "M1 created:2024", condition{words: "M1", where: "created_at >= $1 AND created_at < $2", args: []any{year(2024), year(2025)}}},
	}
	if trigrams {
		for _, part := range []string{"0012", "0007", "00042", "0001", "2.jpg", "9.webp"} {
			list = append(list, rivalQuestion{"page of a part of file names", false, "filename:*" + part + "*", condition{where: "filename ILIKE $1", args: []any{"%" + part + "%"}}})
		}
	}
	return list
}

func (e *env) rivalSearches(trigrams bool) (list []question, err error) {
	for _, rq := range rivalQueries(trigrams) {
		q, err := e.question(rq.class, query.Boolean, some(rq.text), rq.facets)
		if err != nil {
			return nil, fmt.Errorf("the search %q: %w", rq.text, err)
		}
		rq.words = some(rq.words)
		if rq.facets {
			q.sql, q.sqlArgs = rq.counts()
		} else {
			q.sql, q.sqlArgs = rq.page()
		}
		list = append(list, q)
	}
	return list, nil
}

// nearestQuestion asks for the neighbours of a vector, on the shelves of a mask.
func (e *env) nearestQuestion(class string, vector []float32, mask uint8, limit int) (q question, err error) {
	args := map[string]any{"query_vector": vector, "embedding_configuration_h": e.Embedder.ID(), "limit": limit}
	var tags []string
	for bit, s := range shelves {
		if mask&(1<<bit) != 0 {
			tags = append(tags, s.tag)
		}
	}
	if len(tags) > 0 {
		args["filters"] = map[string]any{"tags": tags}
	}
	q = question{class: class, tool: "SearchAssets", path: "/api/v1/assets/search", args: args, text: "neighbours"}
	q.rest, err = json.Marshal(args)
	return q, err
}
