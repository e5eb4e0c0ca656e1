package service

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/collectors"

	"vitrine/api"
	"vitrine/auth"
	"vitrine/automation"
	"vitrine/automation/webhook"
	"vitrine/embed"
	"vitrine/events"
	"vitrine/indexer"
	"vitrine/inplace"
	"vitrine/internal/opensearch"
	"vitrine/jobs"
	"vitrine/library"
	"vitrine/mcp"
	"vitrine/media/blob"
	"vitrine/media/fetch"
	"vitrine/media/memory"
	"vitrine/media/preview"
	"vitrine/op"
	"vitrine/op/all"
	"vitrine/op/assets"
	"vitrine/op/indextoken"
	"vitrine/query/run"
	"vitrine/store"
	"vitrine/store/indexstate"
	"vitrine/transfer"
	"vitrine/web"
)

// assembly is what several parts of a service share while they are joined.
type assembly struct {
	watched *opensearch.Client // for requests that people wait for: it notices outages soon
	metrics *indexer.Metrics
	keys    *auth.Authenticator
	budget  *memory.Budget
	limits  *store.LimitCache
	links   assets.Links
	sender  *webhook.Sender
	sealer  *webhook.Sealer
}

// assemble joins the parts; nothing of it talks to a server.
func (s *Service) assemble() error {
	a := &assembly{
		metrics: indexer.NewMetrics(),
		keys:    auth.New(s.Store.Keys),
		budget:  memory.New(memory.Config{Shared: s.cfg.DecodeMemory, Parallel: s.cfg.Decoders}),
		limits:  store.NewLimitCache(s.Store.Limits),
		links:   assets.Links{Signer: blob.NewSigner(s.cfg.SigningKey), Base: s.cfg.PublicURL},
	}
	a.keys.TrustProxy = s.cfg.TrustHost
	if err := s.addIndex(a); err != nil {
		return err
	}
	s.addFiles(a)
	if err := s.addWebhooks(a); err != nil {
		return err
	}
	if err := s.addOperations(a); err != nil {
		return err
	}
	s.addTransports(a)
	return nil
}

// addIndex adds what keeps the index and the log of events current, and what searches.
func (s *Service) addIndex(a *assembly) (err error) {
	cfg := s.cfg
	if s.OpenSearch, err = cfg.Cluster().NewClient(); err != nil {
		return err
	}
	if a.watched, err = cfg.Cluster().NewClientWithHealthCheck(); err != nil {
		return err
	}
	backend := cfg.Embed
	backend.Log = cfg.Log
	if s.Embedder, err = embed.Open(backend); err != nil {
		return err
	}
	index := cfg.Kafka()
	index.Embedder, index.OwnAt = s.Embedder, cfg.OwnIndexAt
	if s.Indexer, err = indexer.New(s.Store, s.OpenSearch, index, a.metrics); err != nil {
		return err
	}
	if s.Relay, err = indexer.NewRelay(s.Store, index, a.metrics); err != nil {
		return err
	}
	s.figures = events.NewMetrics(s.registry)
	s.Events = events.NewRelay(s.Store, events.Config{Prefix: cfg.Prefix, Brokers: cfg.Brokers, Partitions: cfg.Partitions, Security: cfg.KafkaSecurity, Log: cfg.Log}, s.figures)
	s.Searcher = run.New(a.watched, cfg.Prefix, cfg.SearchLimit)
	s.registry.MustRegister(a.metrics)
	return nil
}

// addFiles adds what receives, serves, imports, previews and exports files, and the
// background jobs that do so.
func (s *Service) addFiles(a *assembly) {
	cfg := s.cfg
	s.Previews = preview.NewMaker(s.Blobs, a.budget)
	s.Previews.Vips = sync.OnceValue(s.findVips)
	s.Previews.FFmpeg = sync.OnceValue(s.findFFmpeg) // few commands need it, and finding it runs it
	// Jobs wait for files and the database in turn with decoding, which the budget bounds.
	s.Jobs = jobs.New(s.Store.Jobs, jobs.Config{Workers: 4 * cfg.Decoders, Log: cfg.Log}, jobs.NewMetrics(s.registry))
	jobs.Handle(s.Jobs, s.previewJob)
	jobs.Handle(s.Jobs, s.linkPrompts)
	s.addExports(a.budget)
	s.transfers = transfer.New(s.Store, a.keys, a.limits, s.Blobs, a.links.Signer, s.Previews)
	s.transfers.DirectFor, s.transfers.MaxFile, s.transfers.UploadsFor = cfg.DirectDownloads, cmp.Or(cfg.MaxFile, assets.DefaultMaxFile), min(cfg.SweepAge, maxUploadAge)
	s.Imports = inplace.New(inplace.Config{Store: s.Store, Roots: s.roots, Memory: a.budget, MaxFile: cmp.Or(cfg.MaxFile, assets.DefaultMaxFile), Rescan: cfg.Rescan, Log: cfg.Log})
	registerDecoding(s.registry, a.budget)
	s.backups = newBackupMetrics(s.registry)
	s.scrubs, s.scrubber = newScrubMetrics(s.registry), newScrubber()
}

