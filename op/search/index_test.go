package search_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"testing"
	"time"

	"vitrine/embed"
	"vitrine/internal/opensearch"
	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/media/blob"
	"vitrine/op"
	"vitrine/op/assets"
	"vitrine/op/search"
	"vitrine/query/run"
)

const (
	tenantA = library.TenantID("11111111-1111-1111-1111-111111111111")
	tenantB = library.TenantID("22222222-2222-2222-2222-222222222222")
)

// meanings is an embedder whose vectors a test makes up.
type meanings struct {
	vectors map[string][]float32
	chance  float64 // the cosine of unrelated texts; 0: it tells none
	down    bool
	asked   int
}

const made = "made_up"

func (m *meanings) Embed(_ context.Context, texts []string) ([][]float32, error) {
	m.asked++
	if m.down {
		return nil, errors.New("down")
	}
	out := make([][]float32, len(texts))
	if len(texts) > 1 { // the texts that tell how alike texts are by chance
		if m.chance > 0 {
			out[0], out[1] = []float32{1, 0, 0, 0}, []float32{float32(m.chance), float32(math.Sqrt(1 - m.chance*m.chance)), 0, 0}
		}
		return out, nil
	}
	for i, t := range texts {
		if out[i] = m.vectors[t]; out[i] == nil {
			out[i] = []float32{0, 0, 0, 1}
		}
	}
	return out, nil
}
func (m *meanings) Dimensions() int  { return 4 }
func (m *meanings) ID() string       { return made }
func (m *meanings) Info() embed.Info { return embed.Info{Driver: "test"} }
func (m *meanings) Close() error     { return nil }

// index is a real index of this test, with the operations upon it.
type index struct {
	*search.Service
	t    testing.TB
	url  string
	name string

	unembedded bool // load writes documents that wait for their vectors
}

// newIndex makes an index with a field for made-up vectors.
func newIndex(t testing.TB, e embed.Embedder) *index {
	t.Helper()
	url, prefix := testenv.OpenSearch(t)
	body, err := mappings.WithVectors(mappings.Vector{Config: made, Dims: 4})
	if err != nil {
		t.Fatal(err)
	}
	client, err := opensearch.NewClient(url)
	if err != nil {
		t.Fatal(err)
	}
	x := &index{t: t, url: url, name: mappings.Names(prefix).Index(1),
		Service: &search.Service{Searcher: run.New(client, prefix, run.MaxTimeLimit), Embedder: e,
			Links: assets.Links{Signer: blob.NewSigner(bytes.Repeat([]byte("l"), 32))}, Key: bytes.Repeat([]byte("k"), 32)}}
	x.send(http.MethodPut, "/"+x.name, body, nil)
	x.send(http.MethodPut, "/"+x.name+"/_alias/"+mappings.Names(prefix).Alias(), nil, nil)
	return x
}

func (x *index) send(method, path string, body []byte, into any) {
	x.t.Helper()
	req, err := http.NewRequest(method, x.url+path, bytes.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		x.t.Error(err)
		return
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		x.t.Errorf("%s %s: %s %v: %.1000s", method, path, res.Status, err, answer)
		return
	}
	if into != nil {
		if err := json.Unmarshal(answer, into); err != nil {
			x.t.Error(err)
		}
	}
}

// load writes documents and shows them to searches.
func (x *index) load(docs ...mappings.Document) {
	x.t.Helper()
	var b bytes.Buffer
	for _, d := range docs {
		if d.TagsNorm == nil {
			for _, tag := range d.Tags {
				d.TagsNorm = append(d.TagsNorm, mappings.NormTag(tag))
			}
		}
		raw, err := json.Marshal(d)
		if err != nil {
			x.t.Fatal(err)
		}
		if !x.unembedded { // else it waits for its vector
			raw = append(raw[:len(raw)-1], `,"`+mappings.EmbeddedField+`":"`+mappings.EmbeddedReady+`"}`...)
		}
		fmt.Fprintf(&b, `{"index":{"_id":%q,"routing":%q}}`+"\n%s\n", mappings.DocID(d.TenantID, d.AssetH), mappings.Routing(d.TenantID), raw)
	}
	var told struct {
		Errors bool              `json:"errors"`
		Items  []json.RawMessage `json:"items"`
	}
	x.send(http.MethodPost, "/"+x.name+"/_bulk?refresh=true", b.Bytes(), &told)
	if told.Errors {
		x.t.Errorf("the index refused documents: %.1000s", told.Items)
	}
}

// doc makes the n-th document.
func doc(n int, prompt string) mappings.Document {
	created := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n/3) * time.Minute)
	return mappings.Document{TenantID: tenantA, AssetH: hash(n), Prompt: prompt, Filename: fmt.Sprintf("file-%05d.png", n), MIMEType: "image/png", Status: library.StatusDraft,
		Created: &created, Tags: []string{fmt.Sprint("group", n%7)}}
}

func hash(n int) library.AssetHash { return library.AssetHash(fmt.Sprintf("%040x", n*7919+1)) }

var reader = library.Actor{Kind: library.ActorKey, ID: "someone", Tenant: tenantA, Tenants: []library.TenantID{tenantA}, Permissions: []library.Permission{library.PermRead, library.PermSearch, library.PermWrite}}

// found is an answer of SearchAssets.
type found struct {
	Data []struct {
		Hash       library.AssetHash        `json:"asset_h"`
		Score      *float64                 `json:"relevance_score"`
		Matched    string                   `json:"matched"`
		Highlights map[string]run.Highlight `json:"highlights"`
	} `json:"data"`
	Total   int `json:"total"`
	ByWords int `json:"total_by_words"`
	Relaxed *struct {
		LeftOut []string `json:"left_out"`
	} `json:"relaxed"`
	Offset     int      `json:"offset"`
	NextOffset *int     `json:"next_offset"`
	NextCursor string   `json:"next_cursor"`
	Degraded   []string `json:"degraded"`
	Share      *float64 `json:"semantic_share"`
	DidYouMean *struct {
		Query string `json:"query"`
		Total int    `json:"total"`
	} `json:"did_you_mean"`
}

func (f found) hashes() []library.AssetHash {
	out := []library.AssetHash{}
	for _, d := range f.Data {
		out = append(out, d.Hash)
	}
	return out
}

// try calls an operation and gives its answer as JSON, or its error.
func (x *index) try(name string, args map[string]any, into any) *library.Error {
	x.t.Helper()
	i := slices.IndexFunc(x.Operations(), func(o op.Operation) bool { return o.Name == name })
	raw, err := json.Marshal(args)
	if err != nil {
		x.t.Fatal(err)
	}
	sent, err := op.ParseArguments(raw)
	if err != nil {
		x.t.Fatal(err)
	}
	o := x.Operations()[i]
	out, err := o.Call(context.Background(), reader, sent)
	if err != nil {
		return library.AsError(err)
	}
	raw, err = op.EncodeOutput(out)
	if err != nil {
		x.t.Fatal(err)
	}
	for _, f := range o.CheckOutput(raw) {
		x.t.Errorf("%s breaks its schema: %s %s", name, f.Field, f.Message)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		x.t.Fatal(err)
	}
	return nil
}

func (x *index) search(args map[string]any) found {
	x.t.Helper()
	var out found
	if f := x.try("SearchAssets", args, &out); f != nil {
		x.t.Fatalf("searching %v: %v", args, f)
	}
	return out
}

func with(args map[string]any, more ...any) map[string]any {
	out := map[string]any{}
	for k, v := range args {
		out[k] = v
	}
	for i := 0; i < len(more); i += 2 {
		out[more[i].(string)] = more[i+1]
	}
	return out
}
