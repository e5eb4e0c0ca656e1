package run

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/library"
	"vitrine/mappings"
)

// TestResponse_EveryFieldOfAListIsRead holds the reader to listFields: a field that is asked
// for and not read would be shown empty.
func TestResponse_EveryFieldOfAListIsRead(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, 2, 3, 4, 5, 6, 789_000_000, time.UTC)
	d := mappings.Document{TenantID: "11111111-1111-1111-1111-111111111111", AssetH: "aa", Title: `a "title" of 猫` + "\n", Description: "d", Filename: "f.png", MIMEType: "image/png",
		Status: library.StatusApproved, Tags: []string{"one", "t\\wo"}, Width: 3, Height: 4, SizeBytes: 5 << 40, Created: &made, Tool: "comfyui", Visibility: "private", DocVersion: 7,
		Prompt: "p", ModelNames: []string{"m", "l"}, CheckpointNames: []string{"m"}, LoraNames: []string{"l"}}
	source, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(source, &all); err != nil {
		t.Fatal(err)
	}
	for _, name := range listFields {
		if all[name] == nil {
			t.Fatalf("the test's document lacks %s", name)
		}
	}
	var got searchResponse
	if err := got.ReadJSON([]byte(`{"hits":{"hits":[{"_id":"x","_source":` + string(source) + `}]}}`)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, got.page().Hits[0].Document); diff != "" {
		t.Error(diff)
	}
}

func TestResponse_AReplyIsReadWhole(t *testing.T) {
	t.Parallel()
	score := 1.5
	const reply = `{"took":12, "timed_out":true, "_shards":{"total":1,"failures":[{"a":"}"}]}, "hits":{"total":{"value":4321,"relation":"eq"},"max_score":null,
		"hits":[{"_score":1.5,"highlight":{"title":["<em>a</em>"]},"sort":[1.5, "x]\"", null],"matched_queries":["exact_title","b"]},
		{"_score":null,"fields":{"other":[1],"asset_h":["bb"]},"sort":[0.25,7]}]},
		"aggregations":{"tag":{"values":{"buckets":[]}},"empty":null}}`
	want := searchResponse{Took: 12, TimedOut: true, Total: 4321, Aggs: map[string]json.RawMessage{"tag": json.RawMessage(`{"values":{"buckets":[]}}`), "empty": json.RawMessage("null")},
		Hits: []responseHit{
			{Score: &score, Highlight: map[string][]string{"title": {"<em>a</em>"}}, Sort: json.RawMessage(`[1.5, "x]\"", null]`), Matched: []string{"exact_title", "b"}},
			{Hash: "bb", Sort: json.RawMessage(`[0.25,7]`)},
		}}
	var got searchResponse
	if err := got.ReadJSON([]byte(reply)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(searchResponse{}, responseHit{})); diff != "" {
		t.Error(diff)
	}
	if s := got.Hits[1].score(); s != 0.25 {
		t.Errorf("the score that a hit was sorted by is read as %g", s)
	}
	for cut := range len(reply) - 1 {
		if err := new(searchResponse).ReadJSON([]byte(reply[:cut])); err == nil {
			t.Fatalf("a reply that ends after %d bytes is taken for whole", cut)
		}
	}
}

func TestResponse_PartsOfAReplyKeepTheirOrderAndFaults(t *testing.T) {
	t.Parallel()
	var got msearchResponse
	err := got.ReadJSON([]byte(`{"took":1,"responses":[{"hits":{"total":{"value":3}},"status":200},{"error":{"type":"search_context_missing_exception","reason":"gone"},"status":404}]}`))
	if err != nil || len(got) != 2 {
		t.Fatalf("%d parts, %v", len(got), err)
	}
	if got[0].Total != 3 || got[0].err("point") != nil {
		t.Errorf("the first part is %+v", got[0])
	}
	if f := library.AsError(got[1].err("point")); f == nil || f.Code != CodeCursorExpired {
		t.Errorf("the second part's error is %v", got[1].err("point"))
	}
}
