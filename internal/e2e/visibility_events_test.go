package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/op"
)

// streamUntil reads the events of a key from the oldest on, until one names the thing
// last.
func (m team) streamUntil(key, last string) (list []op.EventMessage) {
	m.T.Helper()
	ctx, cancel := context.WithTimeout(m.T.Context(), time.Minute)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, m.URL+"/api/v1/events?after=0", nil)
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		m.T.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		data, is := strings.CutPrefix(lines.Text(), "data: ")
		if !is {
			continue
		}
		var e op.EventMessage
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			m.T.Fatalf("%s: %v", data, err)
		}
		if list = append(list, e); strings.HasSuffix(e.Key, last) {
			return list
		}
	}
	m.T.Fatalf("the stream answered %s and ended before the event of %s: %v", res.Status, last, lines.Err())
	return nil
}

// TestVisibility_EventsOfPrivateAssetsReachOwnersAndAdminsOnly makes each kind of change
// that names an asset, of a private and of a shown one, and reads the stream with every
// kind of key.
func TestVisibility_EventsOfPrivateAssetsReachOwnersAndAdminsOnly(t *testing.T) {
	t.Parallel()
	m := newTeam(t)
	owner := m.Client(m.owner)
	undo := func(id string) string {
		t.Helper()
		out, err := owner.UndoOperation(t.Context(), client.UndoOperationInput{OperationID: id})
		if err != nil {
			t.Fatal(err)
		}
		return out.OperationID
	}
	var names [2][]string // in events of the private asset, and of the shown one
	for i, h := range []string{m.private[0].Asset.AssetH, m.child.Asset.AssetH} {
		link, err := owner.LinkModelToAsset(t.Context(), client.LinkModelToAssetInput{AssetHash: h, ModelHash: string(worldModel), DetectionSource: "agent"})
		if err != nil {
			t.Fatal(err)
		}
		names[i] = []string{h, link.OperationID, undo(link.OperationID)}
	}
	last := m.store("", "", 390, "the last one", "").Asset.AssetH
	types := func(key, name string) []string {
		found := map[string]bool{}
		for _, e := range m.streamUntil(key, last) {
			if strings.Contains(e.Key, name) || strings.Contains(string(e.Data), name) {
				found[e.Type] = true
			}
		}
		return slices.Sorted(maps.Keys(found))
	}
	ofPrivate := []string{"asset.status_changed", "asset.updated", "model.detected"} // the first of the two assets with this model, and the one that was changed
	want := [][]string{{"asset.created", "asset.lineage_extracted", "asset.status_changed", "asset.updated", "model.detected", "model_link.created", "model_link.deleted"}, {"model_link.created", "operation.undone"}, {"model_link.deleted", "operation.undone"}}
	for who, key := range map[string]string{"the owner": m.owner, "an admin": m.Key, "a member": m.member} {
		for i, list := range names {
			for j, name := range list {
				expected := want[j]
				switch {
				case i == 0 && who == "a member":
					expected = nil
				case i == 1 && j == 0:
					expected = slices.DeleteFunc(slices.Clone(expected), func(x string) bool { return slices.Contains(ofPrivate, x) })
				}
				if got := types(key, name); !slices.Equal(got, expected) {
					t.Errorf("%s reads %v of the asset %d by name %d, want %v", who, got, i, j, expected)
				}
			}
		}
	}
}
