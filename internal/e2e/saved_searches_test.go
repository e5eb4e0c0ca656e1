package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/service/servicetest"
)

type savedSearch struct {
	ID             string         `json:"saved_search_id"`
	Name           string         `json:"name"`
	Description    string         `json:"description"`
	Query          string         `json:"query"`
	SearchMode     string         `json:"search_mode"`
	Filters        map[string]any `json:"filters"`
	OrderBy        string         `json:"order_by"`
	Strict         bool           `json:"strict"`
	Interpretation struct {
		Query    string
		Warnings []struct{ Code string }
	} `json:"interpretation"`
}

func TestSavedSearch_IsKeptChangedRunAndDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const path = "/api/v1/saved-searches"
	var made savedSearch
	w.Call("POST", path, map[string]any{"name": " Fog ", "query": "(tag:fog", "filters": map[string]any{"status": "draft"}, "order_by": "created"}, &made)
	if made.ID == "" || made.Name != "Fog" || made.SearchMode != "smart" || made.OrderBy != "created" || made.Filters["status"] != "Draft" {
		t.Errorf("kept as %+v", made)
	}
	if made.Strict || len(made.Interpretation.Warnings) == 0 || made.Interpretation.Query == "" {
		t.Errorf("a query with a slip: %+v", made)
	}
	var got savedSearch
	if w.Call("GET", path+"/"+made.ID, nil, &got); !cmp.Equal(got, made) {
		t.Errorf("read back: %s", cmp.Diff(made, got))
	}
	var found servicetest.Found
	if w.Call("POST", path+"/"+made.ID+"/run", map[string]any{"limit": 5}, &found); found.Total != 1 || !found.Has(string(w.asset.Asset.AssetH)) {
		t.Errorf("running it finds %+v", found)
	}
	var changed savedSearch
	w.Call("PATCH", path+"/"+made.ID, map[string]any{"query": "tag:nothing", "filters": map[string]any{}, "search_mode": "boolean"}, &changed)
	if !changed.Strict || changed.Name != "Fog" || changed.Filters != nil || changed.Query != "tag:nothing" {
		t.Errorf("changed to %+v", changed)
	}
	if w.Call("POST", path+"/"+made.ID+"/run", nil, &found); found.Total != 0 {
		t.Errorf("the changed search finds %+v", found)
	}
	var list struct {
		Data  []savedSearch
		Total int
	}
	if w.Call("GET", path+"?limit=1&offset=1", nil, &list); list.Total != 2 || len(list.Data) != 1 || list.Data[0].Name != "Lighthouses" {
		t.Errorf("listed: %+v", list)
	}
	w.Call("DELETE", path+"/"+made.ID, nil, nil)
	if status, _, _ := w.Raw("GET", path+"/"+made.ID, w.Key, nil, nil); status != http.StatusNotFound {
		t.Errorf("deleted, yet it answers %d", status)
	}
	if got := w.audited(made.ID); got != "saved_search.created saved_search.updated saved_search.deleted" {
		t.Errorf("the audit trail has %q", got)
	}
}

// audited lists what the audit trail has of a subject.
func (w world) audited(subject string) string {
	w.T.Helper()
	c, err := pgx.Connect(w.T.Context(), w.Cfg.PostgresURL)
	if err != nil {
		w.T.Fatal(err)
	}
	defer c.Close(w.T.Context())
	rows, err := c.Query(w.T.Context(), `SELECT action FROM audit WHERE subject = $1 ORDER BY audit_id`, subject)
	if err != nil {
		w.T.Fatal(err)
	}
	actions, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		w.T.Fatal(err)
	}
	return strings.Join(actions, " ")
}

func TestSavedSearch_OneThatCannotBeRunIsNotKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const path = "/api/v1/saved-searches"
	for name, c := range map[string]struct {
		method, path string
		in           map[string]any
		status       int
		code         string
	}{
		"a slip, read strictly": {"POST", path, map[string]any{"name": "x", "query": "(a OR", "search_mode": "boolean"}, 400, library.CodeQuerySyntax},
		"too long":              {"POST", path, map[string]any{"name": "x", "query": strings.Repeat("x", 5000)}, 400, library.CodeQueryTooComplex},
		"a bad filter":          {"POST", path, map[string]any{"name": "x", "filters": map[string]any{"status": "Nope"}}, 400, library.CodeValidationFailed},
		"a bad date":            {"POST", path, map[string]any{"name": "x", "filters": map[string]any{"created_after": "soon"}}, 400, library.CodeValidationFailed},
		"a name of blanks":      {"POST", path, map[string]any{"name": "  "}, 400, library.CodeValidationFailed},
		"no name":               {"POST", path, map[string]any{"query": "x"}, 400, library.CodeValidationFailed},
		"a name that is taken":  {"POST", path, map[string]any{"name": "LIGHTHOUSES"}, 409, library.CodeNameTaken},
		"an unknown mode":       {"POST", path, map[string]any{"name": "x", "search_mode": "psychic"}, 400, library.CodeValidationFailed},
		"no change":             {"PATCH", path + "/" + w.saved, map[string]any{}, 400, library.CodeValidationFailed},
		"a change to a slip":    {"PATCH", path + "/" + w.saved, map[string]any{"query": "(a OR", "search_mode": "boolean"}, 400, library.CodeQuerySyntax},
		"one that is not there": {"POST", path + "/nope/run", map[string]any{}, 404, library.CodeNotFound},
	} {
		status, answer, _ := w.Raw(c.method, c.path, w.Key, servicetest.JSON(c.in), nil)
		var p struct{ Code, Detail string }
		if err := decode(answer, &p); err != nil || status != c.status || p.Code != c.code || p.Detail == "" {
			t.Errorf("%s: %d %.300s", name, status, answer)
		}
	}
	var list struct {
		Data  []savedSearch
		Total int
	}
	if w.Call("GET", "/api/v1/saved-searches", nil, &list); list.Total != 1 || list.Data[0].Query != "lighthouse" {
		t.Errorf("kept: %+v", list)
	}
}

func TestSavedSearch_NumberPerTenantIsLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 499 { // the world has one
		w.save("", fmt.Sprint("search ", i), "x")
	}
	status, answer, _ := w.Raw("POST", "/api/v1/saved-searches", w.Key, []byte(`{"name": "one too many"}`), nil)
	if status != http.StatusConflict {
		t.Errorf("%d %s", status, answer)
	}
	w.save(w.NewKey(w.NewTenant("other"), allPermissions...), "search 1", "the same name in another tenant")
}
