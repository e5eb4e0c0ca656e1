package e2e

import (
	"testing"

	"vitrine/api/client"
	"vitrine/internal/echo"
	"vitrine/library"
	"vitrine/media/extract"
	"vitrine/op"
	"vitrine/reextract"
)

// nodeOf returns the workflow_node_id of a class of node of an asset.
func (w world) nodeOf(key, asset, class string) string {
	w.T.Helper()
	d, err := w.Client(key).GetAssetDetails(w.T.Context(), client.GetAssetDetailsInput{AssetH: asset, ResponseFormat: "detailed"})
	if err != nil {
		w.T.Fatal(err)
	}
	for _, n := range d.Workflow.Nodes {
		if n.Class == class {
			return n.WorkflowNodeID
		}
	}
	w.T.Fatalf("the asset has no %s among %+v", class, d.Workflow.Nodes)
	return ""
}

// TestAnnotations_StayWithTheirNodeThroughVersionsAndRereading writes, changes, resolves,
// deletes and restores a note on a sampler, and reads the file again with a later parser.
func TestAnnotations_StayWithTheirNodeThroughVersionsAndRereading(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api, ctx := w.Client(""), t.Context()
	asset := w.StoreFile("", "repainted.png", "image/png", repainted(411, 411, "nothing.png")).Asset.AssetH
	node := w.nodeOf("", asset, "KSampler")
	if node != library.WorkflowNodeID(library.AssetHash(asset), "3") {
		t.Errorf("the sampler is %s", node)
	}
	made := w.annotate("", node, "far too dark at cfg 7", "team")
	brighter, yes := "a little too bright now", true
	changed, err := api.UpdateAnnotation(ctx, client.UpdateAnnotationInput{AnnotationID: made.AnnotationID, Content: &brighter})
	if err != nil || changed.Version != 2 || changed.NodeID != "3" {
		t.Fatal(changed, err)
	}
	if found := w.Search("", `annotation:"too bright"`, changed.IndexToken); found.Total != 1 || !found.Has(asset) {
		t.Errorf("its words find %d", found.Total)
	}
	if found := w.Search("", `annotation:"too dark"`, changed.IndexToken); found.Total != 0 {
		t.Errorf("words that were replaced find %d", found.Total)
	}
	if _, err := api.UndoOperation(ctx, client.UndoOperationInput{OperationID: changed.OperationID}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.UpdateAnnotation(ctx, client.UpdateAnnotationInput{AnnotationID: made.AnnotationID, Resolved: &yes}); err != nil {
		t.Fatal(err)
	}
	if _, err := reextract.Run(ctx, w.Store.Extraction, reextract.Options{All: true, Version: extract.ParserVersion + 1}); err != nil {
		t.Fatal(err)
	}
	if again := w.nodeOf("", asset, "KSampler"); again != node {
		t.Errorf("read again, the sampler is %s", again)
	}
	if open, err := api.GetAnnotations(ctx, client.GetAnnotationsInput{WorkflowNodeID: node}); err != nil || open.Total != 0 {
		t.Errorf("%d are open: %v", open.Total, err)
	}
	all, err := api.GetAnnotations(ctx, client.GetAnnotationsInput{WorkflowNodeID: node, IncludeResolved: true, IncludeHistory: true})
	if err != nil || all.Total != 1 || len(all.Data[0].History) != 4 {
		t.Fatalf("%+v %v", all, err)
	}
	for i, want := range []string{"far too dark at cfg 7", "far too dark at cfg 7", brighter, "far too dark at cfg 7"} {
		if v := all.Data[0].History[i]; v.Content != want || int(v.Version) != 4-i || v.Resolved != (i == 0) {
			t.Errorf("version %d is %+v", 4-i, v)
		}
	}
	w.deletesAndRestores(made.AnnotationID, asset)
}

// deletesAndRestores deletes a note with the word dark and takes that back.
func (w world) deletesAndRestores(annotation, asset string) {
	t, api, ctx := w.T, w.Client(""), w.T.Context()
	t.Helper()
	deleted, err := api.DeleteAnnotation(ctx, client.DeleteAnnotationInput{AnnotationID: annotation})
	if err != nil {
		t.Fatal(err)
	}
	if found := w.Search("", "annotation:dark", deleted.IndexToken); found.Total != 0 {
		t.Errorf("a deleted annotation finds %d", found.Total)
	}
	if _, err := api.GetAnnotation(ctx, client.GetAnnotationInput{AnnotationID: annotation}); problemCode(err) != "NOT_FOUND" {
		t.Errorf("a deleted annotation: %v", err)
	}
	undone, err := api.UndoOperation(ctx, client.UndoOperationInput{OperationID: deleted.OperationID})
	if err != nil {
		t.Fatal(err)
	}
	if found := w.Search("", "annotation:dark", undone.IndexToken); !found.Has(asset) {
		t.Error("a restored annotation is not found")
	}
}

// TestAnnotations_PrivateOnesAreTheirAuthorsAlone looks for one author's private note as
// its author, as another member, as an admin and as another tenant: in lists, details,
// searches, operations and events.
func TestAnnotations_PrivateOnesAreTheirAuthorsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	member := []library.Permission{library.PermRead, library.PermSearch, library.PermWrite}
	author, other := w.NewKey(w.Tenant, member...), w.NewKey(w.Tenant, member...)
	asset := w.asset.Asset.AssetH
	mine := w.annotate(author, asset, "murky xylophone shadows", "private")
	theirs := w.annotate(other, asset, "crooked horizon", "private")
	for who, c := range map[string]struct {
		key   string
		finds map[string]int
		lists int
	}{
		"author": {author, map[string]int{"annotation:xylophone": 1, `annotation:"xylophone shadows"`: 1, `annotation:"shadows crooked"`: 0, "annotation:crooked": 0, "annotation:*": 1, "annotation:fog": 1}, 2},
		"other":  {other, map[string]int{"annotation:xylophone": 0, "annotation:xylo*": 0, `annotation:"crooked horizon"`: 1, "annotation:murky": 0}, 2},
		"admin":  {w.Key, map[string]int{"annotation:xylophone": 0, "annotation:crooked": 0, "annotation:fog": 1}, 1},
	} {
		api := w.Client(c.key)
		for query, want := range c.finds {
			w.Search(c.key, query, mine.IndexToken)
			if found := w.Search(c.key, query, theirs.IndexToken); found.Total != want {
				t.Errorf("%s finds %d by %s, want %d", who, found.Total, query, want)
			}
		}
		list, err := api.GetAnnotations(ctx, client.GetAnnotationsInput{WorkflowNodeID: asset})
		if err != nil || int(list.Total) != c.lists || len(list.Data) != c.lists {
			t.Errorf("%s lists %d, want %d: %v", who, list.Total, c.lists, err)
		}
		d, err := api.GetAssetDetails(ctx, client.GetAssetDetailsInput{AssetH: asset, ResponseFormat: "detailed"})
		if err != nil || len(d.Annotations) != c.lists {
			t.Errorf("%s sees %d in the details, want %d: %v", who, len(d.Annotations), c.lists, err)
		}
	}
	api := w.Client(other)
	w.refusesOthers(api, mine)
	team := library.VisibilityTeam
	shared, err := w.Client(author).UpdateAnnotation(ctx, client.UpdateAnnotationInput{AnnotationID: mine.AnnotationID, Visibility: (*string)(&team)})
	if err != nil {
		t.Fatal(err)
	}
	if found := w.Search(other, "annotation:xylophone", shared.IndexToken); found.Total != 1 {
		t.Errorf("shared, it finds %d", found.Total)
	}
	if one, err := api.GetAnnotation(ctx, client.GetAnnotationInput{AnnotationID: mine.AnnotationID}); err != nil || len(one.History) != 1 || one.History[0].Version != 2 {
		t.Errorf("versions from when it was private are seen: %+v %v", one.History, err)
	}
}

