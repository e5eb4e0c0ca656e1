package e2e

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"vitrine/api/client"
	"vitrine/internal/echo"
	"vitrine/library"
	"vitrine/op"
	"vitrine/service/servicetest"
)

// secret is a word that only private assets hold.
const secret = "wvxsecret"

// team is a tenant with members of which one keeps assets private.
type team struct {
	world
	owner, member, outsider string // keys; the world's own has every permission
	private                 []servicetest.Stored
	changed                 client.UpdateAssetOutput // of private[0]
	parent, child           servicetest.Stored       // of private[0], seen by all
}

// newTeam plants private assets whose every text holds the secret, with a parent and a
// child that all members see.
func newTeam(t *testing.T) team {
	t.Helper()
	w := newWorld(t)
	member := []library.Permission{library.PermRead, library.PermSearch, library.PermWrite, library.PermExport}
	m := team{world: w, owner: w.NewKey(w.Tenant, member...), member: w.NewKey(w.Tenant, member...), outsider: w.NewKey(w.NewTenant("outside"), allPermissions...)}
	m.parent = m.store("", "", 300, "a quiet harbour", "")
	for i := range 3 {
		m.private = append(m.private, m.store("private", m.parent.Asset.AssetH, 310+i, secret+" prompt", secret+"-tag"))
	}
	m.child = m.store("", m.private[0].Asset.AssetH, 320, "a loud harbour", "")
	title, description, approved := secret+" title", secret+" description", "Approved"
	var err error
	m.changed, err = w.Client(m.owner).UpdateAsset(t.Context(), client.UpdateAssetInput{AssetH: m.private[0].Asset.AssetH, Title: &title, Description: &description,
		Status: &approved, AssetMetadata: map[string]any{secret: secret}})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append(slices.Clone(m.private), m.child) { // a token waits for its own write only
		w.Search(m.owner, secret, s.IndexToken)
	}
	for _, key := range []string{m.owner, w.Key} {
		if f := w.Search(key, secret, m.changed.IndexToken); f.Total != 3 {
			t.Fatalf("the secrets are planted badly: their owner or an admin finds %d", f.Total)
		}
	}
	return m
}

func (m team) store(visibility, parent string, n int, prompt, tag string) servicetest.Stored {
	m.T.Helper()
	name, model := fmt.Sprintf("file-%d.png", n), "canaryModel"
	in := client.StoreAssetInput{MIMEType: "image/png", Visibility: visibility, ParentAssetH: parent}
	if visibility == "private" {
		name, model, in.AssetMetadata = secret+"-"+name, secret+"-model", map[string]any{"kept": secret}
		in.PromptMetadata = map[string]any{"prompt": secret}
	}
	in.Filename, in.AssetDataBase64 = name, base64.StdEncoding.EncodeToString(pictureOf(n, prompt, model))
	if tag != "" {
		in.Tags = []string{tag}
	}
	out, err := m.Client(m.owner).StoreAsset(m.T.Context(), in)
	if err != nil {
		m.T.Fatal(err)
	}
	return out
}

