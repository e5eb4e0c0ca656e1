// Package all is the one list of operations that the product has, built from what
// they work with. What holds for every operation is tested here.
package all

import (
	"context"
	"sync"
	"time"

	rules "vitrine/automation"
	"vitrine/automation/webhook"
	"vitrine/embed"
	"vitrine/inplace"
	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/media/fetch"
	"vitrine/media/memory"
	"vitrine/media/preview"
	"vitrine/op"
	"vitrine/op/annotations"
	"vitrine/op/assets"
	"vitrine/op/automation"
	"vitrine/op/collections"
	"vitrine/op/experiments"
	"vitrine/op/imports"
	"vitrine/op/indextoken"
	"vitrine/op/lineage"
	"vitrine/op/models"
	"vitrine/op/pipelines"
	"vitrine/op/prompts"
	"vitrine/op/prospects"
	"vitrine/op/publishing"
	"vitrine/op/search"
	"vitrine/pipeline"
	"vitrine/query"
	"vitrine/query/run"
	"vitrine/store"
)

// Parts are what the domains work with. The zero value describes the operations
// without being able to run them, which is what documents need.
type Parts struct {
	Store      *store.Store
	Blobs      blob.Store
	Previews   *preview.Maker
	Memory     *memory.Budget // of decoding
	Fetcher    *fetch.Fetcher // of what is stored by its URL
	Links      assets.Links
	Limits     *store.LimitCache
	TrashFor   time.Duration  // assets stay in the trash; 0 means for ever
	MaxFile    int64          // bytes of one stored file; 0 means the default
	Roots      *inplace.Roots // that may be imported in place
	Searcher   *run.Searcher
	Embedder   embed.Embedder // nil: searches are by words only
	CursorKey  []byte         // signs cursors; the same in every process
	Pipelines  *pipeline.Engine
	Rules      *rules.Rules
	WebP       func() bool    // whether pictures can be written as lossy WebP; nil: they cannot
	Webhooks   webhook.Config // which endpoints can be reached
	Sender     *webhook.Sender
	Sealer     *webhook.Sealer  // of their secrets
	IndexWait  time.Duration    // how long a pipeline waits for the index
	AwaitWrite indextoken.Shown // in the index of assets
	// AwaitProspects is AwaitWrite for the index of prospects.
	AwaitProspects indextoken.Shown
}

// NewPipelines makes the engine of pipelines out of the same parts.
func NewPipelines(p Parts) *pipeline.Engine {
	find := &search.Service{Store: p.Store, Searcher: p.Searcher}
	e := pipeline.New(p.Store)
	e.Compile, e.WebP = find.Compile, p.WebP
	if p.Searcher != nil {
		e.Scan = p.Searcher.Scan
		e.AwaitIndex = func(ctx context.Context, tenant library.TenantID) bool { return caughtUp(ctx, p, tenant) }
	}
	return e
}

// caughtUp waits until searches of a tenant see every change of its assets, at most for IndexWait, and
// reports whether they do: whether the index has as many assets and versions as the library.
func caughtUp(ctx context.Context, p Parts, tenant library.TenantID) bool {
	ctx, cancel := context.WithTimeout(ctx, p.IndexWait)
	defer cancel()
	for again := false; ; again = true {
		assets, versions, err := p.Store.Assets.Versions(ctx, tenant)
		if err != nil {
			return false
		}
		shown, shownVersions, err := p.Searcher.Versions(ctx, tenant, again)
		if err != nil || assets == shown && versions == shownVersions {
			return err == nil
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// domain is what a domain adds to the catalog: resources and events too, if it has any.
type domain interface{ Operations() []op.Operation }

// domains makes every domain, in the order documents list them: one line for each.
func domains(p Parts) []domain {
	find := &search.Service{Store: p.Store, Previews: p.Previews, Searcher: p.Searcher, Links: p.Links, Await: p.AwaitWrite, Embedder: p.Embedder, Key: p.CursorKey}
	return []domain{
		find,
		&assets.Service{Store: p.Store, Blobs: p.Blobs, Previews: p.Previews, Memory: p.Memory, Fetcher: p.Fetcher, Links: p.Links, Limits: p.Limits, TrashFor: p.TrashFor, MaxFile: p.MaxFile},
		&imports.Service{Store: p.Store, Roots: p.Roots},
		&lineage.Service{Store: p.Store, Links: p.Links},
		&collections.Service{Store: p.Store, Links: p.Links, FindSaved: find.FindSaved},
		&annotations.Service{Store: p.Store},
		&models.Service{Models: store.NewModels(p.Store), Links: p.Links},
		&prompts.Service{Store: p.Store, Links: p.Links, Similar: find.SimilarPrompts},
		&experiments.Service{Experiments: store.NewExperiments(p.Store), Links: p.Links},
		&pipelines.Service{Store: p.Store, Engine: p.Pipelines},
		&automation.Service{Store: p.Store, Webhooks: p.Webhooks, Sender: p.Sender, Sealer: p.Sealer, Rules: p.Rules, CheckMatch: func(ctx context.Context, actor library.Actor, text string) error {
			_, err := find.Compile(ctx, actor, text, query.Request{Limit: 1})
			return err
		}},
		&prospects.Service{Store: p.Store, Searcher: p.Searcher, Await: p.AwaitProspects},
		&publishing.Service{Store: p.Store, Blobs: p.Blobs, Links: p.Links, FindSaved: find.FindSaved, FindPublic: find.FindPublic, WebP: p.WebP},
	}
}

// Catalog returns every operation and resource, in the order of the domains.
func Catalog(p Parts) op.Catalog {
	c := op.Catalog{Prompts: Prompts()}
	list := domains(p)
	for _, d := range list {
		c.Operations = append(c.Operations, d.Operations()...)
		if r, ok := d.(interface{ Resources() []op.Resource }); ok {
			c.Resources = append(c.Resources, r.Resources()...)
		}
		if e, ok := d.(interface{ Events() []op.EventType }); ok {
			c.Events = append(c.Events, e.Events()...)
		}
	}
	for _, d := range list {
		if x, ok := d.(interface{ SetEventTypes([]op.EventType) }); ok {
			x.SetEventTypes(c.Events)
		}
	}
	return c
}

// DocumentedCatalog returns the catalog for documents: nothing in it can be called. It is
// made once per process; a caller changes nothing in it.
func DocumentedCatalog() op.Catalog { return documented() }

var documented = sync.OnceValue(func() op.Catalog { return Catalog(Parts{}) })