// refusesOthers reads and changes another's private note, and another's note for the team, which can be resolved only.
func (w world) refusesOthers(api *client.Client, mine client.CreateAnnotationOutput) {
	t, ctx := w.T, w.T.Context()
	t.Helper()
	words, yes := "mine now", true
	if _, err := api.GetAnnotation(ctx, client.GetAnnotationInput{AnnotationID: mine.AnnotationID}); problemCode(err) != "NOT_FOUND" {
		t.Errorf("reading another's private annotation: %v", err)
	}
	if _, err := api.UpdateAnnotation(ctx, client.UpdateAnnotationInput{AnnotationID: mine.AnnotationID, Resolved: &yes}); problemCode(err) != "NOT_FOUND" {
		t.Errorf("resolving another's private annotation: %v", err)
	}
	if _, err := api.UpdateAnnotation(ctx, client.UpdateAnnotationInput{AnnotationID: w.annotation, Content: &words}); problemCode(err) != library.CodeNotOwner {
		t.Errorf("rewriting another's annotation: %v", err)
	}
	if _, err := api.UpdateAnnotation(ctx, client.UpdateAnnotationInput{AnnotationID: w.annotation, Resolved: &yes}); err != nil {
		t.Errorf("resolving another's annotation: %v", err)
	}
	if _, err := api.UndoOperation(ctx, client.UndoOperationInput{OperationID: mine.OperationID}); problemCode(err) != "NOT_FOUND" {
		t.Errorf("undoing another's private annotation: %v", err)
	}
}

