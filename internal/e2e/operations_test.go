package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/library"
	"vitrine/service/servicetest"
	"vitrine/store"
)

// TestListOperations_FiltersAndPagesWhatTwoCredentialsDid asks over REST for what was done
// by each filter, and pages through it.
func TestListOperations_FiltersAndPagesWhatTwoCredentialsDid(t *testing.T) {
	t.Parallel()
	e := servicetest.Shared(t)
	ctx := t.Context()
	one, two := e.Client(""), e.Client(e.NewKey(e.Tenant, library.Permissions...))
	stored := e.StoreFile("", "fox.png", "image/png", picture(31, "a fox"))
	title := func(c *client.Client, value string) string {
		t.Helper()
		out, err := c.UpdateAsset(ctx, client.UpdateAssetInput{AssetH: stored.Asset.AssetH, Title: &value})
		if err != nil {
			t.Fatal(err)
		}
		return out.OperationID
	}
	first := title(one, "one")
	middle := time.Now()
	saved, err := two.CreateSavedSearch(ctx, client.CreateSavedSearchInput{Name: "foxes", Query: "fox"})
	if err != nil {
		t.Fatal(err)
	}
	second := title(two, "two")
	undo, err := two.UndoOperation(ctx, client.UndoOperationInput{OperationID: second})
	if err != nil {
		t.Fatal(err)
	}
	yes, no := true, false
	all := []string{undo.OperationID, second, saved.OperationID, first, stored.OperationID}
	for name, c := range map[string]struct {
		in   client.ListOperationsInput
		want []string
	}{
		"nothing":               {client.ListOperationsInput{}, all},
		"this credential":       {client.ListOperationsInput{Actor: "me"}, []string{first, stored.OperationID}},
		"a tool":                {client.ListOperationsInput{Tool: "UpdateAsset"}, []string{second, first}},
		"a noun":                {client.ListOperationsInput{Noun: "saved_search"}, []string{saved.OperationID}},
		"another noun":          {client.ListOperationsInput{Noun: "asset"}, []string{undo.OperationID, second, first, stored.OperationID}},
		"a thing":               {client.ListOperationsInput{Key: stored.Asset.AssetH}, []string{undo.OperationID, second, first, stored.OperationID}},
		"a time on":             {client.ListOperationsInput{After: &middle}, []string{undo.OperationID, second, saved.OperationID}},
		"a time before":         {client.ListOperationsInput{Before: &middle}, []string{first, stored.OperationID}},
		"undone ones":           {client.ListOperationsInput{Undone: &yes}, []string{second}},
		"those that stand":      {client.ListOperationsInput{Undone: &no, Noun: "asset"}, []string{undo.OperationID, first, stored.OperationID}},
		"several":               {client.ListOperationsInput{Tool: "UpdateAsset", Actor: "me", After: &middle}, nil},
		"a tool that is not so": {client.ListOperationsInput{Tool: "NoSuchTool"}, nil},
	} {
		for _, limit := range []int{0, 1, 2} {
			in := c.in
			in.Limit = limit
			if got := listOperations(t, one, in); !slices.Equal(got, c.want) {
				t.Errorf("%s, %d per page: %v, want %v", name, limit, got, c.want)
			}
		}
	}
}

// listOperations returns the operations of all pages.
func listOperations(t *testing.T, c *client.Client, in client.ListOperationsInput) (ids []string) {
	t.Helper()
	for {
		page, err := c.ListOperations(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page.Data {
			ids = append(ids, o.OperationID)
		}
		if page.NextCursor == "" {
			return ids
		}
		in.Cursor = page.NextCursor
	}
}

func TestListOperations_AnUnknownKindOfThingIsAnsweredWithThoseThereAre(t *testing.T) {
	t.Parallel()
	e := servicetest.Shared(t)
	_, err := e.Client("").ListOperations(t.Context(), client.ListOperationsInput{Noun: "picture"})
	var problem *client.Error
	if !errors.As(err, &problem) {
		t.Fatal(err)
	}
	said := fmt.Sprintf("%+v", problem)
	for _, noun := range store.Nouns() {
		if !strings.Contains(said, noun) {
			t.Errorf("the error does not name %s: %s", noun, said)
		}
	}
}