// victim has the private things as calls can name them.
func (m team) victim() victim {
	m.T.Helper()
	page, err := m.Client(m.owner).SearchAssets(m.T.Context(), client.SearchAssetsInput{Cursor: "*", Limit: 1})
	if err != nil || page.NextCursor == "" {
		m.T.Fatalf("the owner's search has no cursor: %v", err)
	}
	h := m.private[0].Asset.AssetH
	collection, card := m.collect(m.owner, "Harbours", h)
	note, own := m.annotate(m.owner, h, secret+" on a private asset", "team"), m.annotate(m.owner, m.parent.Asset.AssetH, secret+" to nobody else", "private")
	m.Search(m.owner, "annotation:"+secret, note.IndexToken)
	if found := m.Search(m.owner, `annotation:"`+secret+` to nobody"`, own.IndexToken); found.Total != 1 {
		m.T.Fatalf("the owner finds %d assets by a private annotation", found.Total)
	}
	experiment, run, other := m.experiment(m.owner, "Harbours by night", h, m.private[1].Asset.AssetH)
	pipeline, ran, earlier := m.pipeline(m.NewKey(m.Tenant, library.Permissions...), "Harbours", map[string]any{"type": "collection", "config": map[string]any{"path": collection}})
	return victim{op.IDShare: {nowhere[op.IDShare]}, op.IDWebhook: {nowhere[op.IDWebhook]}, op.IDDelivery: {}, op.IDExport: {m.export(m.owner, m.parent.Asset.AssetH)}, op.IDRule: {m.makeRule("", "Harbours")}, op.IDPipeline: {pipeline}, op.IDPipelineRun: {ran}, op.IDEarlierRun: {earlier}, op.IDProspect: {m.lead(m.owner, "harbours@sea.example")}, op.IDPrompt: {m.template(m.owner, "Harbours", "a {{subject|harbour}} harbour at {{time|night}} {{light|}}")}, op.IDExperiment: {experiment}, op.IDRun: {run}, op.IDOtherRun: {other}, op.IDImport: {nowhere[op.IDImport]}, op.IDNode: {h, run}, op.IDAnnotation: {note.AnnotationID, own.AnnotationID}, op.IDCollection: {collection}, op.IDTextCard: {card}, op.IDTenant: {}, op.IDNone: {}, op.IDUpload: {}, op.IDSavedSearch: {m.saved}, op.IDCursor: {page.NextCursor},
		op.IDAsset: {h, m.child.Asset.AssetH, m.parent.Asset.AssetH}, op.IDOperation: {m.changed.OperationID, m.private[1].OperationID, note.OperationID, own.OperationID},
		op.IDIndexToken: {m.changed.IndexToken}, op.IDModel: {string(library.NewModelHash("checkpoint", secret+"-model")), string(worldModel)},
		op.IDQuery: {"", secret, secret[:8], "wvxsecrte harbour", "tag:" + secret + "*", "annotation:" + secret, "annotation:" + secret + "*", "annotation:\"to nobody\"", "has:annotation", "tag:wvx", "model:wvx", "filename:" + secret, "NOT zzz", "is:private",
			"visibility:private", "owner:*", "chain:" + h, "parent:" + h, "asset_h:" + h, h, "status:Approved OR " + secret, "(" + secret + ") OR (*png)"}}
}

// TestVisibility_NothingPrivateIsEverSeenByAnotherMember calls every operation and
// resource as another member of the tenant, and as another tenant, with the
// identifiers and words of private assets in every argument that takes them. No answer
// may hold the secret or a private asset's hash, and each must equal the answer for
// what exists nowhere.
func TestVisibility_NothingPrivateIsEverSeenByAnotherMember(t *testing.T) {
	t.Parallel()
	m := newTeam(t)
	m.runs()
	m.shares()
	v := m.victim()
	var words []string
	for _, s := range m.private {
		words = append(words, s.Asset.AssetH)
	}
	calls := 0
	for who, key := range map[string]string{"a member": m.member, "another tenant": m.outsider} {
		w := m.world
		env := *m.Env
		env.Key, w.Env = key, &env
		scan := func(what string, args, answer map[string]any) {
			calls++
			showsNothing(t, who+" by "+what, words, args, answer)
		}
		c := w.mcp(echo.Modern, key)
		for _, o := range w.Catalog.Operations {
			for _, args := range v.hostile(t, o, w.args(o)) {
				q, _ := args["query"].(string)
				if !o.ReadOnly && slices.ContainsFunc(append(words, secret), func(word string) bool { return strings.Contains(q, word) }) {
					continue // what one keeps oneself is no leak when it comes back
				}
				_, answer := w.rest(o, key, maps.Clone(args))
				scan(o.Name, args, answer)
				if !o.RESTOnly {
					_, result := w.tool(c, o, maps.Clone(args))
					scan("tool "+o.Name, args, result)
				}
			}
			calls += w.tellsNoneFrom(o, v.hidden(m))
		}
		for _, r := range w.Catalog.Resources {
			h := m.private[0].Asset.AssetH
			uri := strings.ReplaceAll(r.URI, "{asset_h}", h)
			body := c.Send(t, "resources/read", map[string]any{"uri": uri}).Body
			if calls++; bytes.Contains(bytes.ReplaceAll(body, []byte(h), nil), []byte(secret)) {
				t.Errorf("%s sees the secret by the resource %s: %s", who, uri, body)
			}
		}
	}
	t.Logf("%d answers looked at", calls)
	if calls < 150 {
		t.Errorf("only %d answers looked at", calls)
	}
	for _, s := range m.private {
		d, err := m.Client(m.owner).GetAssetDetails(t.Context(), client.GetAssetDetailsInput{AssetH: s.Asset.AssetH})
		if err != nil || len(d.Tags) != 1 || d.Visibility != "private" {
			t.Errorf("a private asset was changed by others: %+v %v", d.Tags, err)
		}
	}
}