// TestAnnotations_AnswerMistakesWithTheField sends content and targets that are wrong.
func TestAnnotations_AnswerMistakesWithTheField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var create op.Operation
	for _, o := range w.Catalog.Operations {
		if o.Name == "CreateAnnotation" {
			create = o
		}
	}
	asset := w.asset.Asset.AssetH
	long := make([]byte, 10_001)
	for i := range long {
		long[i] = 'x'
	}
	for what, c := range map[string]struct {
		args        map[string]any
		code, field string
	}{
		"no content":        {map[string]any{"workflow_node_id": asset, "content": ""}, "VALIDATION_FAILED", "content"},
		"blank content":     {map[string]any{"workflow_node_id": asset, "content": "  "}, "VALIDATION_FAILED", "content"},
		"too long":          {map[string]any{"workflow_node_id": asset, "content": string(long)}, "VALIDATION_FAILED", "content"},
		"no JSON":           {map[string]any{"workflow_node_id": asset, "content": "{", "content_type": "json"}, "VALIDATION_FAILED", "content"},
		"no such format":    {map[string]any{"workflow_node_id": asset, "content": "a", "content_type": "html"}, "VALIDATION_FAILED", "content_type"},
		"no identifier":     {map[string]any{"workflow_node_id": "3", "content": "a"}, "VALIDATION_FAILED", "workflow_node_id"},
		"node of no asset":  {map[string]any{"workflow_node_id": library.WorkflowNodeID(library.AssetHash(asset), "3"), "content": "a"}, "NOT_FOUND", ""},
		"nothing like that": {map[string]any{"workflow_node_id": nowhere[op.IDNode], "content": "a"}, "NOT_FOUND", ""},
	} {
		_, answer := w.rest(create, w.Key, c.args)
		_, tool := w.tool(w.mcp(echo.Modern, w.Key), create, c.args)
		for transport, got := range map[string]map[string]any{"REST": answer, "MCP": tool} {
			fields, _ := got["errors"].([]any)
			field := ""
			if len(fields) > 0 {
				field, _ = fields[0].(map[string]any)["field"].(string)
			}
			if got["code"] != c.code || field != c.field {
				t.Errorf("%s over %s: %v %q, want %s %q", what, transport, got["code"], field, c.code, c.field)
			}
		}
	}
}
