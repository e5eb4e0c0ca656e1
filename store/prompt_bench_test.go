package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"vitrine/library"
	"vitrine/store"
	"vitrine/store/storetest"
)

// BenchmarkPrompts_Upload stores assets with prompts of 60 words while the library has no
// prompt, 200 and 10,000. The three alternate, so that a busy machine slows them alike.
func BenchmarkPrompts_Upload(b *testing.B) {
	s, _ := storetest.Open(b)
	counts := []int{0, 200, 10_000}
	actors := make([]library.Actor, len(counts))
	for k, n := range counts {
		home, err := s.Tenants.Create(b.Context(), system, fmt.Sprint("prompts", n))
		if err != nil {
			b.Fatal(err)
		}
		actors[k] = library.Actor{Kind: library.ActorKey, ID: "key", Tenant: home.ID, Permissions: library.Permissions}
		for i := range n {
			text := fmt.Sprintf("portrait number%d of {{subject}} in room%d with {{light}} light, film grain", i, i%7)
			if _, err := s.Prompts.Create(b.Context(), actors[k], store.NewPrompt{Text: text}); err != nil {
				b.Fatal(err)
			}
		}
	}
	spent := make([]time.Duration, len(counts))
	rounds := 0
	for b.Loop() {
		rounds++
		for k := range counts {
			text := fmt.Sprintf("portrait number%d of a%s in room%d with soft light, film grain", rounds%200, strings.Repeat(" very (old:1.2)", 24), rounds%7)
			begin := time.Now()
			if _, err := s.Assets.Add(b.Context(), actors[k], prompted(fmt.Sprint("bench", rounds), text)); err != nil {
				b.Fatal(err)
			}
			spent[k] += time.Since(begin)
		}
	}
	for k, n := range counts {
		b.ReportMetric(float64(spent[k].Microseconds())/float64(rounds), fmt.Sprintf("µs/upload-%d-prompts", n))
	}
}

// BenchmarkPrompts_LinkLater compares one new version with 100,000 prompts that are there.
func BenchmarkPrompts_LinkLater(b *testing.B) {
	const n = 100_000
	s, db, actor := benchTenant(b, n)
	if _, err := db.Exec(b.Context(), `INSERT INTO lineage (tenant_id, asset_h, source, parser_version, doc)
		SELECT tenant_id, asset_h, 'extracted', 1, json_build_object('positive', 'picture ' || filename || repeat(' of a (very:1.2) old house', 12)) FROM assets`); err != nil {
		b.Fatal(err)
	}
	if _, err := db.Exec(b.Context(), `VACUUM ANALYZE lineage`); err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if _, err := s.Prompts.Create(b.Context(), actor, store.NewPrompt{Text: fmt.Sprintf("picture %d%d.png {{rest}} old house", i%10, 4321)}); err != nil {
			b.Fatal(err)
		}
		if p, err := s.Prompts.LinkPending(b.Context(), actor.Tenant, time.Hour); err != nil || p.Versions != 1 || p.Links > 1 || p.More {
			b.Fatal(p, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/100,000-prompts")
}