// showsNothing fails where an answer holds the secret or one of the words that what was asked does
// not hold: an echo equals the answer for nothing, which is looked at apart.
func showsNothing(t *testing.T, what string, words []string, args, answer map[string]any) {
	t.Helper()
	asked := servicetest.JSON(args)
	for _, word := range append(words, secret) {
		if bytes.Contains(asked, []byte(word)) {
			continue
		}
		if raw := bytes.ToLower(servicetest.JSON(answer)); bytes.Contains(raw, []byte(word)) {
			t.Errorf("%s sees %s: %s: %.600s", what, word, asked, raw)
		}
	}
	if q, _ := args["query"].(string); strings.Contains(q, secret) && !onlyEchoesWord(secret, answer) {
		t.Errorf("%s sees the secret: %s: %.600s", what, asked, servicetest.JSON(answer))
	}
}

// hidden has those of the things that the member must not tell from none.
func (v victim) hidden(m team) victim {
	out := maps.Clone(v)
	out[op.IDSavedSearch] = []string{nowhere[op.IDSavedSearch]} // searches are everybody's
	out[op.IDTenant] = []string{nowhere[op.IDTenant]}
	out[op.IDCollection], out[op.IDTextCard] = []string{nowhere[op.IDCollection]}, []string{nowhere[op.IDTextCard]} // and so are collections
	out[op.IDPrompt] = []string{nowhere[op.IDPrompt]}                                                               // and prompts
	out[op.IDPipeline], out[op.IDPipelineRun], out[op.IDEarlierRun] = []string{nowhere[op.IDPipeline]}, []string{nowhere[op.IDPipelineRun]}, []string{nowhere[op.IDEarlierRun]}
	out[op.IDRule] = []string{nowhere[op.IDRule]}
	out[op.IDExperiment] = []string{nowhere[op.IDExperiment]}
	out[op.IDProspect] = []string{nowhere[op.IDProspect]} // who is written to is everybody's business
	return out
}

// onlyEchoesWord reports whether an answer to a question that holds a word holds it only
// where it tells how the question was read.
func onlyEchoesWord(word string, answer map[string]any) bool {
	rest := maps.Clone(answer)
	for _, name := range []string{"interpretation", "query", "tree", "repaired", "dsl", "warnings", "suggestions"} {
		delete(rest, name)
	}
	return !bytes.Contains(servicetest.JSON(rest), []byte(word))
}