// addWebhooks adds what delivers events to webhooks.
func (s *Service) addWebhooks(a *assembly) (err error) {
	a.sender = webhook.NewSender(s.cfg.Webhooks)
	if a.sealer, err = webhook.NewSealer(s.cfg.SigningKey); err != nil {
		return err
	}
	s.Deliverer = automation.NewDeliverer(s.Store.Webhooks, automation.DelivererConfig{Sender: a.sender, Sealer: a.sealer, Log: s.cfg.Log}, automation.NewMetrics(s.registry))
	return nil
}

// addOperations adds the catalog of operations, with the pipelines and rules that run some
// of them.
func (s *Service) addOperations(a *assembly) error {
	cfg := s.cfg
	fetcher, err := fetch.New(cfg.Fetch)
	if err != nil {
		return fmt.Errorf("MCP_URL_INGEST_ALLOWLIST: %w", err)
	}
	parts := all.Parts{Store: s.Store, Blobs: s.Blobs, Previews: s.Previews, Memory: a.budget, Fetcher: fetcher, Links: a.links, Limits: a.limits, TrashFor: cfg.TrashFor, MaxFile: cfg.MaxFile, Roots: s.roots,
		Searcher: s.Searcher, Embedder: s.Embedder, Webhooks: cfg.Webhooks, Sender: a.sender, Sealer: a.sealer, CursorKey: cfg.SigningKey, WebP: func() bool { return s.exports.WebP() != nil }, IndexWait: cfg.IndexWait,
		AwaitWrite:     cfg.shown(indexer.NewWaiter(a.watched, s.Searcher.Index, a.metrics)),
		AwaitProspects: cfg.shown(indexer.NewWaiter(a.watched, s.Searcher.Prospects, a.metrics))}
	s.Pipelines = all.NewPipelines(parts)
	s.Pipelines.Log = cfg.Log
	s.Rules = s.newRules()
	parts.Pipelines, parts.Rules = s.Pipelines, s.Rules
	jobs.Handle(s.Jobs, s.runPipeline)
	jobs.HandleFor(s.Jobs, enrichLimit, s.enrich)
	s.Catalog = all.Catalog(parts)
	return nil
}

// addTransports adds the ways in which operations are called: REST, MCP and streams of events.
func (s *Service) addTransports(a *assembly) {
	cfg := s.cfg
	requests := api.NewMetrics(s.registry)
	s.Caller = &op.Caller{Limits: op.NewLimiter(cfg.rateBudgets()), Idempotency: s.Store.Idempotency, Tenants: a.limits, Observe: requests.Observe}
	s.Streams = events.NewStreams(s.Store, events.StreamConfig{Catalog: s.Catalog, Again: a.keys.Authenticate}, s.figures)
	s.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	s.endpoint = mcp.Handler(mcp.Config{Catalog: s.Catalog, Caller: s.Caller, Auth: a.keys, Version: cfg.Version,
		PublicURL: cfg.PublicURL, AllowedOrigins: cfg.Origins, TrustHost: cfg.TrustHost, Log: cfg.Log})
	s.handler = api.Handler(api.Config{Catalog: s.Catalog, Caller: s.Caller, Auth: a.keys, Extra: slices.Concat(s.fileRoutes(), []api.ExtraRoute{s.eventRoute()}, s.prospectRoutes(), s.pipelineRoutes()), Version: cfg.Version,
		PublicURL: cfg.PublicURL, MCP: s.endpoint, Fallback: web.Handler(http.HandlerFunc(notFoundPage)), AllowedOrigins: cfg.Origins, Ready: s.Ready, Degraded: s.degraded, Gatherer: s.registry, Metrics: requests, Log: cfg.Log})
}

// findFFmpeg returns the ffmpeg of the configuration, or nil where none works.
func (s *Service) findFFmpeg() *preview.FFmpeg {
	f, err := preview.FindFFmpeg(context.Background(), s.cfg.FFmpeg)
	if err != nil {
		s.log.Debug("videos have no previews: there is no ffmpeg that works", "error", err)
	}
	return f
}

// findVips returns the program of libvips of the configuration, or nil where none works.
func (s *Service) findVips() *preview.Vips {
	v, err := preview.FindVips(context.Background(), s.cfg.Vips)
	if err != nil {
		s.log.Debug("AVIF, HEIC and JPEG XL have no previews: there is no vipsthumbnail that works", "error", err)
	}
	return v
}

// shown waits for writes with the indexer's waiter, as long as searches may wait.
func (c Config) shown(w *indexer.Waiter) indextoken.Shown {
	return func(ctx context.Context, tenant library.TenantID, versions []indexstate.DocumentVersion) bool {
		writes := make([]indexer.Write, len(versions))
		for i, v := range versions {
			writes[i] = indexer.Write{Key: v.Key, Version: v.Version}
		}
		return w.Await(ctx, tenant, writes, c.IndexWait)
	}
}

// rateBudgets returns the request budgets; tests and benchmarks lift them.
func (c Config) rateBudgets() map[op.RateClass]op.Budget {
	switch {
	case c.SearchPerMin == 0:
		return op.Budgets
	case c.SearchPerMin < 0:
		return map[op.RateClass]op.Budget{}
	}
	return map[op.RateClass]op.Budget{op.RateSearch: {Calls: c.SearchPerMin, Window: time.Minute}}
}

// notFoundPage answers for what is neither a route of the API nor a page.
func notFoundPage(w http.ResponseWriter, r *http.Request) {
	op.WriteProblem(w, r, library.NewError(library.KindNotFound, library.CodeNotFound, "Page not found. GET /openapi.json lists the routes; the gallery is at /."))
}
