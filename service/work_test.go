package service_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"vitrine/internal/opensearch"
	"vitrine/mappings"
	"vitrine/service"
	"vitrine/service/servicetest"
)

func TestWork_ADocumentThatTheIndexLostComesBackWithoutBeingAskedFor(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{Adjust: func(c *service.Config) { c.ReconcileEvery = 500 * time.Millisecond }})
	stored := e.StoreFile("", "fox.png", "image/png", picture(3), "winter")
	if f := e.Search("", "tag:winter", stored.IndexToken); f.Total != 1 {
		t.Fatalf("%+v", f)
	}
	lose := "/" + mappings.Names(e.Cfg.Prefix).Alias() + "/_delete_by_query?refresh=true"
	if err := opensearch.Call(t.Context(), e.OpenSearch, http.MethodPost, lose, map[string]any{"query": map[string]any{"match_all": map[string]any{}}}, nil); err != nil {
		t.Fatal(err)
	}
	servicetest.Eventually(t, "the lost document is found again", func() error {
		if f := e.Search("", "tag:winter", ""); f.Total != 1 {
			return fmt.Errorf("%d are found", f.Total)
		}
		return nil
	})
}