// TestVisibility_CountsLeaveOutWhatIsPrivate compares every count with what the member
// finds.
func TestVisibility_CountsLeaveOutWhatIsPrivate(t *testing.T) {
	t.Parallel()
	m := newTeam(t)
	for who, want := range map[string]struct {
		key    string
		assets int
	}{"owner": {m.owner, 6}, "member": {m.member, 3}, "admin": {m.Key, 6}} {
		api := m.Client(want.key)
		found := m.Search(want.key, "", m.changed.IndexToken)
		facets, err := api.GetFacets(t.Context(), client.GetFacetsInput{Facets: []string{"visibility", "owner", "tag", "model"}})
		if err != nil || found.Total != want.assets || int(facets.Total) != want.assets {
			t.Errorf("%s finds %d and counts %d of %d assets: %v", who, found.Total, facets.Total, want.assets, err)
		}
		report, err := api.GetExtractionReport(t.Context(), client.GetExtractionReportInput{})
		if err != nil || int(report.Assets) != want.assets {
			t.Errorf("the extraction report of %s is of %d assets: %v", who, report.Assets, err)
		}
		models, err := api.SearchModels(t.Context(), client.SearchModelsInput{})
		if err != nil || len(models.Data) != want.assets/3 {
			t.Errorf("%s is shown %d models: %v", who, len(models.Data), err)
		}
		suggested, err := api.SuggestQuery(t.Context(), client.SuggestQueryInput{Query: "tag:wvx"})
		if hidden := who == "member"; err != nil || (len(suggested.Suggestions) == 0) != hidden {
			t.Errorf("%s is suggested %+v: %v", who, suggested.Suggestions, err)
		}
		spelled, err := api.SearchAssets(t.Context(), client.SearchAssetsInput{Query: "wvxsecrte"})
		if hidden := who == "member"; err != nil || (spelled.DidYouMean == nil) != hidden {
			t.Errorf("%s is asked whether %+v was meant: %v", who, spelled.DidYouMean, err)
		}
	}
	mine, err := m.Client(m.owner).SearchAssets(t.Context(), client.SearchAssetsInput{Query: "owner:me visibility:private"})
	if err != nil || mine.Total != 3 {
		t.Errorf("the owner finds %d private assets of its own: %v", mine.Total, err)
	}
}

// TestVisibility_LineageKeepsItsShapeWithPlaceholders asks for a graph through a private
// asset.
func TestVisibility_LineageKeepsItsShapeWithPlaceholders(t *testing.T) {
	t.Parallel()
	m := newTeam(t)
	for who, want := range map[string]struct {
		key      string
		redacted int
	}{"owner": {m.owner, 0}, "member": {m.member, 1}, "admin": {m.Key, 0}} {
		g, err := m.Client(want.key).GetAssetLineage(t.Context(), client.GetAssetLineageInput{AssetH: m.child.Asset.AssetH, Direction: "ancestors"})
		if err != nil {
			t.Fatal(err)
		}
		redacted := 0
		for _, n := range g.Nodes {
			if n.Redacted {
				redacted++
				if n.Asset != nil || n.Name != "" || n.Hash != "" || n.InLibrary || n.Depth != -1 {
					t.Errorf("the placeholder tells %+v", n)
				}
			}
		}
		if len(g.Nodes) != 3 || len(g.Edges) != 2 || redacted != want.redacted || g.Nodes[2].ID != m.parent.Asset.AssetH {
			t.Errorf("%s is shown %d nodes, %d of them redacted, and %d edges", who, len(g.Nodes), redacted, len(g.Edges))
		}
	}
	down, err := m.Client(m.member).GetAssetLineage(t.Context(), client.GetAssetLineageInput{AssetH: m.parent.Asset.AssetH, Direction: "descendants"})
	if err != nil || len(down.Nodes) != 5 || len(down.Edges) != 4 {
		t.Errorf("downwards there are %d nodes and %d edges: %v", len(down.Nodes), len(down.Edges), err)
	}
}

// TestVisibility_LinksEndWhenAnAssetBecomesPrivate follows links that were made before.
func TestVisibility_LinksEndWhenAnAssetBecomesPrivate(t *testing.T) {
	t.Parallel()
	m := newTeam(t)
	links := map[string][]string{}
	for who, key := range map[string]string{"owner": m.owner, "member": m.member, "admin": m.Key} {
		d, err := m.Client(key).GetAssetDetails(t.Context(), client.GetAssetDetailsInput{AssetH: m.child.Asset.AssetH, IncludeDownloadURL: true, ResponseFormat: "detailed"})
		if err != nil {
			t.Fatal(err)
		}
		links[who] = []string{strings.TrimPrefix(d.DownloadURL, m.URL), strings.TrimPrefix(d.ThumbnailURL, m.URL)}
	}
	private := "private"
	out, err := m.Client(m.owner).UpdateAsset(t.Context(), client.UpdateAssetInput{AssetH: m.child.Asset.AssetH, Visibility: &private})
	if err != nil {
		t.Fatal(err)
	}
	expect := func(state string, memberSees bool) {
		t.Helper()
		for who, list := range links {
			want := http.StatusOK
			if who == "member" && !memberSees {
				want = http.StatusNotFound
			}
			for _, link := range list {
				if status, _, _ := m.Raw("GET", link, "", nil, nil); status != want {
					t.Errorf("%s, %s gets %d by %.40s", state, who, status, link)
				}
			}
		}
	}
	expect("private", false)
	if _, err := m.Client(m.member).UndoOperation(t.Context(), client.UndoOperationInput{OperationID: out.OperationID}); err == nil {
		t.Error("a member took back that an asset is private")
	}
	if _, err := m.Client(m.owner).UndoOperation(t.Context(), client.UndoOperationInput{OperationID: "last"}); err != nil {
		t.Fatal(err)
	}
	expect("taken back", true)
}

// problemCode returns the code of a refused call, or nothing for a success.
func problemCode(err error) string {
	var e *client.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// TestVisibility_OnlyOwnersAndAdminsChangeIt covers who may change what.
func TestVisibility_OnlyOwnersAndAdminsChangeIt(t *testing.T) {
	t.Parallel()
	m := newTeam(t)
	private, team, me, nobody, stranger := "private", "team", "me", "", "key_of_nobody"
	change := func(key, hash string, visibility, owner *string) error {
		_, err := m.Client(key).UpdateAsset(t.Context(), client.UpdateAssetInput{AssetH: hash, Visibility: visibility, Owner: owner})
		return err
	}
	shown, hidden := m.child.Asset.AssetH, m.private[1].Asset.AssetH
	for name, c := range map[string]struct {
		err  error
		code string
	}{
		"a member hides another's asset":   {change(m.member, shown, &private, nil), library.CodeNotOwner},
		"a member takes another's asset":   {change(m.member, shown, nil, &me), library.CodeNotOwner},
		"a member shows what it sees not":  {change(m.member, hidden, &team, nil), library.CodeNotFound},
		"a private asset of nobody":        {change(m.owner, hidden, nil, &nobody), library.CodeValidationFailed},
		"an owner that is no key":          {change(m.owner, hidden, nil, &stranger), library.CodeValidationFailed},
		"an admin takes another's private": {change(m.Key, m.private[2].Asset.AssetH, nil, &me), ""},
		"an owner gives it away to nobody": {change(m.owner, shown, nil, &nobody), ""},
	} {
		if got := problemCode(c.err); got != c.code {
			t.Errorf("%s: %q, want %q (%v)", name, got, c.code, c.err)
		}
	}
	if err := change(m.member, shown, &private, nil); err != nil {
		t.Errorf("what is nobody's cannot be taken: %v", err)
	}
	if err := change(m.owner, shown, &team, nil); problemCode(err) != library.CodeNotFound {
		t.Errorf("who gave an asset away still changes it: %v", err)
	}
	again := client.StoreAssetInput{Filename: "again.png", MIMEType: "image/png", AssetDataBase64: base64.StdEncoding.EncodeToString(pictureOf(310, secret+" prompt", secret+"-model"))}
	if _, err := m.Client(m.member).StoreAsset(t.Context(), again); problemCode(err) != library.CodeConflict {
		t.Errorf("the same bytes as another's private asset: %v", err)
	}
}
